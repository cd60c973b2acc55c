"""Weights that each move at a rate of their own: the words for it, and how what stands beside them is kept."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from onmargin._core.geometries.diagonal import Adaptive, Diagonal, Normalized
from onmargin._core.geometries.geometry import Euclidean
from onmargin.estimators._linear import LinearLearner
from onmargin.learner import Learner

METRICS: dict[str, type[Diagonal]] = {"adaptive": Adaptive, "normalized": Normalized}


class MetricLearner(LinearLearner):
    """A linear estimator whose weights may have a metric beside them."""

    geometry: str
    _learner: Learner[Any]
    # Only while the weights are a sparse matrix: of each array beside them, which numbers were touched, and these.
    _sparse_metric: dict[str, tuple[NDArray[np.intp], NDArray[Any]]]

    def _begin(self, X: Any, n_columns: int = 1) -> None:
        super()._begin(X, n_columns)
        self.__dict__.pop("_sparse_metric", None)

    def _kind(self) -> Callable[..., Euclidean]:
        return METRICS.get(self.geometry, self._geometry)

    def sparsify(self) -> Self:
        """Keep the weights as a sparse matrix: less memory where most are zero; learning on makes them dense again.

        Returns
        -------
        self : object
            The estimator with a sparse ``coef_``.
        """
        check_is_fitted(self)
        geometry = self._learner.geometry
        if isinstance(geometry, Diagonal) and self._sparse_coef is None:
            touched = {name: np.flatnonzero(array != geometry.start) for name, array in geometry.by_feature().items()}
            self._sparse_metric = {
                name: (places, np.ravel(geometry.by_feature()[name])[places]) for name, places in touched.items()
            }
        return super().sparsify()

    def densify(self) -> Self:
        """Keep the weights as a dense array, as after fitting.

        Returns
        -------
        self : object
            The estimator with a dense ``coef_``.
        """
        super().densify()
        for name, (places, values) in self.__dict__.pop("_sparse_metric", {}).items():
            array = self._learner.geometry.by_feature()[name]
            array[np.unravel_index(places, array.shape)] = values
        return self
