"""What the arguments of a bound must be for it to say anything."""

from math import isnan


def positive(**numbers: float) -> None:
    """Refuse what is not above zero."""
    for name, value in numbers.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0; got {value!r}")


def not_negative(**numbers: float) -> None:
    """Refuse what is below zero."""
    for name, value in numbers.items():
        if isnan(value) or value < 0:
            raise ValueError(f"{name} must not be negative; got {value!r}")


def condition(met: bool, needs: str, got: str) -> None:
    """Refuse arguments for which the theorem is not proved."""
    if not met:
        raise ValueError(f"the theorem needs {needs}; got {got}")
