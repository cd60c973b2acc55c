"""Automatic model selection: experts of several families learn side by side and are combined by their past losses."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Regression
from onmargin.models import experts
from onmargin.models import options as shared
from onmargin.models.experts import Ensemble, Experts, class_tasks, same_task
from onmargin.models.linear import weights
from onmargin.models.plan import ClassRules, Plan
from onmargin.models.rules import FLAG, Word
from onmargin.models.updates import class_task


@cache
def _choose_experts(known: Experts, word: str, drift: bool, ordered: bool, fit_intercept: bool) -> Experts:
    """Return those of the experts that the options name."""
    chosen = known if word == "all" else known.linear()
    chosen = chosen if drift else chosen.without_forgetting()
    chosen = chosen if ordered else chosen.without_ordered()
    return chosen if fit_intercept else chosen.without_levels()


@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifierOptions:
    """Options of automatic model selection for classification, shared by all interfaces.

    Parameters
    ----------
    experts : {"all", "linear"}, default="all"
        Which experts to train. "all" are linear experts and, for dense rows of at most 1,024 features, nonlinear
        ones (on random Fourier features, on random ferns, on ranks, a forest, boosted trees, and nearest neighbors),
        which take most of the time. "linear" leaves out the nonlinear experts. On shards and with hashed names only
        the experts for sparse rows are used, which are linear.
    drift : bool, default=True
        Whether the target may drift, as on most streams: if True, some experts forget earlier examples to follow it.
        Set it to False if the order of the examples means nothing and the model must predict old and new examples
        alike.
    ordered : bool, default=True
        Whether the label of an example is known before the next one is predicted: some experts then predict from the
        last labels. Set it to False if labels arrive later, as they do in most services: these experts would be
        trusted for what they do not know yet. It may be set to False at any time, which removes them.
    sleeping : bool, default=True
        Whether to suspend experts that are so far behind that their votes currently cannot matter: they neither vote
        nor learn until the best experts have lost enough. This saves time on long streams; set it to False to train all
        experts all the time. It has an effect only with ``combine="hedge"``, and may be changed at any time.
    combine : {"hedge", "leader"}, default="hedge"
        "hedge" predicts by a weighted vote. "leader" predicts with the expert that made the fewest mistakes so far;
        `decision_function` then returns its margins.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. If "auto", it is 0.3 times the norm of the first non-zero row, then fixed;
        for experts on standardized rows, the first non-zero standardized row is used.
    """

    experts: str = shared.option("all", Word("all", "linear"))
    drift: bool = shared.option(True, FLAG)
    ordered: bool = shared.option(True, FLAG)
    sleeping: bool = shared.option(True, FLAG)
    combine: str = shared.combine("hedge")
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight(
        "the weight of examples", " An expert loses its vote by mistakes times these weights."
    )

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        return Plan(
            task=lambda labels: class_task(len(labels), update="max", strategy="joint", margin=1.0),
            step=Step(),
            weights=weights(self, Euclidean),
            ensemble=Ensemble(
                _choose_experts(experts.CLASSIFIERS, self.experts, self.drift, self.ordered, self.fit_intercept),
                class_tasks,
                hedge=self.combine == "hedge",
                by_loss=False,
                retirable=True,
                sleeping=self.sleeping,
            ),
            classes=ClassRules(calibrated=True),
            fixed={"experts": self.experts, "drift": self.drift},
        )


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressorOptions:
    """Options of automatic model selection for regression, shared by all interfaces.

    Parameters
    ----------
    experts : {"all", "linear"}, default="all"
        Which experts to train. "all" are linear experts and, for dense rows of at most 1,024 features, nonlinear ones
        (on random Fourier features, a forest, boosted trees, and nearest neighbors), which take most of the time.
        "linear" leaves out the nonlinear experts. On shards and with hashed names only the experts for sparse rows are
        used, which are linear.
    drift : bool, default=True
        Whether the target may drift, as on most streams: if True, some experts forget earlier examples to follow it.
        Set it to False if the order of the examples means nothing and the model must predict old and new examples
        alike.
    ordered : bool, default=True
        Whether the target of an example is known before the next one is predicted: some experts then predict from the
        last targets. Set it to False if targets arrive later, as they do in most services: these experts would be
        trusted for what they do not know yet. It may be set to False at any time, which removes them.
    sleeping : bool, default=True
        Whether to suspend experts that are so far behind that their votes currently cannot matter: they neither vote
        nor learn until the best experts have lost enough. This saves time on long streams; set it to False to train all
        experts all the time. It has an effect only with ``combine="hedge"``, and may be changed at any time.
    combine : {"hedge", "leader"}, default="hedge"
        "hedge" predicts the weighted mean of the experts, "leader" predicts with the expert of smallest error so far.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. If "auto", it is 0.3 times the norm of the first non-zero row, then fixed;
        for experts on standardized rows, the first non-zero standardized row is used.
    """

    experts: str = shared.option("all", Word("all", "linear"))
    drift: bool = shared.option(True, FLAG)
    ordered: bool = shared.option(True, FLAG)
    sleeping: bool = shared.option(True, FLAG)
    combine: str = shared.combine("hedge")
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()

    def plan(self) -> Plan:
        """Return the learning plan of these options."""
        return Plan(
            task=lambda labels: Regression(0.0),
            step=Step(),
            weights=weights(self, Euclidean),
            ensemble=Ensemble(
                _choose_experts(experts.REGRESSORS, self.experts, self.drift, self.ordered, self.fit_intercept),
                same_task,
                hedge=self.combine == "hedge",
                by_loss=True,
                retirable=True,
                sleeping=self.sleeping,
                from_first=self.fit_intercept,
                tempered=True,
            ),
            fixed={"experts": self.experts, "drift": self.drift},
        )
