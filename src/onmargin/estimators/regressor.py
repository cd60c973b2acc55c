"""Passive-aggressive regression."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.model_selection import ShuffleSplit

from onmargin._core.tasks.task import Regression, Task
from onmargin.estimators._checks import check_numbers, check_weight
from onmargin.estimators._online import MatrixLike
from onmargin.estimators._validation import ValidatedLearner
from onmargin.models.rules import Number, Rule, Word


class PassiveAggressiveRegressor(RegressorMixin, ValidatedLearner):  # type: ignore[misc]
    r"""Passive-aggressive regressor: stay where you are, as long as predictions are within epsilon of the target.

    An example predicted within `epsilon` of its target leaves the weights alone. Any other moves them just far
    enough: to the solution of

    .. math::
        \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad |y_t - w \cdot x_t| - \epsilon \le \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`), which has the closed form :math:`\tau = \min(C, \ell / \|x_t\|^2)`.

    Use it for streams and for data too large or too changing to keep, where no learning rate should have to be tuned.
    Prefer a batch solver when the data fit in memory and do not change. Scale the features first: a step is spread
    over them by their size.

    Parameters
    ----------
    C : float, sequence of floats or "auto", default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller is more
        cautious and better under noise; ``inf`` gives plain PA, which always reaches the tube. Of several values all
        are learned in one pass, and the best so far predict; "auto" is a grid of nine from 0.001 to 10.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss (with `early_stopping`: validation score)
        was not better by `tol` than the best before. None: all `max_iter` passes are made.
    early_stopping : bool, default=False
        Whether `fit` holds out a part of the data and judges a pass by the R² there.
    validation_fraction : float, default=0.1
        The part held out, between 0 and 1.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The first is PA-I, the second PA-II.
    epsilon : float, default=0.1
        Half the width of the tube in which predictions are right; at least 0.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling and of the validation split.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the losses of each so far.
    target_loss : float or None, default=None
        `fit` makes plain PA steps, whatever `C` and `loss` are, until no example loses more than this: batch
        conversion. None: passes as above.
    selection : {"cyclic", "largest"}, default="cyclic"
        Which example steps next with `target_loss`: one after the other, or the one of largest loss.
    max_updates : int, default=100000
        Most steps made for `target_loss`, which need not be possible to reach.
    geometry : {"euclidean", "entropic", "adaptive", "normalized"}, default="euclidean"
        "entropic": weights are on the simplex, at least 0 and of sum 1, and multiplied instead of added to.
        Where few of very many features matter. No intercept, no averaging.
        "adaptive": the step is taken in the metric of AdaGrad, in which rare features move further.
        "normalized": the like, whatever the units of each feature.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or None, default=None
        Learn in the feature space of a kernel: the weights are an expansion over the examples that moved them, and a
        round costs as much as there are of those. A callable gives the kernel values of the rows of two matrices;
        "precomputed": X holds them, n x n in `fit` and n_test x n in prediction.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "poly", "rbf" and "sigmoid", above 0. "scale" is ``1 / (n_features * X.var())`` of the X of `fit` or of the
        first `partial_fit`, "auto" is ``1 / n_features``.
    degree : int, default=3
        Of "poly", at least 0.
    coef0 : float, default=0.0
        Constant in "poly" and "sigmoid".
    budget : int or None, default=None
        With a kernel, the most supports to keep, at least 1; the bounds below then hold no more. None: all.
    budget_policy : {"projection", "forgetron", "oldest", "smallest"}, default="projection"
        What goes for a new support: that whose projection the new one can best take over, the oldest after all were
        shrunk, the oldest as it is, or that of the smallest contribution.
    combine : {"leader", "hedge"}, default="leader"
        With several C, or ``average="best"``, predict with the model of the least loss so far, or the mean of all that
        AdaHedge weighs.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of those that are learned, unless they are averaged.
    intercept_ : ndarray of shape (1,)
        Intercept.
    sweep_ : Standing
        With several C: mistakes, losses, weight and coefficients of each; ``coef_`` is that of the leader.
    averages_ : Standing
        With ``average="best"``: losses and coefficients of the current weights and of the averaged ones.
    support_ : ndarray of shape (n_support,)
        With a kernel: which rows, counted over all calls, the supports are.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        Those rows.
    dual_coef_ : ndarray of shape (1, n_support)
        Their coefficients.
    n_support_ : int
        Their number.
    converged_ : bool
        Whether the last `fit` with `target_loss` reached it.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes (targets outside the tube), updates, losses, dual value and largest squared norm so far, of the
        weights that learn, not of their mean.

    See Also
    --------
    PassiveAggressiveClassifier : The same for classes.

    Notes
    -----
    [JMLR] sec. 5. A round costs O(non-zeros). For any weights u the losses of PA-I obey :math:`\sum_t \min(C \ell_t,
    \ell_t^2 / R^2) \le \|u\|^2 + 2C \sum_t \ell^*_t` and those of PA-II :math:`\sum_t \ell_t^2 \le (R^2 + 1/(2C))
    (\|u\|^2 + 2C \sum_t \ell^{*2}_t)`, with :math:`R^2` the largest squared norm of a row and :math:`\ell^*_t` the
    losses of u.

    Deviations from the paper: none in the step; the intercept is a constant feature, and example weights multiply C.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from onmargin import PassiveAggressiveRegressor
    >>> X, y = map(scale, load_diabetes(return_X_y=True))
    >>> model = PassiveAggressiveRegressor(C=0.01, average=True, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    """

    _flat = True
    _by_loss = True
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = ValidatedLearner._rules | {
        "loss": (Word("epsilon_insensitive", "squared_epsilon_insensitive"),),
        "epsilon": (Number(0),),
    }

    def __init__(
        self,
        *,
        C: float | ArrayLike | str = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float | str = "auto",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        average: bool | int | str = False,
        target_loss: float | None = None,
        selection: str = "cyclic",
        max_updates: int = 100_000,
        geometry: str = "euclidean",
        kernel: str | Callable[[Any, Any], Any] | None = None,
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        budget: int | None = None,
        budget_policy: str = "projection",
        combine: str = "leader",
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
        self.target_loss = target_loss
        self.selection = selection
        self.max_updates = max_updates
        self.geometry = geometry
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.budget_policy = budget_policy
        self.combine = combine

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from all the data in as many passes as it takes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR, float32 or float64 are learned in place.
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
        with self._all_or_nothing():
            self._check_combination()
            warm = self._go_on()
            X, y, rows = self._validate(X, y, keep=warm)
            target = check_numbers(y, "y", X.dtype)
            weight = check_weight(sample_weight, len(y))
            if not warm:
                self._begin(X)
            self._prepare()
            self._start_from(coef_init, intercept_init)
            self._fit(X, y, rows, target, weight)
        return self

    def partial_fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn these examples in the given order, one round each. How a stream is cut into calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR, float32 or float64 are learned in place.
        y : array-like of shape (n_samples,)
            Targets.
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
            target = check_numbers(y, "y", X.dtype)
            weight = check_weight(sample_weight, len(y))
            if first:
                self._begin(X)
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
        return self._scores(X)[:, 0]

    def _check_combination(self) -> None:
        needs = {"target_loss=None": self.target_loss is None}
        self._check_geometry(needs)
        self._check_sweep(needs)

    def _task(self) -> Task:
        return Regression(self.epsilon)

    def _splitter(self) -> ShuffleSplit:
        return ShuffleSplit(test_size=self.validation_fraction, random_state=self.random_state)

    def _quality(self, scores: NDArray[np.float64], y: NDArray[Any]) -> float:
        return float(r2_score(y, scores[:, 0]))
