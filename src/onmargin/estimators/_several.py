"""Several models that learn side by side from the same rows, and predict as one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from onmargin._core.geometry import Euclidean, Geometry
from onmargin._core.geometry_beside import Beside
from onmargin._core.geometry_mixed import Mixed
from onmargin._core.step import Step
from onmargin._core.task import Task
from onmargin._core.task_several import Several
from onmargin._parameters import Rule, Word
from onmargin._updates import check_combination
from onmargin.estimators._linear import LinearLearner

# What makes a geometry, from all that `LinearLearner._new_geometry` says.
Kind = Callable[..., Euclidean]
# As many columns of one geometry, but no more, have the scores that each would have alone (see vec_body.h).
MOST = 16


@dataclass(frozen=True)
class Standing:
    """How the models that learned side by side stand.

    Attributes
    ----------
    names : list of str
        What each model is called.
    mistakes, loss, squared_loss : ndarray of shape (n_models,)
        Of each model so far, had it predicted alone.
    weights : ndarray of shape (n_models,)
        What the vote of each counts for; with ``combine="leader"`` all for that one.
    leader : int
        The model that has lost least, of several the first.
    coef, intercept : list of ndarray
        The weights of each model, as ``coef_`` and ``intercept_``.
    mixed_loss, regret_bound : float
        With ``combine="hedge"``: the losses so far, weighted by what each vote counted for, and how much more than
        those of the best model they can be. A loss is 1 for a mistake; of regressors it is that of the task.
    """

    names: list[str]
    mistakes: NDArray[np.float64]
    loss: NDArray[np.float64]
    squared_loss: NDArray[np.float64]
    weights: NDArray[np.float64]
    leader: int
    coef: list[NDArray[Any]]
    intercept: list[NDArray[np.float64]]
    mixed_loss: float
    regret_bound: float


def leaves(geometry: Geometry) -> list[Any]:
    """The geometries that are side by side in one."""
    return geometry.leaves() if isinstance(geometry, Beside) else [geometry]


def abreast(geometries: Sequence[Geometry]) -> Geometry:
    """One geometry of several."""
    return reduce(lambda right, left: Beside(left, right), reversed(geometries))


class SeveralModels(LinearLearner):
    """A linear estimator that may have several models learn at once.

    A subclass says how many there are (`_names`), and for each in their order its kind of geometry, its task and its
    step; and what the prediction is held to (`_judge`). Models of one column share a geometry where rows are sparse,
    since a non-zero then costs one trip to memory for all.
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
        together = n_columns == 1 and sparse.issparse(X)
        if together and (mixed := Mixed.of([self._made(kind, X, 1) for kind in self._kinds()])) is not None:
            return mixed
        most = MOST if together else 1
        made = []
        for kind, alike in groupby(self._kinds()):
            models = len(list(alike))
            made += [self._made(kind, X, n_columns * min(most, models - first)) for first in range(0, models, most)]
        return abreast(made)

    def _models(self) -> Iterator[tuple[int, Any, slice]]:
        """Of each model, where its scores begin, its geometry and its columns there."""
        width, place = self._width(), 0
        for leaf in leaves(self._learner.geometry):
            for first in range(0, leaf.n_columns, width):
                yield place + first, leaf, slice(first, first + width)
            place += leaf.n_scores

    def _width(self) -> int:
        """Scores of one model."""
        return 1

    def _recombine(self, mixing: NDArray[np.float64]) -> None:
        if not self._names():
            super()._recombine(mixing)
            return
        made = []
        for _, leaf, columns in self._models():
            if isinstance(leaf, Mixed):
                made.append(leaf.alone(columns.start).recombined(mixing))
                continue
            spread = np.zeros((len(mixing), leaf.n_columns))
            spread[:, columns] = mixing
            made.append(leaf.recombined(spread))
        self._learner.geometry = abreast(made)

    def _prepare(self) -> None:
        before = self._learner.task
        super()._prepare()
        if not self._names():
            return
        places = [place for place, _, _ in self._models()]
        hedge = self.combine == "hedge"
        task = Several(self._tasks(), places, self._width(), self._judge(), hedge=hedge, by_loss=self._by_loss)
        if isinstance(before, Several):
            task.__setstate__(before.state())
        self._learner.task, self._learner.step = task, self._steps()

    def _combined(self) -> Several | None:
        task = self._fitted().task
        return task if isinstance(task, Several) else None

    def _scores(self, X: Any) -> NDArray[np.float64]:
        scores = super()._scores(X)
        combined = self._combined()
        return scores if combined is None else combined.combine(scores)

    def _mean(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        combined = self._combined()
        return super()._mean() if combined is None else self._weights_of(combined.leader)

    def _weights_of(self, model: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        _, leaf, columns = list(self._models())[model]
        weights, intercepts = leaf.mean()
        return weights[columns], intercepts[columns]

    def _standing(self) -> Standing:
        combined = self._combined()
        if combined is None:
            raise AttributeError("there is one model only")
        state, names = combined.state(), self._names()
        mistakes, loss, squared_loss = state["outcomes"].T.copy()
        weights = state["weights"].copy() if combined.hedge else np.eye(len(names))[combined.leader]
        coef, intercept = zip(*map(self._weights_of, range(len(names))), strict=True)
        bound = 2 * combined.gap if combined.hedge else np.nan
        return Standing(
            names,
            mistakes,
            loss,
            squared_loss,
            weights,
            combined.leader,
            [weight.ravel() if self._flat else weight for weight in coef],
            list(intercept),
            combined.mixed if combined.hedge else np.nan,
            bound,
        )

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
