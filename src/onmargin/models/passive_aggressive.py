"""Passive-aggressive classification and regression ([JMLR] sec. 3, 5, 7 and 8; [SIMPROJ] sec. 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from onmargin._core.steps.simultaneous import Largest
from onmargin._core.tasks.task import CostSensitive, Quantile, Regression, Task
from onmargin.models import options as shared
from onmargin.models.columns import class_columns
from onmargin.models.compatible import several
from onmargin.models.costs import check_cost, classes_of_cost
from onmargin.models.labels import UNNAMED
from onmargin.models.links import norm
from onmargin.models.options import option, optional
from onmargin.models.plan import ClassRules, Plan
from onmargin.models.rules import CLASS_MARGINS, FLAG, Number, Numbers, Word
from onmargin.models.updates import RIVALS, class_margins, class_task, projection
from onmargin.models.weights import budget, budget_policy, coef0, degree, gamma, geometry, kernel, space


def aggressiveness() -> Any:
    return option(1.0, Number(0, above=True), Numbers(0, above=True), Word("auto"))


@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierOptions:
    """Options of the passive-aggressive classifier, shared by all interfaces.

    Parameters
    ----------
    C : float, sequence of floats or "auto", default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller values are more
        cautious and better under noise; ``inf`` gives plain PA, which always restores the margin. If a sequence, one
        model per value is trained in the same pass, and the best so far predicts. If "auto", a grid of nine values is
        used, from 0.001 to 10 in units of 1 / M, where M is the mean of ‖x‖² over the rows so far, or its counterpart
        in another `geometry`.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" gives PA-I, "squared_hinge" gives PA-II.
    margin : float or None, default=None
        Required margin m, at least 0: the loss of an example is ``max(0, m - y * score)``. If None, the margin is 1, or
        0.1 if the weights are on the simplex. If 0, only mistakes update the weights, and weights of zero are never
        updated.
    class_margin : dict or None, default=None
        Required margins per class, above 0, used instead of `margin`. A wide margin for a rare class finds more of its
        examples, at the price of more false positives. With one-vs-rest, all columns use the margin of the example's
        class. Cannot be combined with `cost`, nor with an `update` that does not depend on the margin: "perceptron",
        "simperc", "mira".
    update : str, default="max"
        Which rivals of the right class an update moves. "max" moves the highest-scoring rival only. "simproj", "simopt"
        and "exact" move all rivals that violate the margin: "simproj" averages their projections, "simopt" weights
        them, and "exact" solves the joint problem (Sopopo). "simperc", "conproj" and "conopt" move only the rivals that
        score at least as high as the right class. "perceptron" is the uniform multiclass Perceptron, and "mira" is MIRA
        with beta = 1 / C. All except "max" require ``loss="hinge"``. "simproj" and "simopt" have no mistake bound;
        "conopt" has one for small C.
    cost : array-like of shape (n_classes, n_classes), dict, "absolute", "squared" or None, default=None
        ``cost[i, j]``, at least 0, is the cost of predicting class j when the right class is i; the right class costs
        nothing. The required margin is the square root of the cost, and ``totals_.cost`` is the total cost of the
        predictions. A dict ``{"i": {"j": 2.0}}`` gives costs by label; pairs that it does not contain cost 1.
        "absolute" and "squared" are distances in the order of ``classes_``. For learners of streams, a matrix is for
        the classes 0, 1, ....
    cost_update : {"prediction", "max_loss"}, default="prediction"
        With `cost`, whether the right class is updated against the predicted class or against the class of largest
        loss.
    strategy : {"joint", "ovr"}, default="joint"
        With more than two classes, "joint" updates the right class against its highest-scoring rival; "ovr" trains
        one-vs-rest, each class against all others, as scikit-learn does.
    geometry : {"euclidean", "entropic", "adaptive", "normalized"}, default="euclidean"
        If "entropic", the weights are on the simplex (at least 0, summing to 1), updates are multiplicative, and the
        default margin is 0.1. Useful where few of very many features matter; it has no intercept and no averaging. If
        "adaptive", steps are taken in the AdaGrad metric, in which rare features move further; useful for text.
        "normalized" is similar, and does not depend on the units of each feature. Both require ``update="max"``.
    combine : {"leader", "hedge"}, default="leader"
        With several values of C, or with ``average="best"``: "leader" predicts with the model that made the fewest
        mistakes so far, "hedge" by a vote of all models, weighted by AdaHedge.
    """

    C: float | ArrayLike | str = aggressiveness()
    loss: str = option("hinge", Word("hinge", "squared_hinge"))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    margin: float | None = optional(None, Number(0, below=True))
    class_weight: Mapping[Any, float] | str | None = shared.class_weight("C and the margin of mistakes")
    class_margin: Mapping[Any, float] | None = optional(None, CLASS_MARGINS)
    average: bool | int | str = shared.average_or_best("mistakes")
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
        """Return the learning plan of these options."""
        if isinstance(self.cost, str | Mapping):
            classes_of_cost(self.cost)  # raises an error for other words and values
        entropic = self.geometry == "entropic"
        # The default is far below 1 on the simplex, where scores are at most the largest value of a row.
        margin = float(self.margin) if self.margin is not None else 0.1 if entropic else 1.0
        step = projection(_first(self.C), self.loss) if self.update == "max" else RIVALS[self.update](float(self.C))  # type: ignore[arg-type]
        parts = space(self, step, by_loss=False)
        largest = max([margin, *(self.class_margin or {}).values()]) if entropic else None
        return Plan(
            task=lambda labels: _class_task(self, labels, margin),
            classes=ClassRules(
                partial(class_columns, half=0.5 if self.strategy == "joint" else 1.0),
                calibrated=True,
                at_once=self.cost is not None and not isinstance(self.cost, Mapping | str),  # a matrix for all classes
            ),
            **parts | {"rows": replace(parts["rows"], simplex_margin=largest)},
        )


@dataclass(kw_only=True, eq=False, repr=False)
class RegressorOptions:
    """Options of the passive-aggressive regressor, shared by all interfaces.

    Parameters
    ----------
    C : float, sequence of floats or "auto", default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller values are more
        cautious and better under noise; ``inf`` gives plain PA, which always reaches the tube. If a sequence, one model
        per value is trained in the same pass, and the best so far predicts. If "auto", a grid of nine values is used,
        from 0.001 to 10 in units of 1 / M, where M is the mean of ‖x‖² over the rows so far, or its counterpart in
        another `geometry`. With ``loss="epsilon_insensitive"`` the unit is D / M, where D is the deviation of the
        targets so far.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "quantile"}, default="epsilon_insensitive"
        "epsilon_insensitive" gives PA-I, "squared_epsilon_insensitive" gives PA-II. "quantile" is the pinball loss: a
        prediction that is too low costs `quantile` times its distance from the tube, one that is too high costs
        ``1 - quantile`` times its distance.
    epsilon : float, default=0.1
        Half the width of the tube around the target; predictions inside it have no loss. At least 0.
    quantile : float, default=0.5
        With ``loss="quantile"``, the quantile to predict, between 0 and 1. Steps are at most C times it upward, and C
        times ``1 - quantile`` downward.
    geometry : {"euclidean", "entropic", "pnorm", "adaptive", "normalized"}, default="euclidean"
        If "entropic", the weights are on the simplex (at least 0, summing to 1) and updates are multiplicative. Useful
        where few of very many features matter; it has no intercept and no averaging. "pnorm" lies between "euclidean"
        and "entropic": weights have any sign and size, and there is no intercept and no averaging. If "adaptive", steps
        are taken in the AdaGrad metric, in which rare features move further. "normalized" is similar, and does not
        depend on the units of each feature.
    p : float or None, default=None
        The norm p of ``geometry="pnorm"``, from 2 to 500: 2 gives plain weights, larger values are closer to the
        entropic geometry. If None, p is 2 ln(n_features) in the first call.
    line_search : bool, default=False
        With "entropic" and "pnorm", whether to find the exact Bregman projection onto the tube, at most C, by a line
        search along the row. If False, the step size comes from a bound on the curvature, which gives shorter steps.
        Requires ``loss="epsilon_insensitive"``.
    combine : {"leader", "hedge"}, default="leader"
        With several values of C, or with ``average="best"``: "leader" predicts with the model of smallest loss so far,
        "hedge" with the mean of all models, weighted by AdaHedge.
    """

    C: float | ArrayLike | str = aggressiveness()
    loss: str = option("epsilon_insensitive", Word("epsilon_insensitive", "squared_epsilon_insensitive", "quantile"))
    epsilon: float = option(0.1, Number(0))
    quantile: float = option(0.5, Number(0, 1, above=True, below=True))
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    average: bool | int | str = shared.average_or_best("losses")
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
        """Return the learning plan of these options."""
        tilted = self.loss == "quantile"
        step = Largest(float(self.C)) if tilted else projection(_first(self.C), self.loss)  # type: ignore[arg-type]
        return Plan(
            task=lambda labels: Quantile(self.epsilon, self.quantile) if tilted else Regression(self.epsilon),
            **space(self, step, by_loss=True),
        )


def _class_task(options: ClassifierOptions, labels: Sequence[Any], margin: float) -> Task:
    # Scores on the simplex are bounded: larger margins would soon be out of reach.
    weighted = options.geometry != "entropic"
    if options.cost is not None and labels:
        known = [label for label in labels if label is not UNNAMED]
        cost = check_cost(options.cost, known)
        if len(known) == 1:  # what its mistakes cost is not known
            return class_task(1, update=options.update, strategy=options.strategy, margin=margin)
        return CostSensitive(cost, options.cost_update == "max_loss", weighted)
    margin = 1 / options.C if options.update == "mira" else margin  # type: ignore[operator,assignment]
    margins = class_margins(options.class_margin, list(labels), margin)
    return class_task(len(labels), update=options.update, strategy=options.strategy, margin=margins, weighted=weighted)


def _first(C: Any) -> float:
    """Return C, which may be a number of any type; where it is several, each model has a step of its own."""
    return 1.0 if several(C) else C
