"""The `fit` of learners that cannot start from given weights."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from onmargin.estimators._estimator import MatrixLike


class FitFromZero:
    """A linear estimator whose `fit` starts from the initial weights of its geometry."""

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
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
        parent: Any = super()
        fitted: Self = parent.fit(X, y, sample_weight=sample_weight)
        return fitted
