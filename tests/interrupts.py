"""Interrupts that come at any moment of a call."""

import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def signal_after(seconds: float, handler: Callable[..., Any] = signal.default_int_handler) -> Iterator[None]:
    """Call a handler once, after some time; by default it raises KeyboardInterrupt.

    An exception that a handler raises during a callback of the garbage collector is lost, and hypothesis installs one:
    nothing is collected meanwhile.
    """
    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
        signal.signal(signal.SIGALRM, before)
