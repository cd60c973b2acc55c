"""Passive-aggressive classification and regression ([JMLR] sec. 3, 5, 7 and 8; [SIMPROJ] sec. 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onmargin._core.geometries.geometry import Geometry
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import CostSensitive, Regression, Task
from onmargin.learner import Learner
from onmargin.models import options as shared
from onmargin.models.costs import check_cost
from onmargin.models.linear import GEOMETRIES, METRICS, alternatives, on_simplex, swept, weights
from onmargin.models.options import nothing_or, option
from onmargin.models.plan import Labels, Plan, Shape
from onmargin.models.rules import CLASS_FACTORS, CLASS_MARGINS, NOTHING, Member, Number, Numbers, Word
from onmargin.models.several import Kind, averaging
from onmargin.models.updates import RIVALS, class_margins, class_task, projection

# What a kernel and its budget are made with: none of it can change once something was learned.
KERNEL_OPTIONS = ("kernel", "gamma", "degree", "coef0", "budget", "budget_policy")
KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
POLICIES = ("oldest", "smallest", "projection", "forgetron")


def aggressiveness() -> Any:
    return option(1.0, Number(0, above=True), Numbers(0, above=True), Word("auto"))


def geometry() -> Any:
    return option("euclidean", Word("euclidean", "entropic", *METRICS))


def kernel() -> Any:
    return nothing_or(None, Word(*KERNELS), Member("__call__", words="a function of two matrices"))


def gamma() -> Any:
    return option("scale", Word("scale", "auto"), Number(0, above=True, below=True))


def degree() -> Any:
    return option(3, Number(0, 1000, whole=True))


def coef0() -> Any:
    return option(0.0, Number(above=True, below=True))


def budget() -> Any:
    return nothing_or(None, Number(1, 2**31, whole=True))


def budget_policy() -> Any:
    return option("projection", Word(*POLICIES))


@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierOptions:
    """The options of the passive-aggressive classifier, in every face."""

    C: float | ArrayLike | str = aggressiveness()
    loss: str = option("hinge", Word("hinge", "squared_hinge"))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = option(None, NOTHING, Word("balanced"), CLASS_FACTORS)
    class_margin: Mapping[Any, float] | None = nothing_or(None, CLASS_MARGINS)
    average: bool | int | str = shared.average("mean", "best")
    update: str = option("max", Word("max", *RIVALS))
    cost: ArrayLike | str | None = option(None)
    cost_update: str = option("prediction", Word("prediction", "max_loss"))
    strategy: str = option("joint", Word("joint", "ovr"))
    geometry: str = geometry()
    kernel: str | Callable[[Any, Any], Any] | None = kernel()
    gamma: float | str = gamma()
    degree: int = degree()
    coef0: float = coef0()
    budget: int | None = budget()
    budget_policy: str = budget_policy()
    combine: str = shared.combine("leader")

    def plan(self) -> Plan:
        """Return how these options learn."""
        entropic = self.geometry == "entropic"
        # Far below 1 on the simplex, where scores are at most the largest number of a row.
        margin = 0.1 if entropic else 1.0
        largest = max([margin, *(self.class_margin or {}).values()]) if entropic else None
        return Plan(
            task=lambda labels: _class_task(self, labels, margin),
            step=projection(_first(self.C), self.loss) if self.update == "max" else RIVALS[self.update](float(self.C)),  # type: ignore[arg-type]
            half=0.5 if self.strategy == "joint" else 1.0,
            simplex_margin=largest,
            **_weights(self, by_loss=False),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class RegressorOptions:
    """The options of the passive-aggressive regressor, in every face."""

    C: float | ArrayLike | str = aggressiveness()
    loss: str = option("epsilon_insensitive", Word("epsilon_insensitive", "squared_epsilon_insensitive"))
    epsilon: float = option(0.1, Number(0))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    average: bool | int | str = shared.average("mean", "best")
    geometry: str = geometry()
    kernel: str | Callable[[Any, Any], Any] | None = kernel()
    gamma: float | str = gamma()
    degree: int = degree()
    coef0: float = coef0()
    budget: int | None = budget()
    budget_policy: str = budget_policy()
    combine: str = shared.combine("leader")

    def plan(self) -> Plan:
        """Return how these options learn."""
        return Plan(
            task=lambda labels: Regression(self.epsilon),
            step=projection(_first(self.C), self.loss),
            **_weights(self, by_loss=True),
        )


def _class_task(options: ClassifierOptions, labels: Labels, margin: float) -> Task:
    if options.cost is not None and len(labels) >= 2:
        return CostSensitive(check_cost(options.cost, labels), options.cost_update == "max_loss")
    margin = 1 / options.C if options.update == "mira" else margin  # type: ignore[operator,assignment]
    margins = class_margins(options.class_margin, list(labels), margin)
    return class_task(len(labels), update=options.update, strategy=options.strategy, margin=margins)


def _first(C: Any) -> float:
    """Return C; where it is several, each model has a step of its own."""
    return C if isinstance(C, int | float) else 1.0


def _weights(options: Any, *, by_loss: bool) -> dict[str, Any]:
    """Return what a plan says of weights, be they linear, on the simplex or in the space of a kernel."""
    fixed = {name: getattr(options, name) for name in KERNEL_OPTIONS} | {"geometry": options.geometry} | swept(options)
    if options.kernel is not None:
        return {"weights": _expansion(options), "learner": _kernel_learner(options), "fixed": fixed}
    if options.geometry == "entropic":
        return {"weights": on_simplex, "dtypes": (np.dtype(np.float64),), "fixed": fixed}
    kind: Kind = GEOMETRIES[options.geometry]
    ensemble = alternatives(options, kind, projection(_first(options.C), options.loss), by_loss=by_loss)
    return {"weights": weights(options, kind), "ensemble": ensemble, "fixed": fixed}


# Kernels are imported where one is asked for: they need SciPy.


def _expansion(options: Any) -> Callable[[Kind | None, Shape, int], Geometry]:
    from onmargin.models.expansion import expansion

    return expansion(options, averaging(options.average))


def _kernel_learner(options: Any) -> Callable[[Any, Step, Geometry], Learner[Any]]:
    from onmargin.models.expansion import kernel_learner

    return kernel_learner(options)
