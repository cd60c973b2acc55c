"""The experts of the learners that choose for themselves."""

from collections.abc import Callable
from functools import partial
from statistics import NormalDist
from typing import NamedTuple

from onmargin._core.geometry import Euclidean
from onmargin._core.geometry_adaptive import Adaptive, Normalized
from onmargin._core.geometry_confidence import Confidence
from onmargin._core.step import Projection, Step
from onmargin._core.step_confidence import Confident, Regularized
from onmargin._core.step_single import Constant, Proportional
from onmargin._core.task import Binary, OneVsRest, Task
from onmargin._core.task_softmax import Softmax


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


def class_tasks(n_classes: int, judge: Task) -> list[Task]:
    """What each expert asks of so many classes: nothing of one."""
    if n_classes < 2:
        return [judge] * len(CLASSIFIERS)
    kind = Binary if n_classes == 2 else OneVsRest
    asks = {"margins": kind(), "sure margins": kind(eager=True), "probabilities": Softmax()}
    return [asks[expert.asks] for expert in CLASSIFIERS]
