"""Base class of linear regressors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score
from sklearn.model_selection import ShuffleSplit

from onmargin.estimators._checks import check_numbers, check_weight, is_vector
from onmargin.estimators._early_stopping import hold_out
from onmargin.estimators._estimator import MatrixLike, early_stopping, validation_fraction
from onmargin.estimators._linear_estimator import LinearEstimator, as_matrix
from onmargin.learner import UnsoundRowError
from onmargin.models.explanation import Explanation
from onmargin.models.model import FIRST_ROWS


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegressor(LinearEstimator):
    """A scikit-learn regressor over a linear model.

    Parameters
    ----------
    early_stopping : bool, default=False
        Whether `fit` holds out a part of the data, drawn with `random_state`, and stops by the R² on it, weighted by
        the weights of the examples, instead of by the mean loss.
    validation_fraction : float, default=0.1
        Fraction of the data to hold out, between 0 and 1.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of the learned weights, unless they are averaged.
    intercept_ : ndarray of shape (1,)
        Intercept.
    """

    early_stopping: bool = early_stopping()
    validation_fraction: float = validation_fraction()

    _flat = True

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to all examples, in several passes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        y : array-like of shape (n_samples,)
            Targets.
        coef_init : array-like of shape (n_features,), default=None
            Weights to start from.
        intercept_init : array-like of shape (1,), default=None
            Intercept to start from.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._start_fitting() as plan:
            warm = self._go_on()
            X, y, rows = self._validate(X, y, keep=warm, dtypes=plan.rows.dtypes)
            target = check_numbers(y, "y", X.dtype)
            weight = check_weight(sample_weight, len(y))
            if warm:
                self._model.use_plan(plan)
            else:
                self._begin(plan, X, weight=weight)
            self._model.set_task()
            self._start_from(coef_init, intercept_init)
            self._fit(rows, target, weight, *hold_out(self, ShuffleSplit, X, y, weight))
        return self

    def partial_fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn examples in the given order, one round each; splitting a stream into calls does not change the result.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated estimator.
        """
        try:
            return self._learn(X, y, sample_weight, unchecked=True)
        except UnsoundRowError:
            return self._learn(X, y, sample_weight, unchecked=False)

    def _learn(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None, *, unchecked: bool) -> Self:
        """Implement `partial_fit`; with `unchecked`, the rounds check a large X."""
        with self._start_learning() as (plan, transaction):
            first = not self._has_begun
            guarded = unchecked and self._is_guarded(plan, X, sample_weight)
            X, y, rows = self._validate(X, y, keep=not first, dtypes=plan.rows.dtypes, guarded=guarded, numbers=True)
            target = y if guarded and is_vector(y) else check_numbers(y, "y", X.dtype)
            weight = check_weight(sample_weight, len(y))
            if first:
                self._begin(plan, X, weight=weight)
                self._model.first_rows = None if plan.ensemble is None else X[:FIRST_ROWS].copy()
            else:
                self.densify()
                self._model.use_plan(plan)
            self._model.set_task()
            self.n_iter_ = 1
            if guarded:
                self._guard(transaction)
            self._learn_on(transaction, rows, target, weight, guarded=guarded)
        return self

    def predict(self, X: MatrixLike) -> NDArray[np.float64]:
        """Return the predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            One predicted value per example.
        """
        return self._scores(X)[:, 0]

    def _quality(self, scores: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None) -> float:
        return float(r2_score(y, scores[:, 0], sample_weight=weight))

    def explain(self, x: Any, top: int | None = None) -> Explanation:
        """Return the contribution of each feature to the score of an example; with the intercept they sum to the score.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features), or sparse matrix of one row
            The example.
        top : int or None, default=None
            Maximum number of features. If None, all with a non-zero contribution.

        Returns
        -------
        contributions : Explanation
            A dict of contributions by the name of the feature, or by its index if the data have no names. The largest
            absolute values come first. Its attributes are the explained `label`, the `intercept` and the `score`.

        Notes
        -----
        The contribution of a feature to the score of a linear model is its weight times its value. If several models
        vote, or the leading one is not linear, the contributions are estimated Shapley values of the score, whose sum
        is exact.
        """
        self._check_fitted()
        return self._explain(as_matrix(x), None, np.ones(1), top)
