"""Estimators over a model: options of the passes, and calls that change all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onmargin._core.rows import Rows
from onmargin.estimators._batch import reach_target
from onmargin.estimators._checks import live
from onmargin.estimators._online import OnlineLearner, warn_of_margin
from onmargin.learner import Learner, Offsets, Vector
from onmargin.models.options import option
from onmargin.models.plan import Model, Plan, Shape
from onmargin.models.rules import FLAG, NOTHING, Instance, Number


def max_iter(default: int = 1000) -> Any:
    return option(default, Number(1, whole=True))


def tol(default: float | None = 1e-3) -> Any:
    return option(default, Number(0), NOTHING)


def n_iter_no_change() -> Any:
    return option(5, Number(1, whole=True))


def shuffle() -> Any:
    return option(True, FLAG)


def verbose() -> Any:
    return option(0, FLAG, Number(0, whole=True))


def random_state() -> Any:
    seed = Number(0, 2**32 - 1, whole=True)
    return option(None, NOTHING, seed, Instance(np.random.RandomState, "a RandomState"))


def warm_start() -> Any:
    return option(False, FLAG)


def early_stopping() -> Any:
    return option(False, FLAG)


def validation_fraction() -> Any:
    return option(0.1, Number(0, 1, above=True, below=True))


@dataclass(kw_only=True, eq=False, repr=False)
class ModelEstimator(OnlineLearner):
    """A scikit-learn estimator over a `Model`: validation and passes.

    A subclass inherits the options of a family, whose `plan` says how they learn, and says how targets are read.

    Parameters
    ----------
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss was not better by `tol` than the best
        before. If None, all `max_iter` passes are made.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        If above 0, `fit` prints one line per pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    """

    max_iter: int = max_iter()
    tol: float | None = tol()
    n_iter_no_change: int = n_iter_no_change()
    shuffle: bool = shuffle()
    verbose: int = verbose()
    random_state: int | np.random.RandomState | None = random_state()
    warm_start: bool = warm_start()

    @property
    def _learner(self) -> Learner[Any]:  # type: ignore[override]
        return self._model.learner

    def _begin(self, plan: Plan, X: Any, n_columns: int = 1, *, weight: Vector | None = None) -> None:
        """Begin a model that has learned nothing, for rows like those of X."""
        self._model = Model.begin(plan, Shape(self.n_features_in_, X.dtype, sparse.issparse(X)), X, n_columns)
        if plan.simplex_margin is not None and X.shape[0] > 0:
            warn_of_margin(plan.simplex_margin, plan.simplex_reach(X))
        if plan.first_step is not None:
            self._learner.step = plan.first_step(live(X, weight))

    def _fit(
        self,
        rows: Rows,
        target: Vector,
        weight: Vector | None,
        train: Offsets | None = None,
        judge: Callable[[], float] | None = None,
    ) -> None:
        """Pass over the rows, or those of `train`, until it is enough; `judge` says how good a pass was."""
        if getattr(self, "target_loss", None) is not None:
            reach_target(self, rows, target, weight)
        else:
            self._run_passes(rows, target, weight, train=train, judge=judge)

    def _shown(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return what users see of the columns, along the first axis: themselves."""
        return columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", None)
        tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags
