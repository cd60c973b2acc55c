"""Checks of the arguments of bounds."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import ParamSpec

Given = ParamSpec("Given")
Bound = Callable[Given, float]


def check_arguments(*positive: str, signed: Iterable[str] = ()) -> Callable[[Bound[Given]], Bound[Given]]:
    """Return a decorator that raises ValueError for negative numbers and nan; numbers in `signed` may be negative.

    Numbers in `positive` must be above zero.
    """

    def decorate(bound: Bound[Given]) -> Bound[Given]:
        parameters = signature(bound).parameters
        numbers = {name for name, one in parameters.items() if one.annotation in (float, int)}.difference(signed)

        @wraps(bound)
        def check(*args: Given.args, **kwargs: Given.kwargs) -> float:
            for name, value in (*zip(parameters, args, strict=False), *kwargs.items()):
                if name in positive and not value > 0:  # type: ignore[operator]
                    raise ValueError(f"{name} must be above 0; got {value!r}")
                if name in numbers and not value >= 0:  # type: ignore[operator]
                    raise ValueError(f"{name} must not be negative; got {value!r}")
            return bound(*args, **kwargs)

        return check

    return decorate


def condition(met: bool, needs: str, got: str) -> None:
    """Raise ValueError if a condition of the theorem is not met."""
    if not met:
        raise ValueError(f"the theorem needs {needs}; got {got}")
