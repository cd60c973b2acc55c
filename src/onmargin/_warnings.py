"""Warnings that point to the line of the caller."""

import warnings
from inspect import currentframe


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line that called the library."""
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
