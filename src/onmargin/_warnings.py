"""Warnings that name the line of the caller."""

import warnings
from inspect import currentframe


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn the line that called the library."""
    frame, level = currentframe(), 1
    while frame is not None and f"{frame.f_globals.get('__name__', '')}.".startswith(("onmargin.", "contextlib.")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_of_margin(margin: float, most: float) -> None:
    """Warn if no weights on the simplex give any of the rows that a learner begins with the margin asked for.

    Rows that are all zero say nothing about the others to come.
    """
    if margin > most > 0:
        warn_caller(
            f"margin {margin:g} is out of reach: weights on the simplex give these rows {most:g} at most, so that each "
            "has a loss whatever is learned. Scale the rows up, or ask for less with margin= if it is a parameter.",
            UserWarning,
        )
