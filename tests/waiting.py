"""Wait for a condition: tests do not sleep for a fixed time, because machines differ and are sometimes busy."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LIMIT = 120.0  # seconds after which a test fails; much longer than any wait on a busy machine


def wait_until(condition: Callable[[], T], seconds: float = LIMIT) -> T:
    """Call `condition` repeatedly until its result is true, and return the result."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds:g} s, the condition is still {found!r}")
        time.sleep(0.01)
    return found
