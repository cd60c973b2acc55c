"""What the linear estimators share: their weights, and how scikit-learn shows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from onmargin._core.geometries.geometry import Euclidean, Geometry
from onmargin._core.tasks.task import Task
from onmargin.estimators._checks import check_numbers
from onmargin.estimators._online import OnlineLearner
from onmargin.learner import Learner, as_rows
from onmargin.models.columns import intercept_value
from onmargin.models.rules import FLAG, Number, Rule, Word
from onmargin.models.several import averaging


class LinearLearner(OnlineLearner):
    """An estimator with Euclidean weights."""

    _flat: ClassVar[bool] = False  # whether coef_ has one dimension
    _geometry: ClassVar[type[Euclidean]] = Euclidean
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = OnlineLearner._rules | {
        "fit_intercept": (FLAG,),
        "intercept_scaling": (Number(0, above=True, below=True), Word("auto")),
        "average": (FLAG, Number(0, 2**63 - 1, whole=True)),
    }

    fit_intercept: bool
    intercept_scaling: float | str
    average: bool | int | str

    _learner: Learner[Any]
    _sparse_coef: sparse.csr_matrix | None

    def _begin(self, X: Any, n_columns: int = 1) -> None:
        """A learner that has seen nothing; `_prepare` gives it its task and step."""
        self._sparse_coef = None
        self._learner = Learner(Task(), self._step(), self._new_geometry(X, n_columns))

    def _new_geometry(self, X: Any, n_columns: int) -> Any:
        """Weights that have learned nothing, for rows like those of X."""
        return self._made(self._kind(), X, n_columns)

    def _made(self, kind: Callable[..., Geometry], X: Any, n_columns: int) -> Any:
        return kind(
            self.n_features_in_,
            n_columns,
            X.dtype,
            sparse=sparse.issparse(X),
            bias=self._bias(),
            average=averaging(self.average),
        )

    def _kind(self) -> Callable[..., Euclidean]:
        """What makes the geometry."""
        return self._geometry

    def _bias(self) -> float:
        return intercept_value(fit=self.fit_intercept, scaling=self.intercept_scaling)

    def _go_on(self) -> bool:
        if self.warm_start and hasattr(self, "_learner"):
            self.densify()
        return super()._go_on()

    def _prepare(self) -> None:
        self.densify()
        super()._prepare()

    def _start_from(self, coef: ArrayLike | None, intercept: ArrayLike | None) -> None:
        """Put given weights in place of those a pass starts from; what is None stays."""
        if coef is None and intercept is None:
            return
        geometry = self._learner.geometry
        given = []
        for name, value, old in zip(("coef_init", "intercept_init"), (coef, intercept), geometry.mean(), strict=True):
            new = old if value is None else check_numbers(value, name, geometry.dtype)
            if new.shape != old.shape and (geometry.n_columns > 1 or new.size != old.size):
                raise ValueError(f"{name} must have shape {old.shape}, got {new.shape}")
            given.append(new.reshape(old.shape))
        geometry.assign(*given)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Examples by columns."""
        check_is_fitted(self)
        if not self._is_plain(X):
            X = self._checked(X, keep=True)
        rows = as_rows(X)
        if self._sparse_coef is not None:
            scores: NDArray[np.float64] = safe_sparse_dot(X, self._sparse_coef.T, dense_output=True) + self.intercept_
            return scores
        return self._learner.scores(rows)

    def _weights(self) -> NDArray[Any]:
        """Columns by features."""
        return self._mean()[0]

    def _mean(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The weights that predict and the intercepts."""
        mean: tuple[NDArray[Any], NDArray[np.float64]] = self._learner.geometry.mean()
        return mean

    def _recombine(self, mixing: NDArray[np.float64]) -> None:
        """Have columns that are combinations of those there are."""
        self._learner.geometry = self._learner.geometry.recombined(mixing)

    @property
    def coef_(self) -> Any:
        """Weights, one row a column of scores; averaged ones if `average` is on."""
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
        return self._mean()[1]

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
        if self._sparse_coef is None:
            self._sparse_coef = sparse.csr_matrix(self._learner.geometry.mean()[0])
            self._learner.geometry = self._learner.geometry.resized(0)
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
            self._learner.geometry = geometry
            self._sparse_coef = None
        return self
