"""Setting the number of examples of a property test."""

from typing import Any

from hypothesis import settings


def examples(n: int, **options: Any) -> settings:
    """Let a property test draw `n` examples in a full run, and a tenth of them, but at most ten, in a quick run."""
    usual = settings.default.max_examples  # 100, or 10 in a quick run
    return settings(max_examples=n if usual == 100 else max(1, min(n * usual // 100, usual)), **options)
