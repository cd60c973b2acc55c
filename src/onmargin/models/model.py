"""Models: a model carries out a plan. It adds labels, runs rounds and predicts, independent of the interface."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from math import inf
from operator import attrgetter
from sys import maxsize
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.calibration import Calibration
from onmargin._core.geometries.geometry import ColumnMap, Geometry
from onmargin._core.geometries.ranked import Ranked
from onmargin._core.geometries.standardized import StandardizedEntries
from onmargin._core.rows import Rows
from onmargin._core.several.tasks import ExpertVote
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin._parts import Part, take_apart
from onmargin._warnings import warn_caller
from onmargin.errors import ParameterError
from onmargin.learner import Decode, Learner
from onmargin.models.columns import Places
from onmargin.models.ensemble import find_members, find_voters, keep_best, keep_some, recombine_models
from onmargin.models.expert_results import (
    ExpertResults,
    ModelOutcome,
    find_leading_linear,
    find_leading_weights,
    outcomes,
    read_results,
)
from onmargin.models.experts import Expert, kinds_of, steps_of
from onmargin.models.labels import Labels
from onmargin.models.plan import Plan, Shape
from onmargin.models.rules import Number

# Rounds after which models with different C are expected to differ.
ROUNDS_TO_DIFFER = 20
# Rounds after which the first ones count as old.
ROUNDS_TO_FORGET = 100
# Number of first rows by which a stream is recognized.
FIRST_ROWS = 8


def begins_with(X: Any, first: Any) -> bool:
    """Return whether the rows of a matrix begin with some that are not all the same, `FIRST_ROWS` of them."""
    if not X.shape[0] >= first.shape[0] >= FIRST_ROWS:
        return False
    heads = [rows[:FIRST_ROWS].toarray() if hasattr(rows, "indptr") else rows[:FIRST_ROWS] for rows in (X, first)]
    return np.array_equal(*heads) and not (heads[0] == heads[0][0]).all()


class Model(Part):
    """A trained or untrained model of a plan: it adds labels, runs rounds and predicts.

    Parameters
    ----------
    learner : Learner
        The task, step and geometry, with the totals of the rounds so far.
    members : list of str or None, default=None
        Names of the models side by side that take part. If None, all of them do.
    fixed : dict or None, default=None
        The options that cannot change, as they were when training started. If None, those of the next plan
        are used.
    labels : Labels or None, default=None
        The labels known so far. If None, there are none.
    fitted : bool, default=False
        Whether passes over data are over: learning then goes on from the averaged weights, with a new average.
    """

    plan: Plan
    _experts: Sequence[Expert] = ()  # the experts of the plan that take part
    max_names: int = maxsize  # the number of names up to which all of them do
    max_classes: float = inf  # and the number of classes
    in_order = False  # whether it was last fitted to data in their order, not trained on a stream
    # The options that the plan was made of, and their values, if these cannot change in place.
    options: tuple[Any, ...] | None = None
    last_task: tuple[Plan | None, list[Any] | None, Task | None] = (None, None, None)  # with its plan and labels
    warned = False  # whether the warning about a forgetting leader was issued
    first_rows: Any = None  # the first rows of the stream, to recognize them in predictions

    def __init__(
        self,
        learner: Learner[Any],
        members: list[str] | None = None,
        fixed: dict[str, Any] | None = None,
        labels: Labels | None = None,
        fitted: bool = False,
    ) -> None:
        self.learner = learner
        self.members = members
        self.fixed = fixed
        self.labels = Labels() if labels is None else labels
        self.fitted = fitted

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.learner, self.members, self.fixed, self.labels, *([True] if self.fitted else []))

    def __copy__(self) -> Self:
        """Return a model with its own learner, totals and, if the learner forks, weights."""
        other = type(self).__new__(type(self))
        other.__dict__ = vars(self) | {"learner": copy(self.learner)}
        return other

    @classmethod
    def begin(
        cls,
        plan: Plan,
        shape: Shape,
        X: Any = None,
        n_columns: int = 1,
        members: Sequence[str] | None = None,
        *,
        known: NDArray[Any] | Sequence[Any] = (),
    ) -> Self:
        """Return a model that has learned nothing, for rows of that shape; a kernel is fitted to the rows of X.

        `members` are the models side by side that take part. If None, all of them do. `known` are labels that have
        columns from the start.
        """
        ensemble = plan.ensemble
        if ensemble is None:
            members = None
            geometry = plan.weights(shape, None, n_columns)
        else:
            experts: Sequence[Expert]
            if shape.entries:
                experts = ensemble.for_records(shape.entries)
            else:
                experts = ensemble.sparse if shape.sparse else ensemble.for_dense(shape.n_features)
            if members is not None:
                experts = list(map(ensemble.by_name().__getitem__, members))
            members = list(map(attrgetter("name"), experts)) if ensemble.retirable else None
            place = ensemble.side_by_side
            kinds = kinds_of(experts, shape.entries)
            geometry = place(kinds, 1, partial(plan.weights, shape), sparse=shape.sparse)
        make, step = plan.learner, plan.step if isinstance(plan.step, Step) else Step()
        model = cls(
            Learner(Task(), step, geometry) if make is None else make(X, step, geometry),
            members,
            dict(plan.fixed),
            Labels(known, signed=plan.classes.calibrated, waits=not geometry.symmetric),
        )
        if plan.classes.calibrated:
            model.learner._totals.calibration = Calibration()
        model.use_plan(plan)
        return model

    def go_on(self) -> None:
        """Continue from the averaged weights, with a new average, if passes over data are over.

        An average over these passes would hide what is learned from now on.
        """
        if self.fitted:
            self.learner.geometry = self.learner.geometry.restarted()
            self.fitted = False

    def for_prediction(self) -> Self:
        """Return a copy that predicts only: without experts of few votes, rates of learning and sums of averages."""
        other = copy(self)
        other.fitted = False
        combined = other.combined
        if combined is not None and other.members is not None:
            other._keep(find_voters(combined, other.learner.geometry))
        other.learner.geometry = other.learner.geometry.for_prediction()
        other.learner._totals.predict_only = True
        return other

    def check_fixed(self, plan: Plan) -> None:
        """Refuse another plan that differs in what is fixed."""
        before = plan.fixed if self.fixed is None else self.fixed
        if before != plan.fixed and (moved := [k for k, value in plan.fixed.items() if before.get(k, value) != value]):
            raise ParameterError(
                f"{', '.join(moved)} cannot change after training has started: set it back, or fit a new model: "
                "clone(model).fit",
                moved,
            )

    def use_plan(self, plan: Plan) -> None:
        """Continue with another plan, which may differ in everything except the fixed options."""
        self.check_fixed(plan)
        if self.fixed is None:
            self.fixed = dict(plan.fixed)
        if plan.adjust is not None:
            plan.adjust(self.learner.geometry)
        if plan.ensemble is not None and self.members is not None and plan is not getattr(self, "plan", plan):
            known = plan.ensemble.by_name()
            self._keep([name in known for name in self.members])
        experts = self.experts(plan)
        if experts != self._experts:
            self._take_part(experts)
        if isinstance(plan.step, Step):
            self.learner.step = steps_of(experts) if experts else plan.step
        self.plan = plan  # last, so that the rest is complete even after an interrupt

    def check(
        self, plan: Plan, n_columns: int = 1, add_labels: Callable[[Self, list[Any]], None] | None = None
    ) -> None:
        """Refuse parts, as a file may name them, that a plan would not have made for these labels.

        A step and a task of another kind are replaced by those of the plan, as in further training:
        parameters may have changed since. `add_labels` makes room for the labels in an untrained model, if
        `Model.add_labels` does not.
        """
        learner = self.learner
        learner.check()
        if not isinstance(self.labels, Labels):
            raise ValueError(f"the labels of a model are a {type(self.labels).__name__}")
        if not isinstance(self.fitted, bool):
            raise ValueError(f"fitted must be True or False; got {self.fitted!r:.60}")
        labels = self.labels.known
        known = () if plan.ensemble is None else [*plan.ensemble.by_name()]
        if self.members is not None and (len(set(self.members)) < len(self.members) or set(self.members) - set(known)):
            raise ValueError(f"members are not models of these parameters, each named once: {self.members!r:.200}")
        step, task = learner.step, learner.task
        self.use_plan(plan)
        if not isinstance(plan.step, Step) and not isinstance(step, type(plan.step(np.ones((1, 1))))):
            raise ValueError(f"these parameters do not use a {type(step).__name__}")
        if _is_same_kind(step, learner.step):
            learner.step = step
        for sparse in (True, False):
            twin = self._like(plan, sparse=sparse, n_columns=n_columns)
            (type(self).add_labels if add_labels is None else add_labels)(twin, labels)
            if _alike(twin.learner.geometry, learner.geometry) and type(twin.learner) is type(learner):
                break
        else:
            raise ValueError(
                f"a {type(learner).__name__} with {_describe(learner.geometry)} is not what its parameters make for "
                f"{len(labels)} labels, but a {type(twin.learner).__name__} with {_describe(twin.learner.geometry)}"
            )
        twin.learner.check_like(learner)
        if (twin.labels.signed, twin.labels.waits) != (self.labels.signed, self.labels.waits):
            raise ValueError("the labels are not those of a model with these parameters")
        if type(task) is not Task:  # an untrained model has no learner
            self.set_task()
            if _is_same_kind(task, learner.task):
                learner.task = task
        self._check_calibration(plan)

    def _check_calibration(self, plan: Plan) -> None:
        """Refuse a calibration of other classes."""
        calibration, n_classes = self.learner._totals.calibration, self.labels.n_classes
        found = None if calibration is None else calibration.n_classes
        if found != (n_classes if plan.classes.calibrated else None):
            raise ValueError(f"probabilities are those of {found} classes, and there are {n_classes}")

    def _like(self, plan: Plan, *, sparse: bool, n_columns: int) -> Self:
        """Return a model of the same sizes that has learned nothing."""
        geometry = self.learner.geometry
        shape = Shape(geometry.n_features, geometry.dtype, sparse)
        members = None if plan.ensemble is None else [expert.name for expert in self._experts]
        return type(self).begin(plan, shape, self.learner.example(), n_columns, members)

    def set_task(self) -> None:
        """Set the task of the plan for the labels known now."""
        plan, ensemble, labels, (before, known, task) = self.plan, self.plan.ensemble, self.labels, self.last_task
        if plan is before and labels.known is known and task is self.learner.task:
            return
        judge = plan.task(labels.of_task)
        if ensemble is None:
            self.learner.task = judge
            self.last_task = plan, labels.known, judge
            return
        n_classes = labels.n_classes
        self.learner.task = ensemble.combination(
            self.learner.geometry,
            ensemble.tasks(n_classes, judge, self._experts),
            judge,
            self.learner.task,
            width=n_classes if n_classes > 2 else 1,
            hedge=ensemble.hedge,
            by_loss=ensemble.by_loss,
            **({"from_first": True} if ensemble.from_first else {}),
            **({"tempered": True} if ensemble.tempered else {}),
            **({"units": ensemble.units} if ensemble.units else {}),
            **({"sleeping": True} if ensemble.sleeping else {}),
        )

    def experts(self, plan: Plan) -> Sequence[Expert]:
        """Return the models that learn side by side."""
        ensemble = plan.ensemble
        if ensemble is None:
            return ()
        if self.members is None:
            return ensemble.sparse
        return list(map(ensemble.by_name().__getitem__, self.members))

    def add_labels(self, new: NDArray[Any] | Iterable[Any]) -> None:
        """Add labels, and make room for them.

        Margins between known labels do not change. Weights on the simplex are redistributed, so that only the order of
        the scores is kept.
        """
        before = self.labels
        labels, places = before.with_new(new)
        if len(labels.known) == len(before.known):
            return
        if before.n_classes > len(before.known):  # the first new label is the second class, which had no name
            places = [*places, 0 if places[0] else 1]
        self._make_room(places, labels.n_classes)
        if labels.n_classes > len(labels.known):
            self.learner._totals.calibration.reflect()
        self.labels = labels

    def check_room(self, labels: NDArray[Any]) -> None:
        """Refuse labels for which the weights of two classes cannot make room."""
        n_labels = len({*self.labels.known, *labels.tolist()})
        if self.labels.n_classes <= 2 < n_labels:
            self.plan.classes.columns(range(2), n_labels, self.learner.geometry)

    def _make_room(self, places: Places, n_classes: int) -> None:
        """Make room for this many classes, of which those known so far go to `places`."""
        if n_classes > self.max_classes:
            self._keep([n_classes <= expert.weights.most_classes for expert in self._experts])
        known, geometry = len(places), self.learner.geometry
        if known == n_classes == 2:
            # If the first class is the second now, the signs of weights change.
            column_map = None if places[0] == 0 else ColumnMap(np.zeros(1, np.intp), np.array([-1.0]))
        else:
            column_map = self.plan.classes.columns(places, n_classes, geometry)
        totals = self.learner._totals
        if totals.calibration is not None:
            # The difference of the scores of two classes is now 2 * half times the old single score.
            stretch = 2.0 * column_map.factor[places[1]] if column_map is not None and known == 2 < n_classes else 1.0
            self.learner._totals = totals.add_classes(places, n_classes, stretch)
        if column_map is None:
            return
        if self.plan.ensemble is None:
            self.learner.recombine(column_map)
        else:
            self.learner.geometry = recombine_models(geometry, known if known > 2 else 1, column_map)

    @property
    def combined(self) -> ExpertVote | None:
        """The task that combines models side by side, if there are any."""
        task = self.learner.task
        return task if isinstance(task, ExpertVote) else None

    @property
    def judge(self) -> Task:
        """The task that predictions are evaluated by."""
        combined = self.combined
        return self.learner.task if combined is None else combined.judge

    def scores(
        self, rows: Rows, *, n_jobs: int | None = 1, guarded: bool = False, decode: Decode | None = None
    ) -> NDArray[Any]:
        """Return the scores that predict, rows by columns; with `decode`, what it makes of them.

        Up to `n_jobs` threads score and decode. With `guarded`, X was not checked, and the learner must guard.
        """
        combined = self.combined
        if combined is not None:
            combine, rest = combined.combine, decode
            decode = combine if rest is None else lambda scores: rest(combine(scores))
        return self.learner.scores(rows, n_jobs=n_jobs, guarded=guarded, decode=decode)

    @property
    def calibration(self) -> Calibration:
        """The calibration of the probabilities of classes, once it has learned something."""
        calibration = self.learner._totals.calibration
        if calibration is None or (calibration.n_classes > 1 and not calibration.judged):
            raise ValueError(
                "this model has no probabilities yet: it was fitted with selection='largest', which does not take the "
                "examples in turn. Call partial_fit or learn_one with a few hundred more examples first"
            )
        return calibration

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of classes from the scores of all models, rows by columns."""
        if len(self.labels) == 1:
            return np.ones((len(scores), 1))
        return self.calibration.probabilities(self.learner.task, scores)

    def mean(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the weights that predict, columns by features, and the intercepts; of several models the leader's.

        If that is nonlinear, the best linear one is returned.
        """
        combined = self.combined
        if combined is not None:
            return find_leading_weights(combined, self.learner.geometry)
        mean: tuple[NDArray[Any], NDArray[np.float64]] = self.learner.geometry.mean()
        return mean

    def filling(self) -> NDArray[np.float64]:
        """Return what features count as where a row lacks them, by the weights of `mean`."""
        combined = self.combined
        if combined is None or not self.is_table:
            return np.zeros(self.learner.geometry.n_features)
        return find_leading_linear(combined, self.learner.geometry).filling()

    def outcomes(self, plan: Plan) -> list[ModelOutcome]:
        """Return the outcome of each model trained side by side, named as by `expert_results`; empty for one model."""
        combined = self.combined
        experts = self.experts(getattr(self, "plan", plan))
        return [] if combined is None else outcomes(combined, [expert.name for expert in experts])

    def expert_results(self, plan: Plan) -> ExpertResults:
        """Return the results of models side by side, with the names of the last plan they were trained with."""
        plan = getattr(self, "plan", plan)
        if self.combined is None:
            raise AttributeError("there is only one model")
        experts = self.experts(plan)
        n_classes, every = self.labels.n_classes, {} if plan.ensemble is None else plan.ensemble.by_name()
        too_many = [name for name, expert in every.items() if n_classes > expert.weights.most_classes]
        return read_results(
            self.learner,
            [expert.name for expert in experts],
            [expert.forgets for expert in experts],
            f"left out with {n_classes} classes: {'; '.join(too_many)}" if too_many else "",
        )

    @property
    def is_table(self) -> bool:
        """Whether rows may be records of a table, in which zeros are values and absent entries are missing."""
        leaves = self.learner.geometry.leaves()
        return any(type(leaf) is StandardizedEntries or (type(leaf) is Ranked and leaf.sparse) for leaf in leaves)

    def _take_part(self, experts: Sequence[Expert]) -> None:
        """Set the experts that take part, and the numbers of names (unless none would be left) and classes for all."""
        limits = sorted([expert.max_names for expert in experts])
        self.max_names = int(limits[0]) if limits and limits[0] < limits[-1] else maxsize
        self.max_classes = min(map(attrgetter("weights.most_classes"), experts), default=inf)
        self._experts = experts

    def _keep(self, stays: list[bool]) -> None:
        """Keep some of the experts; all of them if none would be left. Nothing changes if an error is raised."""
        if not any(stays) or all(stays):
            return
        learner = copy(self.learner)
        experts = [self._experts[m] for m in keep_some(learner, stays)]
        learner.step = steps_of(experts)
        self.learner.__dict__ = vars(learner)
        self.members = [expert.name for expert in experts]
        self._take_part(experts)

    def widen(self, n_features: int) -> None:
        """Make room for this many features, at least twice as many as before; drop experts for fewer features.

        Nothing changes if there is not enough memory.
        """
        learner, members, experts = copy(self.learner), self.members, self._experts
        stays = [n_features <= expert.max_names for expert in experts]
        if any(stays) and not all(stays):
            experts = [experts[m] for m in keep_some(learner, stays)]
            members, learner.step = [expert.name for expert in experts], steps_of(experts)
        geometry = learner.geometry
        if n_features > geometry.n_features:
            learner.geometry = geometry.resize(geometry.room(n_features))
        self.learner.__dict__ = vars(learner)
        self.members = members
        self._take_part(experts)

    def warn_if_forgetful(self, X: Any) -> None:
        """Warn once if the rows to predict are old and the leading expert forgets early examples.

        They are if data were fitted in their order, or if they begin with the first rows of a stream that has continued
        since.
        """
        combined = self.combined
        if self.warned or combined is None:
            return
        long = self.learner._totals.rounds >= ROUNDS_TO_FORGET
        if not self.in_order and not (long and self.first_rows is not None and begins_with(X, self.first_rows)):
            return
        leader = self._experts[combined.leader]
        forgot = leader.forgets and find_members(self.learner.geometry, combined.width)[combined.leader].forgot
        if forgot and "drift" in (self.fixed or {}):
            self.warned = True
            warn_caller(
                f"the expert that leads, {leader.name!r}, forgets: it suits the examples learned last, and may be "
                "wrong on others. Fit with shuffle=True or drift=False if their order means nothing. experts_.forgets "
                "has those that do.",
                UserWarning,
            )

    def warn_if_alike(self) -> None:
        """Warn if all values of C made the same predictions so far."""
        combined = self.combined
        if combined is None or self.learner._totals.rounds < ROUNDS_TO_DIFFER:
            return
        outcomes = combined.state()["outcomes"]
        if len(outcomes) > 1 and outcomes[0].any() and (outcomes == outcomes[0]).all():
            warn_caller(
                f"all {len(outcomes)} values of C behaved the same: they are too large to limit a step on these rows, "
                "or too small to tell apart. Try other values; for rows C='auto' is in units of the rows.",
                UserWarning,
            )

    def retire(self, plan: Plan, keep: Any) -> None:
        """Continue with the best `keep` models; averages stay together with their weights."""
        experts = self.experts(plan)
        rule = Number(1, len(experts), whole=True)
        if not rule.accepts(keep):
            raise ValueError(f"keep must be {rule}; got {keep!r:.100}")
        self.members = [experts[m].name for m in keep_best(self.learner, int(keep))]
        self._take_part(self.experts(plan))
        self.learner.step = steps_of(self._experts)


def check_begun(face: Any, fresh: Any) -> Model | None:
    """Return the model of an estimator or stream learner; None if it is untrained, like `fresh`."""
    if "_model" not in vars(face):
        own = vars(fresh)
        more = [name for name, v in vars(face).items() if not (name in own and (own[name] is v or own[name] == v))]
        if more:
            raise ValueError(f"nothing was learned, but there is {', '.join(more)}")
        return None
    if not isinstance(face._model, Model):
        raise ValueError(f"its model is a {type(face._model).__name__}")
    return face._model


def _alike(one: Geometry, other: Geometry) -> bool:
    """Return whether two geometries are of one kind and size, and so are those that they are made of."""
    if type(one) is not type(other) or _sizes(one) != _sizes(other):
        return False
    inner, others = list(_inner(one)), list(_inner(other))
    return len(inner) == len(others) and all(map(_alike, inner, others))


def _is_same_kind(one: Any, other: Any) -> bool:
    """Return whether two values, such as parts, are equal except for measured numbers."""
    if isinstance(one, Part | Task | Step):
        return type(one) is type(other) and _is_same_kind(take_apart(one)[1:3], take_apart(other)[1:3])
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(_is_same_kind, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_is_same_kind(value, other[name]) for name, value in one.items())
    if isinstance(one, np.ndarray):
        same = type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape
        return same and (one.dtype.kind == "f" or np.array_equal(one, other))
    return type(one) is type(other) and (isinstance(one, float | bool) or one == other)


def _sizes(geometry: Geometry) -> tuple[Any, ...]:
    return geometry.n_features, geometry.n_columns, geometry.n_scores, geometry.dtype


def _inner(geometry: Geometry) -> Iterator[Geometry]:
    """Yield the geometries that one is made of; pairs of pairs, which may be nested in any way, by their leaves."""
    leaves = geometry.leaves()
    if leaves[0] is not geometry:
        yield from leaves
    else:
        yield from (part for part in take_apart(geometry).arguments if isinstance(part, Geometry))


def _describe(geometry: Geometry) -> str:
    """Return the kind and size of a geometry, as errors show them."""
    kinds = ", ".join(map(_describe, _inner(geometry)))
    return f"{type(geometry).__name__}({kinds or f'{geometry.n_features} features, {geometry.n_columns} columns'})"
