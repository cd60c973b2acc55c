"""The `fit` of learners without initial weights: defined here once and assigned in the classes that have it."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from onmargin.estimators._estimator import MatrixLike
from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._linear_regressor import LinearRegressor


def fit(self: Any, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
    """Fit the model to all examples, in several passes.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Examples. Dense C-contiguous or CSR data in float64 are not copied.
    y : array-like of shape (n_samples,)
        Labels, of at least two classes, or numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Factors on the step; an example of weight 0 is skipped.

    Returns
    -------
    self : object
        The fitted estimator.
    """
    kind = LinearClassifier if isinstance(self, LinearClassifier) else LinearRegressor
    return kind.fit(self, X, y, sample_weight=sample_weight)
