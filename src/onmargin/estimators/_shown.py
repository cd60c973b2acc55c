"""Fitted attributes shared by some estimators: each is defined here once and assigned in the classes that have it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from onmargin.models.expert_results import ExpertResults
from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.kernels import Linear
from onmargin.models.second_order import gaussians


def _supports(estimator: Any) -> KernelLearner:
    learner = estimator._fitted()
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
    return np.asarray(estimator._shown(geometry.mean()[0][geometry.supports()].T))


@property  # type: ignore[misc]
def support_(self: Any) -> NDArray[np.intp]:
    """Indices of the supports among all rows received; after one `fit`, indices of rows of X."""
    geometry = _supports(self).geometry
    support: NDArray[np.intp] = geometry.arrays()["keys"][geometry.supports()]
    return support


@property  # type: ignore[misc]
def support_vectors_(self: Any) -> Any:
    """The rows that are supports; empty for a precomputed kernel."""
    learner = _supports(self)
    return learner.supports.rows()[learner.geometry.supports()]


@property  # type: ignore[misc]
def n_support_(self: Any) -> int:
    """Number of supports."""
    return len(_supports(self).geometry.supports())


@property  # type: ignore[misc]
def dual_coef_(self: Any) -> NDArray[np.float64]:
    """Coefficients of the supports, one row per column of scores; averaged if `average` is on."""
    return coefficients_of_supports(self)


def _expert_results(estimator: Any) -> ExpertResults:
    estimator._fitted()
    found: ExpertResults = estimator._model.expert_results(estimator.plan())
    return found.with_coef(np.ravel) if estimator._flat else found


@property  # type: ignore[misc]
def grid_(self: Any) -> ExpertResults:
    """Mistakes, losses and weights of the models of all values of C."""
    if self.average == "best":
        raise AttributeError("there is one value of C only")
    found = _expert_results(self)
    self._model.warn_if_alike()
    return found


@property  # type: ignore[misc]
def averages_(self: Any) -> ExpertResults:
    """Mistakes and losses of the current and of the averaged weights."""
    if self.average != "best":
        raise AttributeError("there is nothing to compare: averages_ needs average='best'")
    return _expert_results(self)


@property  # type: ignore[misc]
def experts_(self: Any) -> ExpertResults:
    """Names, losses and votes of the experts."""
    return _expert_results(self)


@property  # type: ignore[misc]
def confidence_(self: Any) -> NDArray[Any]:
    """Variance of each weight."""
    geometry = gaussians(self._fitted().geometry)
    variances: NDArray[Any] = geometry.metric
    if self._sparse_coef is not None:
        variances = np.ones((geometry.n_columns, self.n_features_in_), geometry.dtype)
        places, values = self._sparse_metric["metric"]
        variances.flat[places] = values
    return variances.ravel() if self._flat else variances


@property  # type: ignore[misc]
def rate_(self: Any) -> float:
    """The learning rate in use."""
    return float(self._fitted().step.rate)


def retire(self: Any, keep: int) -> Any:
    """Keep only the experts with the smallest loss so far, and drop the others to save time.

    Parameters
    ----------
    keep : int
        Number of experts to keep, at least 1; one more is kept if averaged weights would be separated from the weights
        that they average. On a drifting stream, an expert that is behind now may become the best later.

    Returns
    -------
    self : object
        The model with fewer experts. The regret bound then holds against the remaining experts.
    """
    check_is_fitted(self)
    self._model.retire(self.plan(), keep)
    return self
