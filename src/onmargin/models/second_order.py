"""Second-order learners, whose weights have a variance each: AROW, SCW and NHERD ([AROW]; [SCW]; [NHERD])."""

from collections.abc import Mapping
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
from onmargin.models.plan import Labels, Plan
from onmargin.models.rules import Number, Word
from onmargin.models.updates import class_task


def strategy() -> Any:
    return option("ovr", Word("joint", "ovr"))


def forgetting() -> Any:
    return option(0.0, Number(0, below=True))


@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifierOptions:
    """The options of AROW for classes, in every face.

    Parameters
    ----------
    r : float, default=0.1
        Regularization, above 0: how much an example is distrusted. Larger is more cautious.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weight of examples by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit`
        from the counts so far.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the mistakes of each so far.
    strategy : {"ovr", "joint"}, default="ovr"
        With more than two classes, "ovr" learns each class against all others, "joint" the right class against its
        best rival.
    forgetting : float, default=0.0
        By what part the variances that a step made smaller grow again after it, at most up to 1. 0.1 follows a target
        that moves, and costs accuracy where none does.
    """

    r: float = option(0.1, Number(0, above=True, below=True))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()
    average: bool | int | str = shared.average("mean", "best")
    strategy: str = strategy()
    forgetting: float = forgetting()

    def plan(self) -> Plan:
        """Return how these options learn."""
        return _of_classes(self, Regularized(self.r))


@dataclass(kw_only=True, eq=False, repr=False)
class SCWClassifierOptions:
    """The options of SCW, in every face.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the largest step ("I") or the price of squared slack ("II").
    eta : float, default=0.9
        Probability, above 0.5 and below 1, with which an example must be right.
    variant : {"I", "II"}, default="I"
        Whether slack costs C times itself or its square.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weight of examples by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit`
        from the counts so far.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the mistakes of each so far.
    strategy : {"ovr", "joint"}, default="ovr"
        With more than two classes, "ovr" learns each class against all others, "joint" the right class against its
        best rival.
    forgetting : float, default=0.0
        By what part the variances that a step made smaller grow again after it, at most up to 1. 0.1 follows a target
        that moves, and costs accuracy where none does.
    """

    C: float = option(1.0, Number(0, above=True, below=True))
    eta: float = option(0.9, Number(0.5, 1, above=True, below=True))
    variant: str = option("I", Word("I", "II"))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()
    average: bool | int | str = shared.average("mean", "best")
    strategy: str = strategy()
    forgetting: float = forgetting()

    def plan(self) -> Plan:
        """Return how these options learn."""
        from statistics import NormalDist  # and with it fractions and decimal, for which other learners need not wait

        step = Confident(self.C, NormalDist().inv_cdf(self.eta), squared=self.variant == "II")
        return _of_classes(self, step, eager=True)


@dataclass(kw_only=True, eq=False, repr=False)
class NHERDClassifierOptions:
    """The options of NHERD, in every face.

    Parameters
    ----------
    C : float, default=10.0
        Aggressiveness, above 0. Smaller is more cautious.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weight of examples by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit`
        from the counts so far.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the mistakes of each so far.
    strategy : {"ovr", "joint"}, default="ovr"
        With more than two classes, "ovr" learns each class against all others, "joint" the right class against its
        best rival.
    forgetting : float, default=0.0
        By what part the variances that a step made smaller grow again after it, at most up to 1. 0.1 follows a target
        that moves, and costs accuracy where none does.
    """

    C: float = option(10.0, Number(0, above=True, below=True))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()
    average: bool | int | str = shared.average("mean", "best")
    strategy: str = strategy()
    forgetting: float = forgetting()

    def plan(self) -> Plan:
        """Return how these options learn."""
        return _of_classes(self, Herding(1 / self.C))


@dataclass(kw_only=True, eq=False, repr=False)
class AROWRegressorOptions:
    """The options of AROW for numbers, in every face.

    Parameters
    ----------
    r : float, default=0.1
        Regularization, above 0: how much an example is distrusted. Larger is more cautious.
    epsilon : float, default=0.0
        Half the width of the tube in which predictions are right and nothing is learned; at least 0.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the losses of each so far.
    forgetting : float, default=0.0
        By what part the variances that a step made smaller grow again after it, at most up to 1. 0.1 follows a target
        that moves, and costs accuracy where none does.
    """

    r: float = option(0.1, Number(0, above=True, below=True))
    epsilon: float = option(0.0, Number(0))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    average: bool | int | str = shared.average("mean", "best")
    forgetting: float = forgetting()

    def plan(self) -> Plan:
        """Return how these options learn."""
        return Plan(task=lambda labels: Regression(self.epsilon), **_gaussian(self, Regularized(self.r), by_loss=True))


def _of_classes(options: Any, step: Step, *, eager: bool = False) -> Plan:
    def task(labels: Labels) -> Task:
        if not eager:
            return class_task(len(labels), update="max", strategy=options.strategy, margin=1.0)
        if len(labels) == 2:
            return Binary(eager=True)
        return OneVsRest(eager=True) if options.strategy == "ovr" else Multiclass(eager=True)

    columns = partial(class_columns, half=0.5 if options.strategy == "joint" else 1.0)
    return Plan(
        task=task,
        columns=columns,
        calibrated=True,
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
