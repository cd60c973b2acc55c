"""The experts of the learners that choose for themselves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from statistics import NormalDist
from typing import Any, NamedTuple

from onmargin._core.geometries.diagonal import Adaptive, Confidence, Normalized
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.geometries.standardized import Standardized
from onmargin._core.several.steps import Projections, Steps
from onmargin._core.steps.step import Confident, Constant, Projection, Proportional, Regularized, Step
from onmargin._core.tasks.task import Binary, OneVsRest, Softmax, Task
from onmargin.models.several import Kind, abreast, combination, side_by_side, with_average


class Expert(NamedTuple):
    """A model: what it is called, how its weights move, what it asks (a word for its task), how far it goes.

    It may learn from standardized rows. One that is averaged learns nothing: it is the averages of the one before it.
    """

    name: str
    kind: Kind
    asks: str
    step: Step
    standardized: bool = False
    averaged: bool = False

    def on_standardized(self) -> "Expert":
        return self._replace(name=f"{self.name}, standardized", standardized=True)

    def in_the_mean(self) -> "Expert":
        return self._replace(name=f"{self.name}, averaged", step=Step(), averaged=True)


class Experts(NamedTuple):
    """Those for sparse rows, and those for dense ones."""

    sparse: tuple[Expert, ...]
    dense: tuple[Expert, ...]


_FORGETFUL = partial(Confidence, forgetting=0.1)

_ADAPTIVE = Expert("adaptive", Adaptive, "margins", Projection(cap=10.0))
_HINGE = Expert("adaptive, hinge descent", Adaptive, "margins", Constant(1.0))
_LOGISTIC = Expert("adaptive, logistic descent", Adaptive, "probabilities", Proportional(0.3))
_NORMALIZED = Expert("normalized", Normalized, "margins", Projection(cap=0.4))
_AROW = Expert("AROW", Confidence, "margins", Regularized(1.0))
_SCW = Expert("SCW", Confidence, "sure margins", Confident(0.1, NormalDist().inv_cdf(0.9)))
_TRACKER = Expert("AROW that forgets", _FORGETFUL, "margins", Regularized(0.01))

# Sparse ones in the order in which columns of different kinds lie together (see several/packed.pyx), dense ones with
# those on standardized rows last. Means of dense columns may be far from zero, which costs every family dearly; but
# what drifts, or is seldom other than zero, is better left as it comes.
CLASSIFIERS = Experts(
    sparse=(_ADAPTIVE, _HINGE, _LOGISTIC, _NORMALIZED, _AROW, _SCW, _TRACKER),
    dense=(
        _ADAPTIVE,
        _NORMALIZED,
        _LOGISTIC,
        _SCW,
        _TRACKER,
        _LOGISTIC.on_standardized(),
        _AROW.on_standardized(),
        _AROW.on_standardized().in_the_mean(),
        _SCW.on_standardized(),
        _TRACKER.on_standardized(),
        _TRACKER.on_standardized().in_the_mean(),
    ),
)

_ADAPTIVE_PA = Expert("adaptive", Adaptive, "numbers", Projection(damping=1.0))
_NORMALIZED_PA = Expert("normalized", Normalized, "numbers", Projection(damping=1.0))
_FREE, _USUAL, _CAUTIOUS = (Expert(f"AROW, r={r:g}", Confidence, "numbers", Regularized(r)) for r in (0.01, 1.0, 10.0))
_FOLLOWER = Expert("AROW that forgets", _FORGETFUL, "numbers", Regularized(0.1))

REGRESSORS = Experts(
    sparse=(_ADAPTIVE_PA, _NORMALIZED_PA, _USUAL, _CAUTIOUS, _FREE, _FOLLOWER),
    dense=(
        _NORMALIZED_PA,
        _FREE,
        _FOLLOWER,
        _ADAPTIVE_PA.on_standardized(),
        _ADAPTIVE_PA.on_standardized().in_the_mean(),
        _NORMALIZED_PA.on_standardized(),
        _USUAL.on_standardized(),
        _FREE.on_standardized(),
    ),
)


def kinds_of(experts: Sequence[Expert]) -> list[Kind]:
    """Return what makes their geometries: one for each, but for averages, and one for all on standardized rows."""
    plain: list[Kind] = []
    units: list[Kind] = []
    for expert, follower in zip(experts, [*experts[1:], None], strict=True):
        if not expert.averaged:
            averaged = follower is not None and follower.averaged
            kind = partial(with_average, expert.kind) if averaged else expert.kind
            (units if expert.standardized else plain).append(kind)
    return [*plain, partial(_on_standardized, units)] if units else plain


def _on_standardized(kinds: list[Kind], *sizes: Any, **settings: Any) -> Geometry:
    return Standardized(abreast([kind(*sizes, **settings) for kind in kinds]))


def steps_of(experts: Sequence[Expert]) -> Step:
    """Return how far each of them goes; plain projections are worked out together."""
    steps = list(map(attrgetter("step"), experts))
    plain = [step for step in steps if type(step) is Projection]
    if len(plain) == len(steps):
        return Projections([step.cap for step in plain], [step.damping for step in plain])
    return Steps(steps)


def class_tasks(n_classes: int, judge: Task, experts: Sequence[Expert]) -> list[Task]:
    """Return what each expert asks of so many classes: nothing of one."""
    if n_classes < 2:
        return [judge] * len(experts)
    kind = Binary if n_classes == 2 else OneVsRest
    asks = {"margins": kind(), "sure margins": kind(eager=True), "probabilities": Softmax()}
    return list(map(asks.__getitem__, map(attrgetter("asks"), experts)))


def same_task(n_classes: int, judge: Task, experts: Sequence[Expert]) -> list[Task]:
    """Return the task of the prediction for each expert."""
    return [judge] * len(experts)


@dataclass(frozen=True)
class Ensemble:
    """Models that learn side by side from the same rows, and how they are combined."""

    sparse: tuple[Expert, ...]
    dense: tuple[Expert, ...]
    tasks: Callable[[int, Task, Sequence[Expert]], list[Task]]  # of so many classes, judged by a task
    hedge: bool  # by a vote, instead of following the leader
    by_loss: bool  # judged by their losses instead of their mistakes
    retirable: bool = False  # some may be left out as the stream goes on
    side_by_side: Callable[..., Geometry] = side_by_side  # how their weights lie
    combination: Callable[..., Task] = combination  # the task that plays all of theirs

    def by_name(self) -> dict[str, Expert]:
        """Return all models by their names."""
        return {expert.name: expert for expert in (*self.sparse, *self.dense)}
