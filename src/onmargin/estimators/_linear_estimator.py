"""Base class of linear estimators: weights as scikit-learn presents them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from onmargin._core.geometries.diagonal import Diagonal
from onmargin._core.geometries.geometry import Columns
from onmargin._core.restore import whole
from onmargin._core.rows import Rows
from onmargin.estimators._checks import check_numbers
from onmargin.estimators._estimator import Estimator, MatrixLike, n_jobs
from onmargin.estimators._fitted_attributes import weights_of
from onmargin.learner import Decode, UnsoundRowError, Vector, as_rows
from onmargin.models.expert_results import ExpertResults
from onmargin.models.explanation import Explanation, contributions, intercepts, largest
from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.model import Model
from onmargin.models.plan import Plan, Shape
from onmargin.models.rules import Number
from onmargin.models.updates import check_combination


def _has_one_matrix(model: LinearEstimator) -> bool:
    """Return whether a model has one matrix of weights that are sums of updates, which can be sparse."""
    plan = model.plan()
    return plan.ensemble is None and plan.weights(Shape(1, plan.rows.dtypes[0], sparse=True), None, 1).sparsifiable


def as_matrix(x: Any) -> Any:
    """Return one example as a matrix of one row, if it is a vector."""
    return np.reshape(x, (1, -1)) if np.ndim(x) == 1 else x


@dataclass(kw_only=True, eq=False, repr=False)
class LinearEstimator(Estimator):
    """A scikit-learn estimator with linear weights, or weights in the space of a kernel.

    A subclass defines how targets are read.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data have names.
    """

    n_jobs: int | None = n_jobs()

    _flat: ClassVar[bool] = False  # whether coef_ has one dimension

    def _expert_results(self) -> ExpertResults:
        self._check_fitted()
        found = self._model.expert_results(self.plan())
        return found.with_coef(np.ravel) if self._flat else found

    def _model_to_change(self) -> Model:
        check_is_fitted(self)
        return self._model

    def _go_on(self) -> bool:
        warm = super()._go_on()
        if warm:
            self.densify()
        return warm

    def _begin(self, plan: Plan, X: Any, n_columns: int = 1, *, weight: Vector | None = None, known: Any = ()) -> None:
        self._sparse_coef: sparse.csr_matrix | None = None
        self.__dict__.pop("_sparse_metric", None)
        super()._begin(plan, X, n_columns, weight=weight, known=known)

    def _check_width(self, n_features: int) -> None:
        coef = self._sparse_coef
        if coef is None:
            super()._check_width(n_features)
            return
        shown = len(self._show_columns(self._learner.geometry.mean()[0]))
        shape = shown, whole(self.n_features_in_, "n_features_in_", most=np.iinfo(np.int32).max)
        if not sparse.issparse(coef) or coef.shape != shape or n_features:
            raise ValueError(f"sparse weights must have shape {shape}; got {coef!r:.200}")

    def _start_from(
        self,
        coef: ArrayLike | None,
        intercept: ArrayLike | None,
        names: tuple[str, str] = ("coef_init", "intercept_init"),
    ) -> None:
        """Replace the weights that a pass starts from; those that are None stay unchanged."""
        if coef is None and intercept is None:
            return
        self._ask_for_plain_weights()
        geometry = self._learner.geometry
        given = []
        for name, value, columns in zip(names, (coef, intercept), geometry.mean(), strict=True):
            old = self._show_columns(columns)
            new = old if value is None else check_numbers(value, name, geometry.dtype)
            if new.shape != old.shape and (geometry.n_columns > 1 or new.size != old.size):
                raise ValueError(f"{name} must have shape {old.shape}, got {new.shape}")
            # Columns that are not shown become zero.
            given.append(np.zeros(columns.shape))
            given[-1][: len(old)] = new.reshape(old.shape)
        geometry.assign(*given)

    def _ask_for_plain_weights(self) -> None:
        """Refuse to set the weights of a model that is not a single one with plain weights."""
        learner = self._learner
        check_combination(
            "setting weights",
            {
                "one model": self._model.combined is None,
                "kernel=None": not isinstance(learner, KernelLearner),
                "geometry='euclidean'": self._model.combined is not None or isinstance(learner.geometry, Columns),
            },
        )

    def _scores(self, X: MatrixLike, decode: Decode | None = None) -> NDArray[Any]:
        """Return the scores, examples by columns; with `decode`, what it makes of them."""
        check_is_fitted(self)
        if self._sparse_coef is None and self._learner.geometry.guards and self._is_large(X):
            try:
                checked = self._rows_to_score(X, finite=False)
                return self._scores_of(checked, as_rows(checked, guarded=True), guarded=True, decode=decode)
            except UnsoundRowError:  # the check below reports what is wrong
                pass
        X = self._rows_to_score(X)
        return self._scores_of(X, as_rows(X), decode=decode)

    def _raw_scores(self, X: MatrixLike, decode: Decode) -> NDArray[Any]:
        """Return what `decode` makes of the scores of all models side by side, examples by columns."""
        check_is_fitted(self)
        X = self._rows_to_score(X)
        if self._sparse_coef is not None:
            return self._scores_of(X, as_rows(X), decode=decode)
        with self._lock_scores():
            return self._learner.scores(as_rows(X), n_jobs=self.n_jobs, decode=decode)

    def _explain(self, x: Any, label: Any, direction: Vector, top: int | None) -> Explanation:
        """Return the contributions to a score of one row: the scores of columns times `direction`."""
        if isinstance(self._learner, KernelLearner):
            raise ValueError("a kernel has no weights by feature: use decision_function, or learn with kernel=None")
        if top is not None and not Number(0, whole=True).accepts(top):
            raise ValueError(f"top must be None or an integer at least 0; got {top!r}")
        row = self._rows_to_score(x)
        if row.shape[0] != 1:
            raise ValueError(f"x must be one example, got {row.shape[0]} rows: pass one of them, such as X[:1]")
        example = (row.indices, row.data) if sparse.issparse(row) else (np.arange(row.shape[1]), row[0])
        model = self._model if self._sparse_coef is None else deepcopy(self).densify()._model
        with self._lock_scores():
            places, found = contributions(model, example, direction)
            intercept = float(direction @ intercepts(model))
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        shown = {names[places[k]]: float(found[k]) for k in largest(found, top)}
        return Explanation(shown, label, intercept, intercept + float(found.sum()))

    def _lock_scores(self) -> AbstractContextManager[None]:
        """Return a context in which scores are computed: the vote of several models uses memory of its rounds."""
        return nullcontext() if self._model.combined is None else self._turns

    def _rows_to_score(self, X: MatrixLike, *, finite: bool = True) -> Any:
        rows = X if self._is_plain(X) else self._check_input(X, keep=True, finite=finite)
        if rows.shape[0] > 1:
            self._model.warn_if_forgetful(rows)
        return rows

    def _scores_of(self, X: Any, rows: Rows, *, guarded: bool = False, decode: Decode | None = None) -> NDArray[Any]:
        """Return the scores of the rows of X, by columns; with `guarded` its numbers were not checked."""
        if self._sparse_coef is not None:
            scores: NDArray[np.float64] = safe_sparse_dot(X, self._sparse_coef.T, dense_output=True) + self.intercept_
            return scores if decode is None else decode(scores)
        with self._lock_scores():
            found = self._model.scores(rows, n_jobs=self.n_jobs, guarded=guarded, decode=decode)
        return self._show_columns(found.T).T if decode is None else found

    @property
    def coef_(self) -> Any:
        """Weights, one row per column of scores; averaged if `average` is on."""
        self._check_fitted()
        if self._sparse_coef is not None:
            return self._sparse_coef
        coef = self._show_columns(weights_of(self, "coef_"))
        return coef.ravel() if self._flat else coef

    @coef_.setter
    def coef_(self, value: ArrayLike) -> None:
        self.densify()._start_from(value, None, ("coef_", "intercept_"))

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Intercepts in score units."""
        self._check_fitted()
        return self._show_columns(self._model.mean()[1])

    @intercept_.setter
    def intercept_(self, value: ArrayLike) -> None:
        self.densify()._start_from(None, value, ("coef_", "intercept_"))

    @property
    def intercept_scaling_(self) -> float:
        """Value of the intercept coordinate in use; nan until "auto" has seen a non-zero row."""
        return float(self._check_fitted().geometry.bias)

    @available_if(_has_one_matrix)  # type: ignore[untyped-decorator]
    def sparsify(self) -> Self:
        """Convert the weights to a sparse matrix, which saves memory if most are zero; training makes them dense again.

        Returns
        -------
        self : object
            The estimator with a sparse ``coef_``.
        """
        check_is_fitted(self)
        geometry = self._learner.geometry
        if self._sparse_coef is None:
            if isinstance(geometry, Diagonal):
                # For each array besides the weights: the indices of changed numbers, and the numbers.
                self._sparse_metric = {
                    name: (places := np.flatnonzero(array != geometry.start), np.ravel(array)[places])
                    for name, array in geometry.by_feature().items()
                }
            self._sparse_coef = sparse.csr_matrix(self._show_columns(geometry.mean()[0]))
            self._learner.geometry = geometry.resize(0)
        return self

    def densify(self) -> Self:
        """Convert the weights back to a dense array.

        Returns
        -------
        self : object
            The estimator with a dense ``coef_``.
        """
        check_is_fitted(self)
        if self._sparse_coef is not None:
            geometry = self._learner.geometry.resize(self.n_features_in_)
            coef, intercept = self._sparse_coef.toarray(), self.intercept_
            self._learner.geometry, self._sparse_coef = geometry, None
            self._start_from(coef, intercept)
            for name, (places, values) in self.__dict__.pop("_sparse_metric", {}).items():
                array = geometry.by_feature()[name]
                array[np.unravel_index(places, array.shape)] = values
        return self
