"""Second-order learners with a variance per weight: AROW, SCW and NHERD ([AROW]; [SCW]; [NHERD])."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from onmargin._core.geometries.diagonal import Confidence
from onmargin._core.several.geometries import WithAverage
from onmargin._core.steps.step import Confident, Herding, Regularized, Step
from onmargin._core.tasks.task import Binary, Multiclass, OneVsRest, Regression, Task
from onmargin.models import options as shared
from onmargin.models.columns import class_columns
from onmargin.models.linear import alternatives, weights
from onmargin.models.options import option
from onmargin.models.plan import ClassRules, Plan
from onmargin.models.rules import Number, Word
from onmargin.models.updates import class_task


def strategy() -> Any:
    return option(
        "ovr",
        Word("joint", "ovr"),
        text="""
        strategy : {"ovr", "joint"}, default="ovr"
            With more than two classes, "ovr" trains one-vs-rest, each class against all others; "joint" updates the
            right class against its highest-scoring rival.
        """,
    )


def forgetting() -> Any:
    return option(
        0.0,
        Number(0, below=True),
        text="""
        forgetting : float, default=0.0
            Relative growth, after each step, of the variances that the step reduced; they grow up to 1 at most. A value
            of 0.1 follows a drifting target, at some cost in accuracy where the target does not drift.
        """,
    )


@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifierOptions:
    """Options of AROW for classification, shared by all interfaces.

    Parameters
    ----------
    r : float, default=0.1
        Regularization, above 0. Larger values are more cautious: each example changes the weights and variances less.
    """

    r: float = option(0.1, Number(0, above=True, below=True))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight("the weight of examples")
    average: bool | int | str = shared.average_or_best("mistakes")
    strategy: str = strategy()
    forgetting: float = forgetting()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        return _of_classes(self, Regularized(self.r))


@dataclass(kw_only=True, eq=False, repr=False)
class SCWClassifierOptions:
    """Options of SCW, shared by all interfaces.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the largest step ("I") or the price of squared slack ("II").
    eta : float, default=0.9
        Probability with which an example must be classified correctly, above 0.5 and below 1.
    variant : {"I", "II"}, default="I"
        Whether slack is penalized linearly ("I") or squared ("II").
    """

    C: float = option(1.0, Number(0, above=True, below=True))
    eta: float = option(0.9, Number(0.5, 1, above=True, below=True))
    variant: str = option("I", Word("I", "II"))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight("the weight of examples")
    average: bool | int | str = shared.average_or_best("mistakes")
    strategy: str = strategy()
    forgetting: float = forgetting()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        from statistics import NormalDist  # and with it fractions and decimal, for which other learners need not wait

        step = Confident(self.C, NormalDist().inv_cdf(self.eta), squared=self.variant == "II")
        return _of_classes(self, step, eager=True)


@dataclass(kw_only=True, eq=False, repr=False)
class NHERDClassifierOptions:
    """Options of NHERD, shared by all interfaces.

    Parameters
    ----------
    C : float, default=10.0
        Aggressiveness, above 0. Smaller values are more cautious.
    """

    C: float = option(10.0, Number(0, above=True, below=True))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight("the weight of examples")
    average: bool | int | str = shared.average_or_best("mistakes")
    strategy: str = strategy()
    forgetting: float = forgetting()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        return _of_classes(self, Herding(1 / self.C))


@dataclass(kw_only=True, eq=False, repr=False)
class AROWRegressorOptions:
    """Options of AROW for regression, shared by all interfaces.

    Parameters
    ----------
    r : float, default=0.1
        Regularization, above 0. Larger values are more cautious: each example changes the weights and variances less.
    epsilon : float, default=0.0
        Half the width of the tube around the target; predictions inside it have no loss and cause no update. At least
        0.
    """

    r: float = option(0.1, Number(0, above=True, below=True))
    epsilon: float = option(0.0, Number(0))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    average: bool | int | str = shared.average_or_best("losses")
    forgetting: float = forgetting()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        return Plan(task=lambda labels: Regression(self.epsilon), **_gaussian(self, Regularized(self.r), by_loss=True))


def _of_classes(options: Any, step: Step, *, eager: bool = False) -> Plan:
    def task(labels: Sequence[Any]) -> Task:
        if not eager:
            return class_task(len(labels), update="max", strategy=options.strategy, margin=1.0)
        if len(labels) == 2:
            return Binary(eager=True)
        return OneVsRest(eager=True) if options.strategy == "ovr" else Multiclass(eager=True)

    columns = partial(class_columns, half=0.5 if options.strategy == "joint" else 1.0)
    return Plan(
        task=task,
        classes=ClassRules(columns, calibrated=True),
        **_gaussian(options, step, by_loss=False),
    )


def _gaussian(options: Any, step: Step, *, by_loss: bool) -> dict[str, Any]:
    """Return what a plan says of weights with variances, and of their averages as a second model."""
    kind = partial(Confidence, forgetting=float(options.forgetting))
    return {
        "step": step,
        "weights": weights(options, kind),
        "ensemble": alternatives(options, kind, step, by_loss=by_loss) if options.average == "best" else None,
        "adjust": lambda geometry: setattr(gaussians(geometry), "forgetting", float(options.forgetting)),
        "fixed": {"average": "best" if options.average == "best" else False},
    }


def gaussians(geometry: Any) -> Confidence:
    """Return the weights that learn, whether their averages are a model next to them or not."""
    return cast("Confidence", geometry.inner if isinstance(geometry, WithAverage) else geometry)
