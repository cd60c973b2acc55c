"""Fitted attributes of estimators with a kernel, and of those whose weights have variances."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.kernels import Linear
from onmargin.models.model import Model
from onmargin.models.second_order import gaussians


def _supports(estimator: Any) -> KernelLearner:
    learner = estimator._check_fitted()
    if not isinstance(learner, KernelLearner):
        raise AttributeError("there are no supports with kernel=None: the weights are coef_")
    return learner


def weights_of(estimator: Any, name: str) -> NDArray[Any]:
    """Return the weights as a matrix, columns by features, for the attribute of this name."""
    learner = estimator._learner
    if not isinstance(learner, KernelLearner):
        weights: NDArray[Any] = estimator._model.mean()[0]
        return weights
    if not isinstance(learner.kernel, Linear):
        raise AttributeError(
            f"{name} is only available with a linear kernel: what is learned is in the feature space of the kernel, as "
            "dual_coef_ and support_vectors_"
        )
    written = learner.supports.rows().T @ learner.geometry.mean()[0]
    return np.asarray(written.T, dtype=learner.geometry.dtype)


def coefficients_of_supports(estimator: Any) -> NDArray[np.float64]:
    """Return the coefficients of the supports, one row per column of scores."""
    geometry = _supports(estimator).geometry
    return np.asarray(estimator._show_columns(geometry.mean()[0][geometry.supports()].T))


class Classes:
    """An estimator with labels."""

    if TYPE_CHECKING:
        _model: Model

        def _check_fitted(self) -> Any: ...

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of their columns."""
        self._check_fitted()
        return self._model.labels.as_array()


class KernelSupports:
    """An estimator with an optional kernel, whose model is then an expansion over supports."""

    @property
    def support_(self) -> NDArray[np.intp]:
        """Indices of the supports among all rows received; after one `fit`, indices of rows of X."""
        geometry = _supports(self).geometry
        support: NDArray[np.intp] = geometry.arrays()["keys"][geometry.supports()]
        return support

    @property
    def support_vectors_(self) -> Any:
        """The rows that are supports; empty for a precomputed kernel."""
        learner = _supports(self)
        return learner.supports.rows()[learner.geometry.supports()]

    @property
    def n_support_(self) -> int:
        """Number of supports."""
        return len(_supports(self).geometry.supports())

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Coefficients of the supports, one row per column of scores; averaged if `average` is on."""
        return coefficients_of_supports(self)


class Variances:
    """An estimator whose weights have a variance each."""

    if TYPE_CHECKING:
        _flat: bool
        _sparse_coef: Any
        _sparse_metric: Any
        n_features_in_: int

        def _check_fitted(self) -> Any: ...

    @property
    def confidence_(self) -> NDArray[Any]:
        """Variance of each weight."""
        geometry = gaussians(self._check_fitted().geometry)
        variances: NDArray[Any] = geometry.metric
        if self._sparse_coef is not None:
            variances = np.ones((geometry.n_columns, self.n_features_in_), geometry.dtype)
            places, values = self._sparse_metric["metric"]
            variances.flat[places] = values
        return variances.ravel() if self._flat else variances
