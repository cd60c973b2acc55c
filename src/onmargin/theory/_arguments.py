"""Checks of the arguments of bounds."""

from math import isnan


def positive(**numbers: float) -> None:
    """Raise ValueError for numbers that are not above zero."""
    for name, value in numbers.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0; got {value!r}")


def not_negative(**numbers: float) -> None:
    """Raise ValueError for numbers that are negative or nan."""
    for name, value in numbers.items():
        if isnan(value) or value < 0:
            raise ValueError(f"{name} must not be negative; got {value!r}")


def condition(met: bool, needs: str, got: str) -> None:
    """Raise ValueError if a condition of the theorem is not met."""
    if not met:
        raise ValueError(f"the theorem needs {needs}; got {got}")
