"""Several models that learn side by side from the same rows, and predict as one."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from onmargin._core.several.tasks import Several
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin.estimators._linear import LinearLearner
from onmargin.models.rules import Rule, Word
from onmargin.models.several import Kind, Standing, combination, recombined, side_by_side, standing, weights_of
from onmargin.models.updates import check_combination


class SeveralModels(LinearLearner):
    """A linear estimator that may have several models learn at once.

    A subclass says how many there are (`_names`), and for each in their order its kind of geometry, its task and its
    step; and what the prediction is held to (`_judge`).
    """

    _by_loss: ClassVar[bool] = False  # models are judged by their losses instead of their mistakes
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = LinearLearner._rules | {"combine": (Word("leader", "hedge"),)}

    combine: str

    def _names(self) -> list[str]:
        """What the models are called; none: there is just one, and nothing to combine."""
        raise NotImplementedError

    def _kinds(self) -> list[Kind]:
        raise NotImplementedError

    def _tasks(self) -> list[Task]:
        raise NotImplementedError

    def _steps(self) -> Step:
        raise NotImplementedError

    def _judge(self) -> Task:
        raise NotImplementedError

    def _new_geometry(self, X: Any, n_columns: int) -> Any:
        if not self._names():
            return super()._new_geometry(X, n_columns)
        return side_by_side(self._kinds(), n_columns, lambda kind, n: self._made(kind, X, n), sparse=sparse.issparse(X))

    def _width(self) -> int:
        """Scores of one model."""
        return 1

    def _recombine(self, mixing: NDArray[np.float64]) -> None:
        if self._names():
            self._learner.geometry = recombined(self._learner.geometry, self._width(), mixing)
        else:
            super()._recombine(mixing)

    def _prepare(self) -> None:
        before = self._learner.task
        super()._prepare()
        if self._names():
            self._learner.task = combination(
                self._learner.geometry,
                self._tasks(),
                self._judge(),
                before,
                width=self._width(),
                hedge=self.combine == "hedge",
                by_loss=self._by_loss,
            )
            self._learner.step = self._steps()

    def _combined(self) -> Several | None:
        task = self._fitted().task
        return task if isinstance(task, Several) else None

    def _scores(self, X: Any) -> NDArray[np.float64]:
        scores = super()._scores(X)
        combined = self._combined()
        return scores if combined is None else combined.combine(scores)

    def _mean(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        combined = self._combined()
        if combined is None:
            return super()._mean()
        return weights_of(self._learner.geometry, combined.width, combined.leader)

    def _standing(self) -> Standing:
        combined = self._combined()
        if combined is None:
            raise AttributeError("there is one model only")
        found = standing(combined, self._learner.geometry, self._names())
        return replace(found, coef=[weight.ravel() for weight in found.coef]) if self._flat else found

    def _start_from(self, coef: ArrayLike | None, intercept: ArrayLike | None) -> None:
        if not (coef is None and intercept is None):
            check_combination("setting weights", {"one model": not self._names()})
        super()._start_from(coef, intercept)

    def sparsify(self) -> Self:
        """Keep the weights as a sparse matrix: less memory where most are zero; learning on makes them dense again.

        Returns
        -------
        self : object
            The estimator with a sparse ``coef_``.
        """
        if hasattr(self, "_learner"):
            check_combination("sparsify", {"one model": self._combined() is None})
        return super().sparsify()
