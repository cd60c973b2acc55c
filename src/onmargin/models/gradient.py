"""Gradient descent and exponentiated gradient: regression with a constant rate ([SLIDES])."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.steps.step import Proportional
from onmargin._core.tasks.task import Regression
from onmargin.models.links import link
from onmargin.models.options import option
from onmargin.models.plan import Plan
from onmargin.models.rules import FLAG, NONE, Number


def rate() -> Any:
    return option(None, Number(0, above=True, below=True), NONE)


class Rate:
    """A learner with a constant rate."""

    if TYPE_CHECKING:
        _model: Any
        _begun: bool

    @property
    def rate_(self) -> float:
        """The learning rate in use."""
        if not self._begun:
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet, and so has no rate_")
        return float(self._model.learner.step.rate)


@dataclass(kw_only=True, eq=False, repr=False)
class GradientDescentOptions:
    r"""Options of gradient descent, shared by all interfaces.

    Parameters
    ----------
    rate : float or None, default=None
        Learning rate :math:`\eta`, above 0. If None, :math:`1 / (2 X^2)`, where X is the largest norm of the rows in
        the first call; the bound is proved for this rate. For records that are learned one at a time, X is the norm of
        the first one.
    """

    rate: float | None = rate()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        return _descent(self.rate, _largest_norm, link("euclidean"))


@dataclass(kw_only=True, eq=False, repr=False)
class ExponentiatedGradientOptions:
    r"""Options of exponentiated gradient, shared by all interfaces.

    Parameters
    ----------
    rate : float or None, default=None
        Learning rate :math:`\eta`, above 0. If None, :math:`2 / R^2`, where R is the largest spread (largest minus
        smallest value, zeros included) of the rows in the first call; the bound is proved for this rate. For records
        that are learned one at a time, R is the spread of the first one.
    balanced : bool, default=False
        Whether weights can have either sign: if True, the negative of each feature also has a weight.
    """

    rate: float | None = rate()
    balanced: bool = option(False, FLAG)

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        spread = _largest_of_both_signs if self.balanced else _largest_spread
        return _descent(self.rate, spread, link("entropic", balanced=self.balanced), fixed={"balanced": self.balanced})


def _descent(rate: float | None, proven: Callable[[Any], float], weights: dict[str, Any], **rest: Any) -> Plan:
    return Plan(
        task=lambda labels: Regression(0.0),
        step=(lambda X: Proportional(_quietly(proven, X))) if rate is None else Proportional(float(rate)),
        **weights | rest,
    )


# The rates of the bounds for these rows; 1 for rows from which nothing can be learned.


def _largest_norm(X: Any) -> float:
    squares = X.multiply(X).sum(axis=1) if hasattr(X, "multiply") else np.einsum("ij,ij->i", X, X)
    return _finite_rate(1, 2 * np.asarray(squares, dtype=np.float64).ravel())


def _largest_spread(X: Any) -> float:
    low, high = _extremes(X)
    return _rate_for(high - low)


def _largest_of_both_signs(X: Any) -> float:
    low, high = _extremes(X)
    return _rate_for(2 * np.maximum(high, -low))


def _extremes(X: Any) -> list[NDArray[np.float64]]:
    """Return the smallest and the largest number of each row, zeros included."""
    sides = X.min(axis=1), X.max(axis=1)
    return [np.asarray(side.todense() if hasattr(side, "todense") else side).ravel() for side in sides]


def _rate_for(spread: NDArray[np.float64]) -> float:
    return _finite_rate(2, spread.astype(np.float64) ** 2)


def _quietly(proven: Callable[[Any], float], X: Any) -> float:
    """Return the rate; sizes that overflow raise an error without a NumPy warning."""
    with np.errstate(over="ignore"):
        return proven(X)


def _finite_rate(numerator: int, sizes: NDArray[np.float64]) -> float:
    """Return the numerator divided by the largest size of the rows; raise an error if that is not finite."""
    row = int(sizes.argmax())
    if sizes[row] == 0:
        return 1.0
    rate = float(numerator / sizes[row])
    if not 0 < rate < inf:
        raise ValueError(
            f"row {row} of X is too large or too small for a proved rate, which would be {numerator} / "
            f"{float(sizes[row])!r}: scale X, for instance with sklearn.preprocessing.StandardScaler, or set rate"
        )
    return rate
