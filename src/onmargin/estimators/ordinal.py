"""Ordinal regression: one linear score, and thresholds that divide it into ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin.estimators._checks import check_ordered, check_ranks, check_weight, live
from onmargin.estimators._estimator import MatrixLike
from onmargin.estimators._fitted_attributes import Classes
from onmargin.estimators._linear_estimator import LinearEstimator
from onmargin.learner import Vector
from onmargin.models.described import described
from onmargin.models.labels import check_codes
from onmargin.models.ordinal import OrdinalRegressorOptions
from onmargin.models.plan import Plan


@described
@dataclass(kw_only=True, eq=False, repr=False)
class OrdinalRegressor(Classes, LinearEstimator, OrdinalRegressorOptions):
    r"""Ordinal regression: one linear score, and thresholds that divide it into ranks.

    With k ranks there are weights w and thresholds :math:`b_1, \dots, b_{k-1}`; the rank predicted is the first i with
    :math:`w \cdot x < b_i`. An example of rank y requires the score to be above the thresholds below y and below the
    others, each by a margin of 1. These constraints together are a trial, and a round solves, exactly or approximately,

    .. math:: \min_{w, b} \tfrac12 \|(w, b) - (w_t, b_t)\|^2 + C\,\xi \quad\text{s.t.}\quad
        y_j (w \cdot x - b_j) \ge 1 - \xi\ \ \forall j,\ \xi \ge 0,

    with :math:`y_j = +1` for :math:`j < y` and -1 otherwise.

    Use it for targets that have an order but no distances: ratings, grades, severities. If the distances are
    meaningful, use :class:`PassiveAggressiveRegressor`; if each rank needs its own weights, use a classifier with
    ``cost="absolute"``. Scale the features first: each threshold counts as a feature of size 1.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of the learned weights, unless they are averaged.
    thresholds_ : ndarray of shape (n_ranks - 1,)
        The learned thresholds. "simproj", "simopt" and "exact" keep them in order. The other updates may not; if a
        threshold is below those before it, the rank between is never predicted.
    intercept_ : ndarray of shape (n_ranks - 1,)
        Minus the thresholds.
    classes_ : ndarray of shape (n_ranks,)
        The ranks, from low to high.
    totals_ : Totals
        Rounds, mistakes (a threshold on the wrong side of the score, or at it), updates, losses, dual value and largest
        squared norm so far; `cost` is the sum of the distances between predicted and right ranks, in ranks.

    See Also
    --------
    PassiveAggressiveClassifier : With ``cost="absolute"`` for ordered classes, one prototype each.
    PassiveAggressiveRegressor : For numeric targets whose distances matter.

    Notes
    -----
    [SIMPROJ] sec. 3. A round costs O(non-zeros + ranks); "exact" O(ranks) for each exchange of its solver. For any
    weights and thresholds u and their losses :math:`\ell^*_t` the mistakes of "max", "conproj" and "exact" are at most
    :math:`(\tfrac12\|u\|^2 + C \sum_t \ell^*_t) / (C' - \tfrac12 C'^2 R^2)` with :math:`C' = \min(C, 1/R^2)` and
    :math:`R^2` the largest :math:`\|x\|^2 + 1`; "simperc" and "conopt" obey it with :math:`C' = C < 2/R^2`.

    Deviations from the paper: none; example weights multiply C.

    References
    ----------
    [SIMPROJ] Y. Amit, S. Shalev-Shwartz, Y. Singer, *Online Learning of Complex Prediction Problems Using Simultaneous
    Projections*, JMLR 9:1399-1435, 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from onmargin import OrdinalRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> severity = (y > 100).astype(int) + (y > 200)
    >>> model = OrdinalRegressor(C=0.1, average=True, random_state=0).fit(scale(X), severity)
    >>> model.thresholds_.round(1)
    array([-0.5,  0.7])
    >>> round(-model.score(scale(X), severity), 2)  # ranks off, on average
    0.4
    """

    _flat = True

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to all examples, in several passes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        y : array-like of shape (n_samples,)
            Ranks: integers without gaps, at least two.
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
            weight = check_weight(sample_weight, len(y))
            if warm:
                self._model.use_plan(plan)
            else:
                self._begin_ranks(plan, X, None, live(y, weight))
            codes = self._codes(y, weight)
            self._model.set_task()
            self._run_passes(rows, codes, weight)
        return self

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn examples in the given order, one round each; splitting a stream into calls does not change the result.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float32 or float64 are not copied.
        y : array-like of shape (n_samples,)
            Ranks.
        classes : array-like of shape (n_ranks,), default=None
            The ranks from low to high, numbers or names. Used in the first call only, and not if `ranks` is set. If
            None, they are the ranks in the `y` of the first call, which must be integers without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated estimator.
        """
        with self._start_learning() as (plan, transaction):
            first = not self._has_begun
            X, y, rows = self._validate(X, y, keep=not first, dtypes=plan.rows.dtypes)
            weight = check_weight(sample_weight, len(y))
            if first:
                self._begin_ranks(plan, X, classes, live(y, weight))
            else:
                self.densify()
                self._model.use_plan(plan)
            codes = self._codes(y, weight)
            self._model.set_task()
            self.n_iter_ = 1
            self._learn_on(transaction, rows, codes, weight)
        return self

    def decision_function(self, X: MatrixLike) -> Vector:
        """Return the score that the thresholds divide into ranks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Higher scores mean higher ranks.
        """
        scores: Vector = self._scores(X)[:, 0] - self.intercept_[0]
        return scores

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Predict the rank of each example: that of the first threshold above its score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ranks : ndarray of shape (n_samples,)
            One rank of ``classes_`` per example.
        """
        scores = self._scores(X)
        ranks: NDArray[Any] = self.classes_[self._learner.task.decode(scores)]
        return ranks

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the mean distance between predicted and right ranks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their ranks.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples in the average.

        Returns
        -------
        score : float
            The score, at most 0; higher is better.
        """
        predicted = self._codes(self.predict(X))
        weight = check_weight(sample_weight, len(predicted))
        return -float(np.average(np.abs(predicted - self._codes(np.asarray(y))), weights=weight))

    @property
    def thresholds_(self) -> Vector:
        """The learned thresholds."""
        return -self.intercept_

    def _check_model(self, plan: Plan) -> None:
        check_ordered(self.classes_, "classes_")
        self._model.check(plan, n_columns=len(self.classes_) - 1, add_labels=lambda twin, labels: None)

    def _begin_ranks(self, plan: Plan, X: Any, classes: Any, y: NDArray[Any]) -> None:
        """Begin with the ranks given as `ranks` or `classes`, or else with those of y."""
        if self.ranks is not None:
            ranks = check_ordered(self.ranks, "ranks")
        else:
            ranks = check_ranks(y) if classes is None else check_ordered(classes, "classes")
        self._begin(plan, X, len(ranks) - 1, known=ranks)

    def _codes(self, y: NDArray[Any], weight: Vector | None = None) -> Vector:
        """Return the ranks as numbers from 0; arbitrary for an example of weight 0."""
        remedy = "Name all ranks, from low to high, with classes= in the first call of partial_fit."
        return check_codes(y, self.classes_, weight, remedy=remedy).astype(np.float64)
