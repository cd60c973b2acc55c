"""Passive-aggressive uniclass prediction: novelty detection with an enclosing ball, updated online."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from onmargin._checks import check_sparse
from onmargin.estimators._checks import check_weight
from onmargin.estimators._estimator import Estimator, MatrixLike, n_jobs
from onmargin.estimators._fitted_attributes import KernelSupports, weights_of
from onmargin.learner import UnsoundRowError, Vector, as_rows
from onmargin.models.described import described
from onmargin.models.kernel_learner import KernelLearner
from onmargin.models.options import option
from onmargin.models.plan import Plan
from onmargin.models.rules import NONE, Number, Word
from onmargin.models.uniclass import FARTHEST, UniclassOptions, radius_of, starts_at_first, threshold_of
from onmargin.models.updates import check_combination

# With contamination="auto": if more than _TOO_MANY of the rows are outside the ball, _USUAL of them are outliers.
_TOO_MANY = 0.5
_USUAL = 0.1


def distances_of(lifted: NDArray[np.float64]) -> Vector:
    """Return the distances from the center among the rows, from the scores of a ball.

    Parameters
    ----------
    lifted : ndarray of shape (n_samples, 2)
        Distances from the center of the lifted ball, and its height.

    Returns
    -------
    distances : ndarray of shape (n_samples,)
        One distance per row.
    """
    far = np.where(lifted[:, 0] < FARTHEST, lifted[:, 0], FARTHEST)  # also where the square of a row overflows
    distances: Vector = np.sqrt(np.maximum(far**2 - lifted[:, 1] ** 2, 0))
    return distances


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveUniclass(OutlierMixin, KernelSupports, Estimator, UniclassOptions):  # type: ignore[misc]
    r"""Novelty detection with a passive-aggressive uniclass learner: an enclosing ball, updated online.

    An example within `epsilon` of the center does not change the center. Any other example moves it just far enough, to
    the solution of

    .. math:: \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad \|x_t - w\| - \epsilon \le \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`), which has the closed form :math:`\tau = \min(C, \ell)` along the direction from
    the center to the example. With ``radius="learn"`` the ball also grows, up to `max_radius`.

    Use it to follow the center of a stream and to detect examples far from it: novelty and outlier detection where the
    data form one cluster. It is not a density estimate: data in several clusters or on a thin surface need another
    model, such as this one with ``kernel="rbf"``, scikit-learn's ``OneClassSVM`` or ``LocalOutlierFactor``. Scale the
    features first: all features count equally in the distance.

    With a fixed radius, `partial_fit` follows the last rows. If rows are sorted by class, the ball ends around the last
    class: of the standardized and sorted rows of scikit-learn's wine data it holds 34 %, and of iris 63 % (98 % and all
    in random order). To hold earlier rows as well, shuffle the rows, call `fit`, or let the ball grow with
    ``radius="learn"`` and a `max_radius` such as ``2 * sqrt(n_features)``, which holds 99 % and all of these rows.

    Parameters
    ----------
    contamination : "auto" or float, default="auto"
        Which examples `predict` considers outliers. If "auto", rows outside the ball are outliers; if more than half of
        the rows would be, because the radius is too small for them, `offset_` is derived from their distances: after
        `fit`, so that a tenth of its rows are outliers; after `partial_fit`, as the radius plus the mean and twice the
        standard deviation of the losses so far, which at most a fifth of the rows exceeded when they were learned. If a
        number up to 0.5, `fit` sets `offset_` so that this fraction of its rows are outliers; `partial_fit` accepts
        "auto" only.
    target_loss : float or None, default=None
        Batch training to a target loss: `fit` makes plain PA steps, whatever `C` and `loss` are, until no example has a
        larger loss than this. With a fixed radius the loss is the distance from the ball. If None, `fit` makes passes
        as described above.
    selection : {"cyclic", "largest"}, default="cyclic"
        With `target_loss`, which example to learn next: "cyclic" takes one after the other, "largest" the one of
        largest loss.
    max_updates : int, default=100000
        Maximum number of steps for `target_loss`, which may be impossible to reach.
    warm_start : bool, default=False
        Whether `fit` continues from the current ball.

    Attributes
    ----------
    center_ : ndarray of shape (n_features,)
        The center of the ball.
    radius_ : float
        The radius of the ball.
    offset_ : float
        ``decision_function`` is ``score_samples`` minus this offset, which is minus the radius or set by
        `contamination`.
    support_ : ndarray of shape (n_support,)
        With a kernel: indices of the supports among the rows of all calls.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        With a kernel: the rows that are supports.
    dual_coef_ : ndarray of shape (1, n_support)
        With a kernel: the coefficients of the supports.
    n_support_ : int
        With a kernel: the number of supports.
    converged_ : bool
        Whether the last `fit` with `target_loss` reached the target.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data have names.
    totals_ : Totals
        Rounds, mistakes (examples outside the ball), updates, losses, dual value and largest squared norm so far. The
        loss of a learned radius is that of the ball in one more dimension; `cost` is the distance from the ball itself.

    See Also
    --------
    PassiveAggressiveRegressor : Passive-aggressive regression.

    Notes
    -----
    [JMLR] sec. 6 and [NIPS]. A round costs O(non-zeros): the center is stored with a scale factor. Rows are float64,
    because a distance is a small difference of large numbers. If some ball of radius epsilon around u holds all
    examples, plain PA obeys :math:`\sum_t \ell_t^2 \le \|u - w_1\|^2`; in general PA-II obeys :math:`\sum_t \ell_t^2
    \le (1 + 1/(2C)) (\|u - w_1\|^2 + 2C \sum_t \ell^{*2}_t)`, with :math:`\ell^*_t` the losses of u.

    On the simplex the step along the same direction :math:`v = (x_t - w_t)/\|x_t - w_t\|` is :math:`w_i \leftarrow w_i
    e^{\tau v_i} / Z` with :math:`\tau = \min(C, 4\ell/r^2)`, where r is the spread :math:`\max v - \min v` (PA-II:
    :math:`\ell / (r^2/4 + 1/(2C))`). It does not reach the example even with ``C=inf``. For u on the simplex whose ball
    of radius :math:`\epsilon^* \le \epsilon` holds all examples, ``C=inf`` obeys :math:`\sum_t \ell_t^2 + 2(\epsilon -
    \epsilon^*) \sum_t \ell_t \le \tfrac12 \max_t r_t^2\, (\ln n - H(u))`, with H the entropy and :math:`r_t^2 \le 2`.
    Examples may be anywhere. A step costs O(features), and a round without a loss O(non-zeros).

    Deviations from the papers: none in the step for plain weights; on the simplex the constant of [NIPS] Thm. 4,
    :math:`\tau = \ell / (8 \max |v|^2)`, does not give the bound stated there and is replaced. Example weights multiply
    C.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.
    [NIPS] K. Crammer, O. Dekel, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*, NIPS 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from onmargin import PassiveAggressiveUniclass
    >>> X = np.random.default_rng(0).normal(loc=5.0, size=(500, 2))
    >>> model = PassiveAggressiveUniclass(C=0.01, radius="learn", max_radius=3.0).partial_fit(X)
    >>> model.center_.round(1)
    array([5., 5.])
    >>> model.predict([[5.0, 5.5], [9.0, 1.0]])
    array([ 1, -1])

    The default radius is smaller than most distances between standardized rows. The threshold is then derived from the
    distances, so that most learned examples are inliers:

    >>> X = np.random.default_rng(0).normal(size=(500, 9))
    >>> model = PassiveAggressiveUniclass().partial_fit(X)
    >>> model.radius_, round(-model.offset_, 1), round(float((model.predict(X) == 1).mean()), 2)
    (0.1, 4.7, 0.94)
    """

    contamination: float | str = option("auto", Word("auto"), Number(0, 0.5, above=True))
    target_loss: float | None = option(None, Number(0, above=True, below=True), NONE)
    selection: str = option("cyclic", Word("cyclic", "largest"))
    max_updates: int = option(100_000, Number(1, 2**63 - 1, whole=True))
    n_jobs: int | None = n_jobs()

    def fit(self, X: MatrixLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to all examples, in several passes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float64 are not copied.
        y : ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._start_fitting() as plan:
            warm = self._go_on()
            X = self._check_input(X, keep=warm, dtypes=plan.rows.dtypes)
            weight = check_weight(sample_weight, X.shape[0])
            if warm:
                self._model.use_plan(plan)
            else:
                self._begin_ball(plan, X, weight)
            self._model.set_task()
            self._fit(as_rows(X), np.zeros(X.shape[0]), weight)
            scores, radius = -self._distances(X), self.radius_
            self._offset: float | None
            if not isinstance(self.contamination, str):
                self._offset = float(np.percentile(scores, 100 * self.contamination))
            elif np.mean(scores < -radius) > _TOO_MANY:
                self._offset = float(np.percentile(scores, 100 * _USUAL))
            else:
                self._offset = -radius
        return self

    def partial_fit(self, X: MatrixLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn examples in the given order, one round each; splitting a stream into calls does not change the result.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples. Dense C-contiguous or CSR data in float64 are not copied.
        y : ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated estimator.
        """
        with self._start_learning() as (plan, transaction):
            check_combination("partial_fit", {"contamination='auto'": self.contamination == "auto"})
            first = not self._has_begun
            if first or not self._is_plain(X):
                X = self._check_input(X, keep=not first, dtypes=plan.rows.dtypes)
            weight = check_weight(sample_weight, X.shape[0])
            skipped = 0
            if first:
                skipped = self._begin_ball(plan, X, weight)
            else:
                self._model.use_plan(plan)
            self._model.set_task()
            rows = as_rows(X).part(skipped, X.shape[0])
            self._offset = None
            self.n_iter_ = 1
            self._learn_on(transaction, rows, np.zeros(rows.n_rows), None if weight is None else weight[skipped:])
        return self

    def score_samples(self, X: MatrixLike) -> Vector:
        """Return minus the distance of each example from the center.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Scores of at most 0. Higher scores are more normal.
        """
        check_is_fitted(self)
        if self._learner.geometry.guards and self._is_large(X):
            try:
                return -self._distances(self._check_input(X, keep=True, finite=False), guarded=True)
            except UnsoundRowError:  # the check below reports what is wrong
                pass
        return -self._distances(X if self._is_plain(X) else self._check_input(X, keep=True))

    def decision_function(self, X: MatrixLike) -> Vector:
        """Return how far each example is inside the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            ``score_samples(X) - offset_``; negative for outliers.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: MatrixLike) -> NDArray[np.intp]:
        """Predict whether each example is an inlier or an outlier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            1 for inliers, -1 for outliers: examples whose `decision_function` is negative.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _check_model(self, plan: Plan) -> None:
        super()._check_model(plan)
        if not isinstance(self._offset, float | None):
            raise ValueError(f"_offset must be None or a float; got {self._offset!r:.60}")

    def _begin_ball(self, plan: Plan, X: Any, weight: Vector | None) -> int:
        """Begin an empty ball, or one centered at the first example that counts; return the number of rows used."""
        check_sparse(X)  # the first row is used before `as_rows` checks all rows
        self._begin(plan, X)
        if not starts_at_first(self):
            return 0
        first = 0 if weight is None else int(np.flatnonzero(weight)[0])
        row = X[[first]]
        if isinstance(self._learner, KernelLearner):
            self._learner.set_center(row, first)
        else:
            self._learner.geometry.assign((row.toarray() if sparse.issparse(row) else row).ravel())
        return first + 1

    def _distances(self, X: Any, *, guarded: bool = False) -> Vector:
        """Return the distances of rows from the center; with `guarded`, X was not checked."""
        rows = as_rows(X, guarded=guarded)
        return self._model.scores(rows, n_jobs=self.n_jobs, guarded=guarded, decode=distances_of)

    @property
    def center_(self) -> Vector:
        """The center of the ball."""
        learner = self._check_fitted()
        if isinstance(learner, KernelLearner):
            return np.asarray(weights_of(self, "center_")[0])
        center: Vector = learner.geometry.center()
        return center

    @property
    def radius_(self) -> float:
        """The radius of the ball."""
        return radius_of(self._check_fitted())

    @property
    def offset_(self) -> float:
        """Smallest score of an inlier."""
        threshold = threshold_of(self._check_fitted())
        return -threshold if self._offset is None else self._offset
