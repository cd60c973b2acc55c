"""Gradient descent and exponentiated gradient: regression with a constant rate."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from onmargin._core.geometries.geometry import Euclidean, Geometry
from onmargin._core.steps.step import Proportional, Step
from onmargin._core.tasks.task import Regression, Task
from onmargin.estimators._checks import check_numbers, check_weight, live
from onmargin.estimators._geometries import entropic
from onmargin.estimators._online import MatrixLike, OnlineLearner
from onmargin.learner import Learner, as_rows
from onmargin.models.rules import FLAG, NOTHING, Number, Rule


class _RateRegressor(RegressorMixin, OnlineLearner):  # type: ignore[misc]
    """Steps of rate times the residual, in some geometry."""

    _dtypes = (np.dtype(np.float64),)
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = OnlineLearner._rules | {
        "rate": (Number(0, above=True, below=True), NOTHING),
    }

    rate: float | None
    rate_: float

    def _geometry(self, X: Any) -> Geometry:
        raise NotImplementedError

    def _proven_rate(self, X: Any) -> float:
        """The rate of the bound, if these are all rows there will be."""
        raise NotImplementedError

    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all the data in as many passes as it takes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR float64 are learned in place.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the rate; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._all_or_nothing():
            warm = self._go_on()
            X, y, rows = self._validate(X, y, keep=warm)
            target, weight = check_numbers(y, "y"), check_weight(sample_weight, len(y))
            if not warm:
                self._begin(live(X, weight))
            self._prepare()
            self._run_passes(rows, target, weight)
        return self

    def partial_fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn these examples in the given order, one round each.

        With a `rate` of its own, how a stream is cut into calls makes no difference; without, the first call decides.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR float64 are learned in place.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the rate; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The estimator, having learned.
        """
        with self._all_or_nothing():
            first = not hasattr(self, "_learner")
            X, y, rows = self._validate(X, y, keep=not first)
            target, weight = check_numbers(y, "y"), check_weight(sample_weight, len(y))
            if first:
                self._begin(live(X, weight))
            self._prepare()
            self._learner.learn(rows, target, weight)
            self.n_iter_ = 1
        return self

    def predict(self, X: MatrixLike) -> NDArray[np.float64]:
        """The predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            A number for each example.
        """
        check_is_fitted(self)
        return self._learner.scores(as_rows(X if self._is_plain(X) else self._checked(X, keep=True)))[:, 0]

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights."""
        coef: NDArray[np.float64] = self._fitted().geometry.mean()[0][0]
        return coef

    def _begin(self, X: Any) -> None:
        self.rate_ = self._proven_rate(X) if self.rate is None else float(self.rate)
        self._learner = Learner(Task(), self._step(), self._geometry(X))

    def _task(self) -> Task:
        return Regression(0.0)

    def _step(self) -> Step:
        return Proportional(self.rate_)


def _squared_norms(X: Any) -> NDArray[np.float64]:
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    return np.asarray(squares, dtype=np.float64).ravel()


class GradientDescentRegressor(_RateRegressor):
    r"""Gradient descent on squared losses, the Widrow-Hoff rule: :math:`w \leftarrow w - \eta (w \cdot x - y) x`.

    Use it as the baseline that it is, or where the proof for its constant rate is what you want.
    :class:`PassiveAggressiveRegressor` has no rate to choose.

    Parameters
    ----------
    rate : float or None, default=None
        :math:`\eta`, above 0. None: :math:`1 / (2 X^2)` with X the largest norm among the rows of the first call, for
        which the bound below is proved.
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

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of those that are learned.
    rate_ : float
        The rate in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    totals_ : Totals
        Rounds, mistakes (targets that were not hit), updates, sums of absolute and of squared losses so far. The dual
        value means nothing here.

    See Also
    --------
    ExponentiatedGradientRegressor : The same on the simplex.
    PassiveAggressiveRegressor : Steps as long as the tube asks.

    Notes
    -----
    [SLIDES], with E1. For any weights u the sum of the squared losses is at most :math:`2 L(u) + 2 X^2 \|u\|^2`. Rates
    of :math:`1 / (2\|x_t\|^2)`, as printed there, have no such bound where norms differ. There is no intercept: append
    a constant feature. Example weights multiply the rate.

    References
    ----------
    [SLIDES] F. Koriche, *Online Learning*, lecture slides, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from onmargin import GradientDescentRegressor
    >>> X, y = map(scale, load_diabetes(return_X_y=True))
    >>> round(GradientDescentRegressor(random_state=0).fit(X, y).score(X, y), 2)
    0.51
    """

    def __init__(
        self,
        *,
        rate: float | None = None,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
    ) -> None:
        self.rate = rate
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start

    def _geometry(self, X: Any) -> Geometry:
        return Euclidean(self.n_features_in_, 1, np.float64, sparse=sparse.issparse(X))

    def _proven_rate(self, X: Any) -> float:
        longest = _squared_norms(X).max()
        return 1 / (2 * longest) if longest > 0 else 1.0


class ExponentiatedGradientRegressor(_RateRegressor):
    r"""Exponentiated gradient: weights on the simplex, :math:`w_i \leftarrow w_i e^{-\eta (w \cdot x - y) x_i} / Z`.

    Use it where the target is a mixture of few of very many features: its losses grow with the logarithm of their
    number. With `balanced` weights have either sign, and their sizes sum to less than 1: scale the targets to suit.

    Parameters
    ----------
    rate : float or None, default=None
        :math:`\eta`, above 0. None: :math:`2 / R^2` with R the largest spread (largest less smallest number, zeros
        included) of a row of the first call, for which the bound below is proved.
    balanced : bool, default=False
        Whether weights have either sign: those of the features and of their negatives.
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

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a copy.
    rate_ : float
        The rate in use.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    totals_ : Totals
        Rounds, mistakes (targets that were not hit), updates, sums of absolute and of squared losses so far. The dual
        value means nothing here.

    See Also
    --------
    GradientDescentRegressor : The same with plain weights.

    Notes
    -----
    [SLIDES], with E2. For any u on the simplex the sum of the squared losses is at most :math:`2 L(u) + R^2 (\ln n -
    H(u))`, H being the entropy. The weights start at 1/n. There is no intercept: append a constant feature. Example
    weights multiply the rate.

    References
    ----------
    [SLIDES] F. Koriche, *Online Learning*, lecture slides, 2011.

    Examples
    --------
    The mean of three of 500 features:

    >>> import numpy as np
    >>> from onmargin import ExponentiatedGradientRegressor, GradientDescentRegressor
    >>> X = np.random.default_rng(0).random((300, 500))
    >>> y = X[:, [3, 70, 400]].mean(axis=1)
    >>> for kind in GradientDescentRegressor, ExponentiatedGradientRegressor:
    ...     print(f"{kind().partial_fit(X, y).totals_.squared_loss:.1f}")
    10.0
    2.7
    """

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = _RateRegressor._rules | {"balanced": (FLAG,)}

    def __init__(
        self,
        *,
        rate: float | None = None,
        balanced: bool = False,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
    ) -> None:
        self.rate = rate
        self.balanced = balanced
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start

    def _geometry(self, X: Any) -> Geometry:
        return entropic(self.n_features_in_, 1, balanced=self.balanced, threshold=0.0)

    def _proven_rate(self, X: Any) -> float:
        low, high = X.min(axis=1), X.max(axis=1)
        low, high = (np.asarray(side.todense() if sparse.issparse(side) else side).ravel() for side in (low, high))
        spread = 2 * np.maximum(high, -low) if self.balanced else high - low
        return 2 / float(spread.max()) ** 2 if spread.max() > 0 else 1.0
