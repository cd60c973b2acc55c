"""Estimators over a linear model: validation, passes, and how scikit-learn shows the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from onmargin._core.geometries.diagonal import Diagonal
from onmargin._core.geometries.geometry import Columns
from onmargin._core.rows import Rows
from onmargin._core.turns import TakingTurns
from onmargin.estimators._batch import reach_target
from onmargin.estimators._checks import check_numbers
from onmargin.estimators._online import MatrixLike, OnlineLearner, warn_of_margin
from onmargin.learner import Learner, Offsets, Vector, as_rows
from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.kernels import Linear
from onmargin.models.options import check_options, option
from onmargin.models.plan import Model, Plan, Shape
from onmargin.models.rules import FLAG, NOTHING, Instance, Number
from onmargin.models.updates import check_combination


@dataclass(kw_only=True, eq=False, repr=False)
class LinearEstimator(OnlineLearner):
    """A scikit-learn estimator over a `Model` with linear weights, or weights in the space of a kernel.

    A subclass inherits the options of a family, whose `plan` says how they learn, and says how targets are read.

    Parameters
    ----------
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss (with `early_stopping`: validation score)
        was not better by `tol` than the best before. None: all `max_iter` passes are made.
    validation_fraction : float, default=0.1
        The part held out, between 0 and 1.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        If above 0, `fit` prints one line per pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling and of the validation split.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    """

    max_iter: int = option(1000, Number(1, whole=True))
    tol: float | None = option(1e-3, Number(0), NOTHING)
    early_stopping: bool = option(False, FLAG)
    validation_fraction: float = option(0.1, Number(0, 1, above=True, below=True))
    n_iter_no_change: int = option(5, Number(1, whole=True))
    shuffle: bool = option(True, FLAG)
    verbose: int = option(0, FLAG, Number(0, whole=True))
    random_state: int | np.random.RandomState | None = option(
        None, NOTHING, Number(0, 2**32 - 1, whole=True), Instance(np.random.RandomState, "a RandomState")
    )
    warm_start: bool = option(False, FLAG)

    plan: ClassVar[Callable[..., Plan]]  # of the options: how the parameters as they are now learn
    _flat: ClassVar[bool] = False  # whether coef_ has one dimension

    def _splitter(self) -> Any:
        """Return what splits off the validation part."""
        raise NotImplementedError

    def _quality(self, scores: NDArray[np.float64], y: NDArray[Any]) -> float:
        """Return how good these scores are; higher is better."""
        raise NotImplementedError

    @property
    def _learner(self) -> Learner[Any]:  # type: ignore[override]
        return self._model.learner

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def _check_parameters(self) -> None:
        check_options(self)

    @contextmanager
    def _all_or_nothing(self) -> Iterator[Plan]:  # type: ignore[override]
        """Check the parameters, and yield their plan; if anything raises, the estimator is as it was before.

        Other threads that call the estimator to learn wait until the block is over.
        """
        self._check_parameters()
        with TakingTurns(self):
            before = dict(vars(self))
            try:
                if "_model" in before:
                    # Its geometry may be replaced before all is known to be well; nothing can fail once rounds are
                    # played.
                    self._model = copy(before["_model"])
                yield self.plan()
                self._model.learner.close()
            except BaseException:
                self.__dict__ = before
                raise

    def _go_on(self) -> bool:
        """Whether `fit` goes on from what was learned. Then it works on a copy, since passes may be interrupted."""
        warm = self.warm_start and "_model" in vars(self)
        if warm:
            self.densify()
            self._model = deepcopy(self._model)
        return warm

    def _begin(self, plan: Plan, X: Any) -> None:
        """Begin a model that has learned nothing, for rows like those of X."""
        self._sparse_coef = None
        self.__dict__.pop("_sparse_metric", None)
        self._model = Model.begin(plan, Shape(self.n_features_in_, X.dtype, sparse.issparse(X)), X)
        if plan.simplex_margin is not None and X.shape[0] > 0:
            warn_of_margin(plan.simplex_margin, float(max(X.max(), -X.min())))

    def _fit(self, X: Any, y: NDArray[Any], rows: Rows, target: Vector, weight: Vector | None) -> None:
        """Pass over the rows, whose targets are y in the terms of the task, until it is enough."""
        if getattr(self, "target_loss", None) is not None:
            reach_target(self, rows, target, weight)
        else:
            train, judge = self._hold_out(X, y)
            self._run_passes(rows, target, weight, train=train, judge=judge)

    def _hold_out(self, X: Any, y: NDArray[Any]) -> tuple[Offsets | None, Callable[[], float] | None]:
        """Which examples to learn (None: all), and with early stopping what judges a pass on the others."""
        if not self.early_stopping:
            return None, None
        try:
            train, held_out = next(self._splitter().split(np.empty(len(y)), y))
        except ValueError as error:
            raise ValueError(
                f"early_stopping=True cannot hold out validation_fraction={self.validation_fraction} of {len(y)} "
                f"examples: {error}"
            ) from error
        rows, truth = as_rows(X[held_out]), y[held_out]
        return train, lambda: self._quality(self._model.scores(rows), truth)

    def _start_from(self, coef: ArrayLike | None, intercept: ArrayLike | None) -> None:
        """Put given weights in place of those a pass starts from; what is None stays."""
        if coef is None and intercept is None:
            return
        self._ask_for_plain_weights("setting weights")
        geometry = self._learner.geometry
        given = []
        for name, value, old in zip(("coef_init", "intercept_init"), (coef, intercept), geometry.mean(), strict=True):
            new = old if value is None else check_numbers(value, name, geometry.dtype)
            if new.shape != old.shape and (geometry.n_columns > 1 or new.size != old.size):
                raise ValueError(f"{name} must have shape {old.shape}, got {new.shape}")
            given.append(new.reshape(old.shape))
        geometry.assign(*given)

    def _ask_for_plain_weights(self, what: str) -> None:
        """Refuse what only one model with weights that are added to can do."""
        learner = self._learner
        check_combination(
            what,
            {
                "one model": self._model.combined is None,
                "kernel=None": not isinstance(learner, KernelLearner),
                "geometry='euclidean'": self._model.combined is not None or isinstance(learner.geometry, Columns),
            },
        )

    def _scores(self, X: MatrixLike) -> NDArray[np.float64]:
        """Examples by columns."""
        check_is_fitted(self)
        if not self._is_plain(X):
            X = self._checked(X, keep=True)
        rows = as_rows(X)
        if self._sparse_coef is not None:
            scores: NDArray[np.float64] = safe_sparse_dot(X, self._sparse_coef.T, dense_output=True) + self.intercept_
            return scores
        return self._model.scores(rows)

    def _weights(self) -> NDArray[Any]:
        """The weights as a matrix, columns by features."""
        learner = self._learner
        if not isinstance(learner, KernelLearner):
            return self._model.mean()[0]
        if not isinstance(learner.kernel, Linear):
            raise AttributeError(
                "coef_ is only available with a linear kernel: what is learned is in the feature space of the kernel, "
                "as dual_coef_ and support_vectors_"
            )
        weights = learner.supports.rows().T @ learner.geometry.mean()[0]
        return np.asarray(weights.T, dtype=learner.geometry.dtype)

    @property
    def coef_(self) -> Any:
        """Weights, one row per column of scores; averaged ones if `average` is on."""
        self._fitted()
        if self._sparse_coef is not None:
            return self._sparse_coef
        coef = self._weights()
        return coef.ravel() if self._flat else coef

    @coef_.setter
    def coef_(self, value: ArrayLike) -> None:
        self.densify()._start_from(value, None)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts in score units."""
        self._fitted()
        return self._model.mean()[1]

    @intercept_.setter
    def intercept_(self, value: ArrayLike) -> None:
        self.densify()._start_from(None, value)

    @property
    def intercept_scaling_(self) -> float:
        """Value of the intercept coordinate in use; nan as long as "auto" has seen no row that is not zero."""
        return float(self._fitted().geometry.bias)

    def sparsify(self) -> Self:
        """Keep the weights as a sparse matrix: less memory where most are zero; learning on makes them dense again.

        Returns
        -------
        self : object
            The estimator with a sparse ``coef_``.
        """
        check_is_fitted(self)
        self._ask_for_plain_weights("sparsify")
        geometry = self._learner.geometry
        if self._sparse_coef is None:
            if isinstance(geometry, Diagonal):
                # Of each array beside the weights: which numbers were touched, and these.
                self._sparse_metric = {
                    name: (places := np.flatnonzero(array != geometry.start), np.ravel(array)[places])
                    for name, array in geometry.by_feature().items()
                }
            self._sparse_coef = sparse.csr_matrix(geometry.mean()[0])
            self._learner.geometry = geometry.resized(0)
        return self

    def densify(self) -> Self:
        """Keep the weights as a dense array, as after fitting.

        Returns
        -------
        self : object
            The estimator with a dense ``coef_``.
        """
        check_is_fitted(self)
        if self._sparse_coef is not None:
            geometry = self._learner.geometry.resized(self.n_features_in_)
            geometry.assign(self._sparse_coef.toarray(), self.intercept_)
            for name, (places, values) in self.__dict__.pop("_sparse_metric", {}).items():
                array = geometry.by_feature()[name]
                array[np.unravel_index(places, array.shape)] = values
            self._learner.geometry = geometry
            self._sparse_coef = None
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", None)
        tags.input_tags.pairwise = isinstance(kernel, str) and kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags
