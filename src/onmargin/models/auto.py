"""Automatic model selection: experts of several families learn side by side, and are combined by their records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Regression
from onmargin.models import experts
from onmargin.models import options as shared
from onmargin.models.experts import Ensemble, Experts, class_tasks, same_task
from onmargin.models.linear import weights
from onmargin.models.plan import Plan
from onmargin.models.rules import FLAG, Word
from onmargin.models.updates import class_task


def _choices(known: Experts) -> dict[tuple[str, bool], Experts]:
    """Return experts by the word for which of them learn, and whether some forget."""
    words = {"all": known, "linear": known.linear()}
    return {
        (word, drift): some if drift else some.without_forgetting()
        for word, some in words.items()
        for drift in (True, False)
    }


CLASSIFIERS = _choices(experts.CLASSIFIERS)
REGRESSORS = _choices(experts.REGRESSORS)
THROUGH_ZERO = {choice: known.without_levels() for choice, known in REGRESSORS.items()}


@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifierOptions:
    """The options of automatic selection for classes, in every face.

    Parameters
    ----------
    experts : {"all", "linear"}, default="all"
        Which experts learn. "all" are linear ones and, for dense rows of at most 300 features, two that are curved: on
        random Fourier features. They take most of the time; "linear" leaves them out. On shards and with hashed names
        there are the experts for sparse rows only, which are linear.
    drift : bool, default=True
        Whether what is to be learned may move, as on most streams: some experts then forget earlier examples, to follow
        it. Set it to False where the order of examples means nothing, and predictions are of old and new ones alike.
    sleeping : bool, default=True
        Whether experts sleep that are so far behind that their votes cannot matter for now: they neither vote nor learn
        until the best ones have lost enough. That saves time on long streams; set it to False to have all experts learn
        all the time. It has an effect with ``combine="hedge"``, and may change at any time.
    combine : {"hedge", "leader"}, default="hedge"
        Predict by the vote, or with the expert of the fewest mistakes so far, whose margins `decision_function` then
        gives.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed; for
        experts on standardized rows, of the first of those.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weight of examples by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit`
        from the counts so far.
    """

    experts: str = shared.option("all", Word("all", "linear"))
    drift: bool = shared.option(True, FLAG)
    sleeping: bool = shared.option(True, FLAG)
    combine: str = shared.combine("hedge")
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()
    class_weight: Mapping[Any, float] | str | None = shared.class_weight()

    def plan(self) -> Plan:
        """Return how these options learn."""
        return Plan(
            task=lambda labels: class_task(len(labels), update="max", strategy="joint", margin=1.0),
            step=Step(),
            weights=weights(self, Euclidean),
            ensemble=Ensemble(
                CLASSIFIERS[self.experts, self.drift],
                class_tasks,
                hedge=self.combine == "hedge",
                by_loss=False,
                retirable=True,
                sleeping=self.sleeping,
            ),
            calibrated=True,
            fixed={"experts": self.experts, "drift": self.drift},
        )


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressorOptions:
    """The options of automatic selection for numbers, in every face.

    Parameters
    ----------
    experts : {"all", "linear"}, default="all"
        Which experts learn. "all" are linear ones and, for dense rows of at most 300 features, those that are curved:
        on random Fourier features. They take most of the time; "linear" leaves them out. On shards and with hashed
        names there are the experts for sparse rows only, which are linear.
    drift : bool, default=True
        Whether what is to be learned may move, as on most streams: some experts then forget earlier examples, to follow
        it. Set it to False where the order of examples means nothing, and predictions are of old and new ones alike.
    sleeping : bool, default=True
        Whether experts sleep that are so far behind that their votes cannot matter for now: they neither vote nor learn
        until the best ones have lost enough. That saves time on long streams; set it to False to have all experts learn
        all the time. It has an effect with ``combine="hedge"``, and may change at any time.
    combine : {"hedge", "leader"}, default="hedge"
        Predict the weighted mean, or with the expert of the least error so far.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed; for
        experts on standardized rows, of the first of those.
    """

    experts: str = shared.option("all", Word("all", "linear"))
    drift: bool = shared.option(True, FLAG)
    sleeping: bool = shared.option(True, FLAG)
    combine: str = shared.combine("hedge")
    fit_intercept: bool = shared.fit_intercept()
    intercept_scaling: float | str = shared.intercept_scaling()

    def plan(self) -> Plan:
        """Return how these options learn."""
        return Plan(
            task=lambda labels: Regression(0.0),
            step=Step(),
            weights=weights(self, Euclidean),
            ensemble=Ensemble(
                (REGRESSORS if self.fit_intercept else THROUGH_ZERO)[self.experts, self.drift],
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
