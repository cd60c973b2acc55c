"""Automatic model selection: experts of several families learn side by side, and are combined by their records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Regression
from onmargin.models import options as shared
from onmargin.models.experts import CLASSIFIERS, REGRESSORS, Ensemble, class_tasks, same_task
from onmargin.models.linear import weights
from onmargin.models.options import option
from onmargin.models.plan import Plan
from onmargin.models.rules import CLASS_FACTORS, NOTHING, Word
from onmargin.models.updates import class_task


@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifierOptions:
    """The options of automatic selection for classes, in every face."""

    combine: str = shared.combine("hedge")
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = option(None, NOTHING, Word("balanced"), CLASS_FACTORS)

    def plan(self) -> Plan:
        """Return how these options learn."""
        return Plan(
            task=lambda labels: class_task(len(labels), update="max", strategy="joint", margin=1.0),
            step=Step(),
            weights=weights(self, Euclidean),
            ensemble=Ensemble(*CLASSIFIERS, class_tasks, hedge=self.combine == "hedge", by_loss=False, retirable=True),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressorOptions:
    """The options of automatic selection for numbers, in every face."""

    combine: str = shared.combine("hedge")
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()

    def plan(self) -> Plan:
        """Return how these options learn."""
        return Plan(
            task=lambda labels: Regression(0.0),
            step=Step(),
            weights=weights(self, Euclidean),
            ensemble=Ensemble(*REGRESSORS, same_task, hedge=self.combine == "hedge", by_loss=True, retirable=True),
        )
