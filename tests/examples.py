"""Setting the number of examples of a property test."""

from typing import Any

from hypothesis import settings


def examples(n: int, **options: Any) -> settings:
    """Let a property test draw `n` examples in a full run, and fewer in a quick run, by its profile."""
    return settings(max_examples=max(1, n * settings.default.max_examples // 100), **options)
