"""Trials of several rows over one vector of weights: blocks, and classes with features ([SIMPROJ] sec. 2 to 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._core.geometries.additive import Entropic
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.geometries.trials import AdditiveBlocks, Blocks
from onmargin._core.steps.row_pairs import LargestRowPair
from onmargin._core.steps.simultaneous import Largest
from onmargin._core.tasks.task import CostSensitive, Multiclass, Task
from onmargin._core.tasks.trial import Block, Ranking
from onmargin.models import compatible
from onmargin.models import options as shared
from onmargin.models.columns import intercept_value
from onmargin.models.costs import check_cost, classes_of_cost
from onmargin.models.ensemble import Kind, first_averaged
from onmargin.models.links import why_sized
from onmargin.models.options import option, optional
from onmargin.models.phi import Foresee
from onmargin.models.plan import Plan, RowRules, Shape
from onmargin.models.rules import FLAG, NONE, Member, Number, Word
from onmargin.models.updates import ROW_PAIRS, SIMPLEX_TRIALS, TRIALS


def aggressiveness() -> Any:
    return option(1.0, Number(0, above=True))


def margin() -> Any:
    return option(None, Number(0, above=True, below=True), NONE)


def update() -> Any:
    return option("max", Word(*TRIALS))


def geometry() -> Any:
    return option("euclidean", Word("euclidean", "entropic"))


@dataclass(kw_only=True, eq=False, repr=False)
class BlockOptions:
    """Options of the block classifier.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the sum of the step sizes of a trial is at most C. Smaller values are more cautious and
        better under noise. "simperc", "exact" and the entropic geometry require a finite C.
    margin : float or None, default=None
        Required margin, above 0. If None, 1, or 0.1 for the entropic geometry, whose scores are at most the largest
        value of a row. For plain weights it sets the scale of C: margin m with C is the same as margin 1 with C / m.
    update : str, default="max"
        How a trial updates the weights. "max" projects onto the instance of largest loss only. "exact" solves the
        problem above. "simproj" averages the projections onto all instances that violate the margin, and "simopt"
        weights them; neither has a mistake bound. "conproj", "conopt" and "simperc" use only the wrong instances and
        have a bound, "conopt" for small C; "simperc" takes steps of a fixed size.
    fit_intercept : bool, default=False
        Whether to learn an intercept: the weight of one more coordinate of each row, which counts in the row's norm.
        Off by default, because rows that are differences of feature vectors need none, and neither do the blocks in the
        papers.
    average : bool or int, default=False
        Whether to predict with the average of the weights after each trial. If an integer above 1, averaging starts at
        that trial. After `fit`, learning continues from the averaged weights, with a new average.
    geometry : {"euclidean", "entropic"}, default="euclidean"
        If "entropic", the weights are on the simplex (at least 0, summing to 1) and updates are multiplicative. Useful
        where few of very many features matter. It supports the updates "max", "simperc", "conproj", "simproj" and
        "simopt", requires a finite C, and has no intercept and no averaging.
    """

    C: float = aggressiveness()
    margin: float | None = margin()
    update: str = update()
    fit_intercept: bool = option(False, FLAG)
    intercept_scaling: float | str = shared.intercept_scaling()
    average: bool | int = shared.average()
    geometry: str = geometry()

    round_of: ClassVar[str] = compatible.TRIALS

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        bias = intercept_value(fit=self.fit_intercept, scaling=self.intercept_scaling)
        return Plan(task=lambda labels: Block(_margin(self)), **_one_vector(self, bias))


@dataclass(kw_only=True, eq=False, repr=False)
class ClassFeatureOptions:
    """Options of the classifier over joint features of example and class.

    Parameters
    ----------
    phi : None, callable or transformer, default=None
        Source of the joint features. If None, X holds the features as an array of examples x classes x features. A
        callable ``phi(x, label)`` returns the vector of one example and class; X is then any sequence of examples. A
        transformer with ``learn_transform`` and ``transform``, such as :class:`onmargin.features.ClassTermFeatures`, is
        updated during training; a copy of it is used.
    C : float, default=1.0
        Aggressiveness, above 0: the sum of a round's steps is at most C, or the price of squared slack. Smaller values
        are more cautious and better under noise.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "squared_hinge" gives PA-II and requires ``update="max"``.
    update : {"max", "simperc", "conproj", "simproj", "simopt", "conopt", "exact"}, default="max"
        Which rivals a round moves away from, and how far. "max" uses the highest-scoring rival only. "simperc" and
        "conproj" use all rivals that score at least as high as the right class, with a fixed step or the mean of the
        projections. "simproj" takes the mean of the projections over all rivals that violate the margin; "simopt"
        solves the problem without its cross terms; neither has a mistake bound. "conopt" is "simopt" for the rivals
        that "conproj" uses, and has a bound for small C. "exact" solves the problem itself. With label sets the same
        holds for pairs of a relevant and an irrelevant label.
    margin : float or None, default=None
        Required margin, above 0. If None, 1, or 0.1 for the entropic geometry, whose scores are at most the largest
        value of a row.
    geometry : {"euclidean", "entropic"}, default="euclidean"
        If "entropic", the weights are on the simplex (at least 0, summing to 1) and updates are multiplicative. Useful
        where few of very many features matter, and none of them is evidence against a class. It supports the updates
        "max", "simperc", "conproj", "simproj" and, with one label per example, "simopt", requires a finite C, and has
        no averaging.
    cost : array-like of shape (n_classes, n_classes), dict, "absolute", "squared" or None, default=None
        ``cost[i, j]``, at least 0, is the cost of predicting class j when the right class is i, as for
        :class:`PassiveAggressiveClassifier`. The required margin is the square root of the cost, and ``totals_.cost``
        is the total cost of the predictions. Requires ``update="max"`` and one label per example; all labels of a call
        are classes from its first example on.
    cost_update : {"prediction", "max_loss"}, default="prediction"
        With `cost`, whether the right class is updated against the predicted class or against the class of largest
        loss.
    """

    phi: Any = optional(None, Member("__call__", "learn_transform", words="a function phi(x, label), or a transformer"))
    C: float = aggressiveness()
    loss: str = option("hinge", Word("hinge", "squared_hinge"))
    update: str = update()
    average: bool | int = shared.average()
    margin: float | None = margin()
    geometry: str = geometry()
    cost: ArrayLike | Mapping[Any, Any] | str | None = option(None)
    cost_update: str = option("prediction", Word("prediction", "max_loss"))

    round_of: ClassVar[str] = compatible.TRIALS

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        if isinstance(self.cost, str | Mapping):
            classes_of_cost(self.cost)  # raises an error for other words and values
        parts = _one_vector(self, 0.0)  # an intercept would be the same for all classes
        if self.loss == "squared_hinge":
            parts["step"] = Largest(self.C, squared=True)

        def task(labels: Sequence[Any]) -> Task:
            if self.cost is not None and len(labels) >= 2:
                return CostSensitive(check_cost(self.cost, labels), self.cost_update == "max_loss")
            return Multiclass(_margin(self), every=True)

        parts |= {"rows": replace(parts["rows"], simplex_reach=_largest_difference)}
        return Plan(task=task, **parts)


def for_label_sets(plan: Plan, options: ClassFeatureOptions) -> Plan:
    """Return how options over features of classes learn from examples with any number of labels."""
    if options.cost is not None:
        raise ValueError("cost is what predicting one label for another costs: it needs one label per example")
    if options.update == "simopt" and options.geometry == "entropic":
        raise ValueError(
            "update='simopt' with geometry='entropic' needs one label per example: set update='simproj' for label sets"
        )
    margin = _margin(options)
    step = ROW_PAIRS[options.update](options.C, margin)
    if options.update == "max":
        squared, search = options.loss == "squared_hinge", options.geometry == "entropic"
        step = LargestRowPair(options.C, squared=squared, search=search, margin=margin)
    task = Ranking(margin, every=True, met=options.update == "exact")
    return replace(plan, task=lambda labels: task, step=step)


def transform_ahead(options: ClassFeatureOptions) -> Foresee | None:
    """Return the check that the costs match the classes that there will be, if there are costs."""

    def foresee(classes: Sequence[Any] | NDArray[Any]) -> None:
        check_cost(options.cost, classes)

    return None if options.cost is None else foresee


def _margin(options: Any) -> float:
    """Return the margin: far below 1 on the simplex, where scores are at most the largest number of a row."""
    if options.margin is not None:
        return float(options.margin)
    return 0.1 if options.geometry == "entropic" else 1.0


def _largest_value(X: Any, geometry: Any) -> float:
    """Return the largest score, up to its sign, that weights on the simplex can give a row of X."""
    return float(max(X.max(), -X.min()))


def _largest_difference(X: Any, geometry: Any) -> float:
    """Return the largest margin that weights on the simplex can give the difference of two rows of X."""
    return float(X.max() - X.min())


def _one_vector(options: Any, bias: float) -> dict[str, Any]:
    """Return what a plan says of one vector of weights, plain or on the simplex, and of how trials move it."""
    fixed = {"geometry": options.geometry}
    if options.geometry == "entropic":
        return {
            "step": SIMPLEX_TRIALS[options.update](options.C),
            "weights": _on_simplex,
            "rows": RowRules(
                (np.dtype(np.float64),),
                why_sized(options.geometry, None),
                simplex_margin=_margin(options),
                simplex_reach=_largest_value,
            ),
            "fixed": fixed,
        }
    average = first_averaged(options.average)

    def weights(shape: Shape, kind: Kind | None, n_columns: int) -> Geometry:
        return Blocks(shape.n_features, n_columns, shape.dtype, sparse=shape.sparse, bias=bias, average=average)

    return {"step": TRIALS[options.update](options.C), "weights": weights, "rows": RowRules(), "fixed": fixed}


def _on_simplex(shape: Shape, kind: Kind | None, n_columns: int) -> Geometry:
    return AdditiveBlocks(Entropic(shape.n_features, n_columns))
