"""Learners with per-weight rates, in the core and in the NumPy reference, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin import reference
from onmargin._core.geometries.diagonal import Adaptive, Confidence, Normalized
from onmargin._core.steps.step import Confident, Herding, Projection, Regularized, Step
from onmargin._core.tasks.task import Binary, Multiclass, OneVsRest, Regression, Task
from onmargin.learner import Learner, as_rows
from tests.streams import EPSILON, TASKS, Stream

EAGER: dict[str, Task] = {
    "binary": Binary(eager=True),
    "multiclass": Multiclass(eager=True),
    "one_vs_rest": OneVsRest(eager=True),
    "regression": Regression(EPSILON),
}


@dataclass(frozen=True)
class Rule:
    """A step and a geometry, in the core and in the NumPy reference."""

    core: Callable[..., Any]
    core_step: Step
    twin: Callable[..., Any]
    twin_step: reference.second_order.MetricStep
    state: str  # the state of the reference's metric
    eager: bool = False

    def learner(self, stream: Stream, **options: Any) -> Learner:
        task = EAGER[stream.task] if self.eager else TASKS[stream.task][0]
        geometry = self.core(stream.X.shape[1], stream.columns, stream.X.dtype, **options)
        return Learner(task, self.core_step, geometry)

    def learned(
        self, stream: Stream, *, weight: NDArray[Any] | None = None, rows: Any = None, **options: Any
    ) -> Learner:
        learner = self.learner(stream, **options)
        learner.learn(as_rows(stream.X if rows is None else rows), stream.y, weight)
        return learner

    def run(
        self, stream: Stream, *, bias: float = nan, weight: NDArray[Any] | None = None
    ) -> reference.second_order.MetricRun:
        """Run the NumPy reference in double precision, with an additional feature for the intercept."""
        live = np.ones(len(stream.y), bool) if weight is None else weight > 0
        X = reference.with_intercept(stream.X[live].astype(np.float64), None if isnan(bias) else bias)
        metric = self.twin(X.shape[1], stream.columns)
        scale = None if weight is None else weight[live]
        task = TASKS[stream.task][1]
        return reference.play_metric(
            X, stream.y[live], task, self.twin_step, metric, columns=stream.columns, weight=scale
        )


def _pa(core: Callable[..., Any], twin: Callable[..., Any], C: float, *, squared: bool = False) -> Rule:
    step = Projection(damping=1 / (2 * C)) if squared else Projection(cap=C)
    return Rule(core, step, twin, reference.projected(C, squared=squared), "squares")


_confidence = partial(Rule, Confidence)
PHI = 1.2815515655446004

RULES = {
    "adaptive, PA": _pa(Adaptive, reference.Adaptive, inf),
    "adaptive, PA-I": _pa(Adaptive, reference.Adaptive, 0.05),
    "adaptive, PA-II": _pa(Adaptive, reference.Adaptive, 0.05, squared=True),
    "normalized, PA": _pa(Normalized, reference.Normalized, inf),
    "normalized, PA-I": _pa(Normalized, reference.Normalized, 0.05),
    "AROW": _confidence(Regularized(0.3), reference.Confidence, reference.arow(0.3), "variances"),
    "AROW, forgetting": Rule(
        partial(Confidence, forgetting=0.1),
        Regularized(0.3),
        partial(reference.Confidence, forgetting=0.1),
        reference.arow(0.3),
        "variances",
    ),
    "NHERD": _confidence(Herding(0.5), reference.Confidence, reference.nherd(2.0), "variances"),
    "SCW-I": _confidence(Confident(0.5, PHI), reference.Confidence, reference.scw(0.5, PHI), "variances", eager=True),
    "SCW-II": _confidence(
        Confident(0.5, PHI, True),
        reference.Confidence,
        reference.scw(0.5, PHI, squared=True),
        "variances",
        eager=True,
    ),
}
ROOTS = [name for name, rule in RULES.items() if rule.state == "squares"]
VARIANCES = [name for name, rule in RULES.items() if rule.state == "variances"]
EVERYWHERE = [name for name, rule in RULES.items() if not rule.eager]  # SCW is for classes
