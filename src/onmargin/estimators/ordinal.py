"""Ordinal regression: ranks between thresholds."""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._core.geometries.trials import Thresholds
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin._core.tasks.trial import Ordinal
from onmargin.estimators._checks import check_ordered, check_ranks, check_weight, live
from onmargin.estimators._classes import label_codes
from onmargin.estimators._linear import LinearLearner
from onmargin.estimators._online import MatrixLike
from onmargin.learner import Vector
from onmargin.models.rules import Rule, Word
from onmargin.models.updates import TRIALS, check_combination


class OrdinalRegressor(LinearLearner):
    r"""Ordinal regression: one score, and thresholds that cut it into ranks.

    With k ranks there are weights w and thresholds :math:`b_1, \dots, b_{k-1}`; the rank predicted is the first i with
    :math:`w \cdot x < b_i`. An example of rank y asks the score to be above the thresholds below y and below the
    others, each by a margin of 1. All that are asked at once are a trial, and a round solves, exactly or nearly,

    .. math:: \min_{w, b} \tfrac12 \|(w, b) - (w_t, b_t)\|^2 + C\,\xi \quad\text{s.t.}\quad
        y_j (w \cdot x - b_j) \ge 1 - \xi\ \ \forall j,\ \xi \ge 0,

    with :math:`y_j = +1` for :math:`j < y` and -1 otherwise.

    Use it for targets that have an order but no distances: ratings, grades, severities. If their distances mean
    something, :class:`PassiveAggressiveRegressor` uses them; if ranks need weights of their own, a classifier with
    ``cost="absolute"`` has them. Scale the features first: each threshold counts as a feature of size 1.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the sum of a round's steps is at most C. Smaller is more cautious and better under
        noise.
    update : {"max", "simperc", "conproj", "simproj", "simopt", "conopt", "exact"}, default="max"
        Which thresholds a round moves, and how far: "max" the one most violated; "simperc" and "conproj" all that are
        on the wrong side of the score, by a fixed step or by the mean of their projections; "simproj" the mean over
        all that are too near, which has no mistake bound; "simopt" the optimum of the problem without its cross terms,
        which has none either; "conopt" the same for those on the wrong side, which has one for small C; "exact" the
        problem itself.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss was not better by `tol` than the best
        before. None: all `max_iter` passes are made.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    average : bool or int, default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of those that are learned, unless they are averaged.
    thresholds_ : ndarray of shape (n_ranks - 1,)
        Thresholds as learned. "simproj", "simopt" and "exact" keep them in order; the other updates may not, and where
        one is below those before it, the rank between is never predicted.
    intercept_ : ndarray of shape (n_ranks - 1,)
        Minus the thresholds.
    classes_ : ndarray of shape (n_ranks,)
        The ranks, from low to high.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    totals_ : Totals
        Rounds, mistakes (a threshold on the wrong side of the score, or at it), updates, losses, dual value and largest
        squared norm so far; `cost` is the sum of the distances between predicted and right ranks, in ranks.

    See Also
    --------
    PassiveAggressiveClassifier : With ``cost="absolute"`` for ordered classes, one prototype each.
    PassiveAggressiveRegressor : For numbers whose distances count.

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
    _geometry = Thresholds
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = LinearLearner._rules | {"update": (Word(*TRIALS),)}

    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        C: float = 1.0,
        update: str = "max",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.update = update
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all the data in as many passes as it takes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR, float32 or float64 are learned in place.
        y : array-like of shape (n_samples,)
            Ranks: integers without gaps, at least two.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._all_or_nothing():
            self._check_combination()
            warm = self._go_on()
            X, y, rows = self._validate(X, y, keep=warm)
            weight = check_weight(sample_weight, len(y))
            if not warm:
                self._begin_ranks(X, check_ranks(live(y, weight)))
            codes = self._codes(y, weight)
            self._prepare()
            self._run_passes(rows, codes, weight)
        return self

    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn these examples in the given order, one round each. How a stream is cut into calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR, float32 or float64 are learned in place.
        y : array-like of shape (n_samples,)
            Ranks.
        classes : array-like of shape (n_ranks,), default=None
            The ranks from low to high, numbers or names. Looked at in the first call only; without it they are those
            of its `y`, which must be integers without gaps.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The estimator, having learned.
        """
        with self._all_or_nothing():
            self._check_combination()
            first = not hasattr(self, "_learner")
            X, y, rows = self._validate(X, y, keep=not first)
            weight = check_weight(sample_weight, len(y))
            if first:
                self._begin_ranks(X, check_ranks(live(y, weight)) if classes is None else check_ordered(classes))
            codes = self._codes(y, weight)
            self._prepare()
            self._learner.learn(rows, codes, weight)
            self.n_iter_ = 1
        return self

    def decision_function(self, X: MatrixLike) -> Vector:
        """The score that the thresholds cut into ranks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The higher, the higher the rank.
        """
        scores: Vector = self._scores(X)[:, 0] - self.intercept_[0]
        return scores

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The rank of each example: that of the first threshold above its score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        ranks : ndarray of shape (n_samples,)
            Ranks, of those in ``classes_``.
        """
        scores = self._scores(X)
        ranks: NDArray[Any] = self.classes_[self._learner.task.decode(scores)]
        return ranks

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Minus the mean distance between predicted and right ranks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.
        y : array-like of shape (n_samples,)
            Their ranks.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples in the mean.

        Returns
        -------
        score : float
            At most 0: the higher, the better.
        """
        predicted = self._codes(self.predict(X))
        weight = check_weight(sample_weight, len(predicted))
        return -float(np.average(np.abs(predicted - self._codes(np.asarray(y))), weights=weight))

    @property
    def thresholds_(self) -> Vector:
        """Thresholds as learned."""
        return -self.intercept_

    def _bias(self) -> float:
        """A threshold is a coordinate of value -1."""
        return 1.0

    def _task(self) -> Task:
        return Ordinal()

    def _step(self) -> Step:
        return TRIALS[self.update](self.C)

    def _check_combination(self) -> None:
        check_combination(
            f"update={self.update!r}", {"a finite C": self.update not in {"simperc", "exact"} or inf > self.C}
        )

    def _begin_ranks(self, X: Any, ranks: NDArray[Any]) -> None:
        self.classes_ = ranks
        self._begin(X, len(ranks) - 1)

    def _codes(self, y: NDArray[Any], weight: Vector | None = None) -> Vector:
        """Ranks as numbers from 0; any, for an example of weight 0."""
        remedy = "Name all ranks, from low to high, with classes= in the first call of partial_fit."
        return label_codes(y, self.classes_, weight, remedy=remedy).astype(np.float64)
