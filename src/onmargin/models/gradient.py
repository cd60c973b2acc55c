"""Gradient descent and exponentiated gradient: regression ([SLIDES]), and classification with the logistic loss."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.diagonal import GradientAdaptive
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.steps.step import Proportional
from onmargin._core.tasks.task import Multiclass, Regression, Softmax
from onmargin.models import options as shared
from onmargin.models.linear import weights
from onmargin.models.links import link
from onmargin.models.options import option
from onmargin.models.plan import ClassRules, Plan
from onmargin.models.rules import FLAG, NONE, Number, Word


def rate() -> Any:
    return option(None, Number(0, above=True, below=True), NONE)


class Rate:
    """A learner with a constant rate."""

    if TYPE_CHECKING:
        _model: Any
        _has_begun: bool

    @property
    def rate_(self) -> float:
        """The learning rate in use."""
        if not self._has_begun:
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


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLogisticOptions:
    r"""Options of online logistic regression, shared by all interfaces.

    Parameters
    ----------
    rate : float or None, default=None
        Learning rate :math:`\eta`, above 0. If None, 0.3 with ``geometry="adaptive"``, and otherwise :math:`1 / X^2`,
        where X is the largest norm of the rows in the first call; for records that are learned one at a time, X is the
        norm of the first one.
    geometry : {"adaptive", "euclidean"}, default="adaptive"
        "adaptive" is AdaGrad: each weight has its own rate, which decreases with the gradients that it received, so
        that rare features move further. "euclidean" is plain gradient descent with a constant rate, which has a loss
        bound and follows drift.
    """

    rate: float | None = rate()
    geometry: str = option("adaptive", Word("adaptive", "euclidean"))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight("the rate")
    average: bool | int = shared.average()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        adaptive = self.geometry == "adaptive"
        rate = 0.3 if adaptive and self.rate is None else self.rate
        return Plan(
            task=lambda labels: Softmax(0.0) if len(labels) >= 2 else Multiclass(),
            step=_of_rate(rate, lambda X: 2 * _largest_norm(X)),
            weights=weights(self, GradientAdaptive if adaptive else Euclidean),
            classes=ClassRules(calibrated=True),
            fixed={"geometry": self.geometry},
        )


def _of_rate(rate: float | None, proven: Callable[[Any], float]) -> Proportional | Callable[[Any], Proportional]:
    """Return the step of a rate, or if it is None, what makes the step of the rate that is proved for some rows."""
    return (lambda X: Proportional(_quietly(proven, X))) if rate is None else Proportional(float(rate))


def _descent(rate: float | None, proven: Callable[[Any], float], weights: dict[str, Any], **rest: Any) -> Plan:
    return Plan(
        task=lambda labels: Regression(0.0),
        step=_of_rate(rate, proven),
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
