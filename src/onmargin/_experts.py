"""The experts of the learners that choose for themselves."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

from onmargin._core.geometry import Euclidean
from onmargin._core.geometry_adaptive import Adaptive, Normalized
from onmargin._core.geometry_confidence import Confidence
from onmargin._core.step import Projection, Step
from onmargin._core.step_confidence import Confident, Regularized
from onmargin._core.step_several import Steps
from onmargin._core.step_single import Constant, Proportional
from onmargin._core.task import Binary, OneVsRest, Task
from onmargin._core.task_softmax import Softmax
from onmargin._parameters import Number
from onmargin._several import without_laggards


class Expert(NamedTuple):
    """A model: what it is called, how its weights move, what it asks (a word for its task), how far it goes."""

    name: str
    kind: Callable[..., Euclidean]
    asks: str
    step: Step


_FORGETFUL = partial(Confidence, forgetting=0.1)

# In the order in which columns of different kinds lie together (see geometry_mixed.pyx).
CLASSIFIERS = (
    Expert("adaptive", Adaptive, "margins", Projection(cap=10.0)),
    Expert("adaptive, hinge descent", Adaptive, "margins", Constant(1.0)),
    Expert("adaptive, logistic descent", Adaptive, "probabilities", Proportional(0.3)),
    Expert("normalized", Normalized, "margins", Projection(cap=0.4)),
    Expert("AROW", Confidence, "margins", Regularized(1.0)),
    Expert("SCW", Confidence, "sure margins", Confident(0.1, NormalDist().inv_cdf(0.9))),
    Expert("AROW that forgets", _FORGETFUL, "margins", Regularized(0.1)),
)
REGRESSORS = (
    Expert("adaptive", Adaptive, "numbers", Projection(damping=1.0)),
    Expert("normalized", Normalized, "numbers", Projection(damping=1.0)),
    Expert("AROW, r=1", Confidence, "numbers", Regularized(1.0)),
    Expert("AROW, r=10", Confidence, "numbers", Regularized(10.0)),
    Expert("AROW, r=0.01", Confidence, "numbers", Regularized(0.01)),
    Expert("AROW that forgets", _FORGETFUL, "numbers", Regularized(0.1)),
)


def kept_of(model: Any) -> tuple[Expert, ...]:
    """The experts of a model that were not retired."""
    experts: tuple[Expert, ...] = model._experts
    return tuple(experts[m] for m in vars(model).get("_kept", range(len(experts))))


def steps_of(model: Any) -> Steps:
    """How far each of them goes."""
    return Steps([expert.step for expert in kept_of(model)])


def retire(model: Any, keep: Any) -> None:
    """Leave a model the experts that have lost least, `keep` of them."""
    before = vars(model).get("_kept", range(len(model._experts)))
    rule = Number(1, len(before), whole=True)
    if not rule.accepts(keep):
        raise ValueError(f"keep must be {rule}; got {keep!r:.100}")
    model._kept = [before[m] for m in without_laggards(model._learner, int(keep))]
    model._learner.step = steps_of(model)


def class_tasks(n_classes: int, judge: Task, experts: Sequence[Expert]) -> list[Task]:
    """What each expert asks of so many classes: nothing of one."""
    if n_classes < 2:
        return [judge] * len(experts)
    kind = Binary if n_classes == 2 else OneVsRest
    asks = {"margins": kind(), "sure margins": kind(eager=True), "probabilities": Softmax()}
    return [asks[expert.asks] for expert in experts]
