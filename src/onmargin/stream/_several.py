"""Learners of streams that may have several models learn at once."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onmargin._core.several.tasks import Several
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin.models.rules import Rule, Word
from onmargin.models.several import Kind, Standing, combination, recombined, side_by_side, standing, weights_of
from onmargin.stream._linear import LinearModel


class SeveralModels(LinearModel):
    """A linear model that may be several, which learn side by side and predict as one.

    A subclass says what they are called (`_called`; none: there is just one), and for each in their order its kind of
    geometry and its task; the steps of all; and by `_task` what the prediction is held to.
    """

    _by_loss: ClassVar[bool] = False  # models are judged by their losses instead of their mistakes
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = LinearModel._rules | {"combine": (Word("leader", "hedge"),)}

    combine: str

    def _called(self) -> list[str]:
        raise NotImplementedError

    def _kinds(self) -> list[Kind]:
        raise NotImplementedError

    def _tasks(self, judge: Task) -> list[Task]:
        raise NotImplementedError

    def _step(self) -> Step:
        raise NotImplementedError

    def _width(self) -> int:
        """Scores of one model."""
        return 1

    def _geometry(self, n_features: int, *, sparse: bool) -> Any:
        if not self._called():
            return super()._geometry(n_features, sparse=sparse)

        def make(kind: Kind, n_columns: int) -> Any:
            return self._made(kind, n_features, n_columns, sparse=sparse)

        return side_by_side(self._kinds(), self._columns(), make, sparse=sparse)

    def _begin(self, x: Any) -> None:
        super()._begin(x)
        self._arrange()

    def _recombine(self, mixing: NDArray[np.float64]) -> None:
        if self._called():
            self._learner.geometry = recombined(self._learner.geometry, self._width(), mixing)
        else:
            super()._recombine(mixing)

    def _arrange(self) -> None:
        judge = self._task()
        if not self._called():
            self._learner.task = judge
            return
        self._learner.task = combination(
            self._learner.geometry,
            self._tasks(judge),
            judge,
            self._learner.task,
            width=self._width(),
            hedge=self.combine == "hedge",
            by_loss=self._by_loss,
        )

    def _mean(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        task = self._learner.task
        if isinstance(task, Several):
            return weights_of(self._learner.geometry, task.width, task.leader)
        return super()._mean()

    def _standing(self) -> Standing:
        task = self._learner.task if hasattr(self, "_learner") else None
        if not isinstance(task, Several):
            raise AttributeError("nothing was learned yet" if self._called() else "there is one model only")
        found = standing(task, self._learner.geometry, self._called())
        return replace(found, coef=[weights[:, : self.n_features_] for weights in found.coef])
