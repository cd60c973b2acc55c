"""Passive-aggressive uniclass prediction: a ball that follows what it sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from onmargin.estimators._ball import BallLearner
from onmargin.estimators._batch import BatchConversion
from onmargin.estimators._checks import check_weight
from onmargin.estimators._kernel import BudgetOption
from onmargin.estimators._online import MatrixLike
from onmargin.learner import Vector, as_rows
from onmargin.models.rules import NOTHING, Number, Rule, Word
from onmargin.models.updates import check_combination


class PassiveAggressiveUniclass(OutlierMixin, BallLearner):  # type: ignore[misc]
    r"""Passive-aggressive uniclass learner: a ball that moves just far enough to hold each example.

    An example within `epsilon` of the centre leaves it alone. Any other draws it nearer: to the solution of

    .. math:: \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad \|x_t - w\| - \epsilon \le \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`), which has the closed form :math:`\tau = \min(C, \ell)` along the direction from
    the centre to the example. With ``radius="learn"`` the ball also grows, up to `max_radius`.

    Use it to follow the centre of a stream and to flag what is far from it: novelty and outlier detection where the
    data are one cloud. It is no density estimate: data in several clouds or on a thin surface need another model, such
    as this one with ``kernel="rbf"``, scikit-learn's ``OneClassSVM`` or ``LocalOutlierFactor``. Scale the features
    first: distance counts them alike.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the farthest the centre moves for one example (PA-I) or the price of squared slack
        (PA-II). Smaller is more cautious and better under noise; ``inf`` gives plain PA, which always reaches the
        example.
    epsilon : float, default=0.1
        The radius with ``radius="fixed"``; at least 0.
    radius : {"fixed", "learn"}, default="fixed"
        "learn": the radius starts at 0 and grows with what is seen, and never beyond `max_radius`.
    max_radius : float or None, default=None
        The bound B on a learned radius, above 0: take it of the order of the data's diameter. A larger one lets the
        radius do more of the work and the centre less. Needed with ``radius="learn"``.
    init : {"first", "zero"}, default="first"
        Where the centre starts: at the first example ([NIPS]), which `partial_fit` does not count as a round, or at
        the origin ([JMLR]).
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The first is PA-I, the second PA-II.
    contamination : "auto" or float, default="auto"
        What `predict` calls an outlier. "auto": all outside the ball. A number up to 0.5: `fit` sets `offset_` so that
        this part of the training data is called outliers. Streams have no such part: `partial_fit` takes "auto" only.
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
        Whether `fit` goes on from the ball it finds.
    target_loss : float or None, default=None
        `fit` makes plain PA steps, whatever `C` and `loss` are, until no example loses more than this: batch
        conversion. With a fixed radius the loss is the distance from the ball. None: passes as above.
    selection : {"cyclic", "largest"}, default="cyclic"
        Which example steps next with `target_loss`: one after the other, or the one of largest loss.
    max_updates : int, default=100000
        Most steps made for `target_loss`, which need not be possible to reach.
    geometry : {"euclidean", "entropic"}, default="euclidean"
        "entropic": the centre is on the simplex, its numbers at least 0 and of sum 1, and they are multiplied instead
        of added to: for proportions and histograms. It starts uniform, whatever `init` says, and needs
        ``radius="fixed"`` and ``target_loss=None``.
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
        Most supports that a kernel may have, at least 1; None: all that moved the centre. Their kernel values with each
        other are kept, 8 times its square in bytes.
    budget_policy : {"projection", "smallest", "oldest"}, default="projection"
        What goes when a new support would be one too many: the support of which least is lost when the new one takes
        over its projection, the one of the smallest contribution, or the oldest; these two leave their share to all
        others. What is lost are the bounds.

    Attributes
    ----------
    center_ : ndarray of shape (n_features,)
        The centre of the ball.
    radius_ : float
        Its radius.
    offset_ : float
        ``decision_function`` is ``score_samples`` less this: minus the radius, or what `contamination` asks for.
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
    totals_ : Totals
        Rounds, mistakes (examples outside the ball), updates, losses, dual value and largest squared norm so far. The
        loss of a learned radius is that of the ball in one more dimension; `cost` is the distance from the ball itself.

    See Also
    --------
    PassiveAggressiveRegressor : The same step for targets.

    Notes
    -----
    [JMLR] sec. 6 and [NIPS]. A round costs O(non-zeros): the centre is kept scaled. Rows are float64, because a
    distance is a small difference of large numbers. If some ball of radius epsilon around u holds all examples, plain
    PA obeys :math:`\sum_t \ell_t^2 \le \|u - w_1\|^2`; in general PA-II obeys :math:`\sum_t \ell_t^2 \le (1 + 1/(2C))
    (\|u - w_1\|^2 + 2C \sum_t \ell^{*2}_t)`, with :math:`\ell^*_t` the losses of u.

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
    """

    _dtypes = (np.dtype(np.float64),)
    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        **BatchConversion._rules,
        **BudgetOption._rules,
        "epsilon": (Number(0, below=True),),
        "radius": (Word("fixed", "learn"),),
        "max_radius": (Number(0, above=True, below=True), NOTHING),
        "init": (Word("first", "zero"),),
        "loss": (Word("epsilon_insensitive", "squared_epsilon_insensitive"),),
        "contamination": (Word("auto"), Number(0, 0.5, above=True)),
        "geometry": (Word("euclidean", "entropic"),),
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        radius: str = "fixed",
        max_radius: float | None = None,
        init: str = "first",
        loss: str = "epsilon_insensitive",
        contamination: float | str = "auto",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
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
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.radius = radius
        self.max_radius = max_radius
        self.init = init
        self.loss = loss
        self.contamination = contamination
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start
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

    def fit(self, X: MatrixLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all the data in as many passes as it takes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR float64 are learned in place.
        y : ignored
            Not used, present for API consistency.
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
            X = self._checked(X, keep=warm)
            weight = check_weight(sample_weight, X.shape[0])
            if not warm:
                self._begin(X, weight)
            self._prepare()
            rows, nothing = as_rows(X), np.zeros(X.shape[0])
            if self.target_loss is None:
                self._run_passes(rows, nothing, weight)
            else:
                self._reach_target(rows, nothing, weight)
            self._offset = None
            if not isinstance(self.contamination, str):
                self._offset = float(np.percentile(-self._distances(X), 100 * self.contamination))
        return self

    def partial_fit(self, X: MatrixLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn these examples in the given order, one round each. How a stream is cut into calls makes no difference.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples; dense C-contiguous or CSR float64 are learned in place.
        y : ignored
            Not used, present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The estimator, having learned.
        """
        with self._all_or_nothing():
            self._check_combination()
            check_combination("partial_fit", {"contamination='auto'": self.contamination == "auto"})
            first = not hasattr(self, "_learner")
            if first or not self._is_plain(X):
                X = self._checked(X, keep=not first)
            weight = check_weight(sample_weight, X.shape[0])
            skipped = self._begin(X, weight) if first else 0
            self._prepare()
            rows = as_rows(X).part(skipped, X.shape[0])
            self._learner.learn(rows, np.zeros(rows.n_rows), None if weight is None else weight[skipped:])
            self._offset = None
            self.n_iter_ = 1
        return self

    def score_samples(self, X: MatrixLike) -> Vector:
        """How near the examples are to the centre: minus their distance.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The higher, the more usual; at most 0.
        """
        check_is_fitted(self)
        return -self._distances(X if self._is_plain(X) else self._checked(X, keep=True))

    def decision_function(self, X: MatrixLike) -> Vector:
        """How far inside the ball the examples are.

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
        """Inliers and outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            1 for examples within the ball, -1 for those outside.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
