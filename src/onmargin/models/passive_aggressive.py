"""Passive-aggressive classification and regression ([JMLR] sec. 3, 5, 7 and 8; [SIMPROJ] sec. 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from onmargin._core.tasks.task import CostSensitive, Regression, Task
from onmargin.models import options as shared
from onmargin.models.columns import class_columns
from onmargin.models.compatible import several
from onmargin.models.costs import check_cost
from onmargin.models.links import norm
from onmargin.models.options import option, optional
from onmargin.models.plan import Labels, Plan
from onmargin.models.rules import CLASS_MARGINS, FLAG, Number, Numbers, Word
from onmargin.models.updates import RIVALS, class_margins, class_task, projection
from onmargin.models.weights import budget, budget_policy, coef0, degree, gamma, geometry, kernel, space


def aggressiveness() -> Any:
    return option(1.0, Number(0, above=True), Numbers(0, above=True), Word("auto"))


@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierOptions:
    """The options of the passive-aggressive classifier, in every face.

    Parameters
    ----------
    C : float, sequence of floats or "auto", default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller is more
        cautious and better under noise; ``inf`` gives plain PA, which always restores the margin. If a sequence,
        one model per value is trained in the same pass, and the best so far predicts. "auto" is a grid of nine, from
        0.001 to 10 in units of 1 / M, where M is the mean of ‖x‖² over the rows so far, or what takes its place in
        another `geometry`.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" is PA-I, "squared_hinge" is PA-II.
    margin : float or None, default=None
        The margin m that an example asks for, at least 0: its loss is ``max(0, m - y * score)``. None: 1, or 0.1 if the
        weights are on the simplex. With 0 only mistakes move the weights, and weights of zero never move.
    class_weight : dict, "balanced" or None, default=None
        Factors on C by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit` from the counts so
        far.
    class_margin : dict or None, default=None
        Margins by class, above 0: examples of a class ask for its margin instead of `margin`. A wide margin for a rare
        class finds more of its examples, and takes more others for them. In one-vs-rest an example asks all columns for
        it. Not with `cost`, nor with an `update` to which no margin makes a difference: "perceptron", "simperc",
        "mira".
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the mistakes of each so far.
    update : str, default="max"
        Which rivals of the right class a round moves. "max": the best. All that come too near at once: "simproj" takes
        the mean of their projections, "simopt" weighs them, "exact" solves the joint problem (Sopopo). The like on
        mistakes only: "simperc", "conproj", "conopt". "perceptron" is the uniform multiclass Perceptron, "mira" MIRA
        with beta = 1 / C. All but "max" need ``loss="hinge"``; "simproj" and "simopt" have no mistake bound, "conopt"
        has one for small C.
    cost : array-like of shape (n_classes, n_classes), dict, "absolute", "squared" or None, default=None
        ``cost[i, j]``, at least 0, is paid for predicting class j for class i; nothing for the right one. The margin
        asked for is its square root, and ``totals_.cost`` sums what the predictions cost. A dict ``{"i": {"j": 2.0}}``
        has costs by name; a pair that it does not name costs 1. "absolute" and "squared" are distances in the order of
        ``classes_``. Where examples come one by one, a matrix is for the classes 0, 1, ....
    cost_update : {"prediction", "max_loss"}, default="prediction"
        With `cost`, whether the right class moves against the prediction or against the class of largest loss.
    strategy : {"joint", "ovr"}, default="joint"
        With more than two classes, "joint" learns the right class against its best rival, "ovr" each class against
        all others, as scikit-learn does.
    geometry : {"euclidean", "entropic", "adaptive", "normalized"}, default="euclidean"
        "entropic": weights are on the simplex, at least 0 and of sum 1, and multiplied instead of added to; the
        margin asked for is 0.1. Where few of very many features matter. No intercept, no averaging.
        "adaptive": the step is taken in the metric of AdaGrad, in which rare features move further; for text.
        "normalized": the like, whatever the units of each feature. Both for ``update="max"`` only.
    combine : {"leader", "hedge"}, default="leader"
        With several C, or ``average="best"``, predict with the model of the fewest mistakes so far, or by a vote of all
        that AdaHedge weighs.
    """

    C: float | ArrayLike | str = aggressiveness()
    loss: str = option("hinge", Word("hinge", "squared_hinge"))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    margin: float | None = optional(None, Number(0, below=True))
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()
    class_margin: Mapping[Any, float] | None = optional(None, CLASS_MARGINS)
    average: bool | int | str = shared.average("mean", "best")
    update: str = option("max", Word("max", *RIVALS))
    cost: ArrayLike | Mapping[Any, Any] | str | None = option(None)
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
        # By default far below 1 on the simplex, where scores are at most the largest number of a row.
        margin = float(self.margin) if self.margin is not None else 0.1 if entropic else 1.0
        step = projection(_first(self.C), self.loss) if self.update == "max" else RIVALS[self.update](float(self.C))  # type: ignore[arg-type]
        largest = max([margin, *(self.class_margin or {}).values()]) if entropic else None
        return Plan(
            task=lambda labels: _class_task(self, labels, margin),
            columns=partial(class_columns, half=0.5 if self.strategy == "joint" else 1.0),
            simplex_margin=largest,
            calibrated=True,
            labels_at_once=self.cost is not None,  # costs speak of all classes from the first round on
            **space(self, step, by_loss=False),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class RegressorOptions:
    """The options of the passive-aggressive regressor, in every face.

    Parameters
    ----------
    C : float, sequence of floats or "auto", default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller is more
        cautious and better under noise; ``inf`` gives plain PA, which always reaches the tube. If a
        sequence, one model per value is trained in the same pass, and the best so far predicts. "auto" is a grid of
        nine, from 0.001 to 10 in units of 1 / M, where M is the mean of ‖x‖² over the rows so far, or what takes its
        place in another `geometry`; with the first `loss` in units of D / M, where D is the deviation of the targets so
        far.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The first is PA-I, the second PA-II.
    epsilon : float, default=0.1
        Half the width of the tube in which predictions are right; at least 0.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the losses of each so far.
    geometry : {"euclidean", "entropic", "pnorm", "adaptive", "normalized"}, default="euclidean"
        "entropic": weights are on the simplex, at least 0 and of sum 1, and multiplied instead of added to.
        Where few of very many features matter. No intercept, no averaging. "pnorm": weights of any sign and size, in
        between; the same limits.
        "adaptive": the step is taken in the metric of AdaGrad, in which rare features move further.
        "normalized": the like, whatever the units of each feature.
    p : float or None, default=None
        Of "pnorm", from 2 to 500: 2 is plain weights, larger ones are nearer to the entropic. If None, 2 ln(n_features)
        of the first call.
    line_search : bool, default=False
        With "entropic" and "pnorm", whether a step goes exactly as far as the Bregman projection onto the tube, at most
        C, which a search along the row finds. If False, it goes as far as a bound on the curvature allows, which is
        shorter. The search is for the first `loss`.
    combine : {"leader", "hedge"}, default="leader"
        With several C, or ``average="best"``, predict with the model of the least loss so far, or the mean of all that
        AdaHedge weighs.
    """

    C: float | ArrayLike | str = aggressiveness()
    loss: str = option("epsilon_insensitive", Word("epsilon_insensitive", "squared_epsilon_insensitive"))
    epsilon: float = option(0.1, Number(0))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    average: bool | int | str = shared.average("mean", "best")
    geometry: str = geometry("pnorm")
    p: float | None = norm()
    line_search: bool = option(False, FLAG)
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
            **space(self, projection(_first(self.C), self.loss), by_loss=True),
        )


def _class_task(options: ClassifierOptions, labels: Labels, margin: float) -> Task:
    if options.cost is not None and len(labels) >= 2:
        return CostSensitive(check_cost(options.cost, labels), options.cost_update == "max_loss")
    margin = 1 / options.C if options.update == "mira" else margin  # type: ignore[operator,assignment]
    margins = class_margins(options.class_margin, list(labels), margin)
    return class_task(len(labels), update=options.update, strategy=options.strategy, margin=margins)


def _first(C: Any) -> float:
    """Return C, which may be a number of any type; where it is several, each model has a step of its own."""
    return 1.0 if several(C) else C
