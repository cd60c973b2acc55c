"""A plan says how a set of options learns; a model is a plan at work, before any face is put on it."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.geometry import Geometry
from onmargin._core.rows import Rows
from onmargin._core.several.tasks import Several
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin._parts import Part
from onmargin.errors import ParameterError
from onmargin.learner import Learner
from onmargin.models.columns import Places, class_columns
from onmargin.models.experts import Ensemble, Expert, kinds_of, steps_of
from onmargin.models.rules import Number
from onmargin.models.several import (
    Kind,
    ModelOutcome,
    Standing,
    keep_best,
    leading_weights,
    outcomes,
    recombined,
    standing,
)

Labels = Sequence[Any] | NDArray[Any]


class Shape(NamedTuple):
    """What rows look like."""

    n_features: int
    dtype: Any
    sparse: bool


def largest_entry(X: Any) -> float:
    """Return the largest score, up to its sign, that weights on the simplex can give a row of X."""
    return float(max(X.max(), -X.min()))


@dataclass(frozen=True)
class Plan:
    """How one set of options learns, before anything is learned."""

    task: Callable[[Labels], Task]  # what an example asks of the scores, for the labels known so far
    step: Step  # how far to go; where models learn side by side, they have their own
    weights: Callable[[Shape, Kind | None, int], Geometry]  # for rows, a kind of geometry (None: the default), columns
    ensemble: Ensemble | None = None  # models that learn side by side, and how they are combined
    # The columns of so many labels as combinations of those of the known ones, given where these go; None: as before.
    columns: Callable[[Places, int], NDArray[np.float64] | None] = class_columns
    # What the column of two classes is multiplied by when a third class turns up, where the geometry decides it.
    half: Callable[[Any], float] | None = None
    dtypes: tuple[Any, ...] = (np.dtype(np.float64), np.dtype(np.float32))  # of rows; others become the first
    # What plays the rounds, if it is no plain learner; with a kernel it is made for the rows of a matrix.
    learner: Callable[[Any, Step, Geometry], Learner[Any]] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)  # options that cannot change once something was learned
    adjust: Callable[[Any], None] | None = None  # has a geometry take over options that may change as it learns
    simplex_margin: float | None = None  # the largest margin asked of weights on the simplex, which may be out of reach
    simplex_reach: Callable[[Any], float] = largest_entry  # of the rows of a matrix: the largest margin in reach
    simplex_margin_of_classes: float | None = None  # the same margin, where a threshold depends on the classes
    plain: bool = True  # whether weights are added to, and not a link of a sum
    labels_at_once: bool = False  # whether the labels of a call are all known from its first round on
    first_step: Callable[[Any], Step] | None = None  # the step by the rows of the first call, where options give none
    sized: str = ""  # why the number of features must be known at the first example, and how to avoid that
    nonnegative: str | None = None  # the error for a negative number in a row, with {} for it, if there may be none

    @property
    def names(self) -> list[str]:
        """What models side by side are called, for sparse rows; none if there is one model."""
        return [] if self.ensemble is None else [expert.name for expert in self.ensemble.sparse]


class Model(Part):
    """A plan at work: it meets labels, plays rounds and predicts.

    Parameters
    ----------
    learner : Learner
        The task, step and geometry, with the totals of the rounds so far.
    members : list of str or None, default=None
        Of models that learn side by side those that take part, by name. If None, all of them.
    fixed : dict or None, default=None
        The options that cannot change, as they were when something was first learned. If None, those of the plan that
        is followed next.
    """

    plan: Plan
    _experts: Sequence[Expert]  # of the plan, those that take part

    def __init__(
        self, learner: Learner[Any], members: list[str] | None = None, fixed: dict[str, Any] | None = None
    ) -> None:
        self.learner = learner
        self.members = members
        self.fixed = fixed

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.learner, self.members, self.fixed)

    def __copy__(self) -> Self:
        """Return a model to go on with, while this one is kept in case that fails."""
        other = type(self).__new__(type(self))
        other.__dict__ = vars(self).copy()
        other.learner = copy(self.learner)
        return other

    @classmethod
    def begin(cls, plan: Plan, shape: Shape, X: Any = None, n_columns: int = 1) -> Self:
        """Return a model that has learned nothing, for rows of that shape; a kernel is fitted to the rows of X."""
        ensemble = plan.ensemble
        members = None
        if ensemble is None:
            geometry = plan.weights(shape, None, n_columns)
        else:
            experts = ensemble.sparse if shape.sparse else ensemble.for_dense(shape.n_features)
            members = list(map(attrgetter("name"), experts)) if ensemble.retirable else None
            place = ensemble.side_by_side
            geometry = place(kinds_of(experts), 1, partial(plan.weights, shape), sparse=shape.sparse)
        make = plan.learner
        model = cls(
            Learner(Task(), plan.step, geometry) if make is None else make(X, plan.step, geometry),
            members,
            dict(plan.fixed),
        )
        model.adopt(plan)
        return model

    def adopt(self, plan: Plan) -> None:
        """Go on by another plan, which may differ in all but what is fixed."""
        if self.fixed is None:
            self.fixed = dict(plan.fixed)
        before = self.fixed
        if before != plan.fixed and (moved := [k for k, value in plan.fixed.items() if before.get(k, value) != value]):
            raise ParameterError(
                f"{', '.join(moved)} cannot change once something was learned: set it back, or fit a new model: "
                "clone(model).fit",
                moved,
            )
        self.plan = plan
        if plan.adjust is not None:
            plan.adjust(self.learner.geometry)
        experts = self.experts(plan)
        if plan.first_step is None:
            self.learner.step = steps_of(experts) if experts else plan.step
        self._experts = experts

    def arrange(self, labels: Labels = ()) -> None:
        """Take over the task of the plan, for the labels known now."""
        judge, ensemble = self.plan.task(labels), self.plan.ensemble
        if ensemble is None:
            self.learner.task = judge
            return
        self.learner.task = ensemble.combination(
            self.learner.geometry,
            ensemble.tasks(len(labels), judge, self._experts),
            judge,
            self.learner.task,
            width=len(labels) if len(labels) > 2 else 1,
            hedge=ensemble.hedge,
            by_loss=ensemble.by_loss,
            **({"from_first": True} if ensemble.from_first else {}),
        )

    def experts(self, plan: Plan) -> Sequence[Expert]:
        """Return the models that learn side by side."""
        ensemble = plan.ensemble
        if ensemble is None:
            return ()
        if self.members is None and not ensemble.experts.unnamed:
            return ensemble.sparse
        return list(map(ensemble.by_name().__getitem__, self.members or ensemble.experts.unnamed))

    def meet(self, places: Places, n_labels: int) -> None:
        """Make room for `n_labels` labels, of which those known so far go to `places`.

        Margins between known labels stay as they are. Weights on the simplex are distributed again: there the order of
        the scores stays, and no more.
        """
        known, half = len(places), self.plan.half
        if half is not None and known == 2 < n_labels:
            mixing = class_columns(places, n_labels, half(self.learner.geometry))
        else:
            mixing = self.plan.columns(places, n_labels)
        if mixing is None:
            return
        if self.plan.ensemble is None:
            self.learner.recombine(mixing)
        else:
            self.learner.geometry = recombined(self.learner.geometry, known if known > 2 else 1, mixing)

    @property
    def combined(self) -> Several | None:
        """The task that combines models side by side, if there are any."""
        task = self.learner.task
        return task if isinstance(task, Several) else None

    @property
    def judge(self) -> Task:
        """The task that predictions are judged by."""
        combined = self.combined
        return self.learner.task if combined is None else combined.judge

    def scores(self, rows: Rows) -> NDArray[np.float64]:
        """Return the scores that predict, rows by columns."""
        scores, combined = self.learner.scores(rows), self.combined
        return scores if combined is None else combined.combine(scores)

    def mean(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the weights that predict, columns by features, and the intercepts; of several models the leader's.

        If that is curved, it is the linear one that has lost least.
        """
        combined = self.combined
        if combined is not None:
            return leading_weights(combined, self.learner.geometry)
        mean: tuple[NDArray[Any], NDArray[np.float64]] = self.learner.geometry.mean()
        return mean

    def outcomes(self, plan: Plan) -> list[ModelOutcome]:
        """Return how each of the models side by side does, named as by `standing`; none if there is one model."""
        combined = self.combined
        experts = self.experts(getattr(self, "plan", plan))
        return [] if combined is None else outcomes(combined, [expert.name for expert in experts])

    def standing(self, plan: Plan) -> Standing:
        """Return how models side by side stand; they are those of the last plan they learned by, if they did."""
        plan = getattr(self, "plan", plan)
        combined = self.combined
        if combined is None:
            raise AttributeError("there is one model only")
        return standing(combined, self.learner.geometry, [expert.name for expert in self.experts(plan)])

    def retire(self, plan: Plan, keep: Any) -> None:
        """Go on with the `keep` models that have lost least; averages and what they are of stay together."""
        experts = self.experts(plan)
        rule = Number(1, len(experts), whole=True)
        if not rule.accepts(keep):
            raise ValueError(f"keep must be {rule}; got {keep!r:.100}")
        self.members = [experts[m].name for m in keep_best(self.learner, int(keep))]
        self.learner.step = steps_of(self.experts(plan))
