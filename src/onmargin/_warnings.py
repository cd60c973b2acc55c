"""Warnings that point to the line of the caller."""

import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import currentframe

_taken: ContextVar[deque[str] | None] = ContextVar("_taken", default=None)


@contextmanager
def collect_warnings(taken: deque[str]) -> Iterator[None]:
    """Append warnings to a deque instead, in code without a caller in Python, such as the writer of a service."""
    before = _taken.set(taken)
    try:
        yield
    finally:
        _taken.reset(before)


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line that called the library, unless the warnings of this context are collected."""
    if (taken := _taken.get()) is not None:
        taken.append(message)
        return
    frame, level = currentframe(), 1
    while frame is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(("onmargin.", "contextlib.")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_of_margin(margin: float, most: float) -> None:
    """Warn if no weights on the simplex can give any of the first rows the requested margin.

    Rows that are all zero say nothing about later rows.
    """
    if margin > most > 0:
        warn_caller(
            f"margin {margin:g} is out of reach: weights on the simplex give these rows {most:g} at most, so every row "
            "has a loss whatever is learned. Scale the rows up, or set a smaller margin= if it is a parameter.",
            UserWarning,
        )
