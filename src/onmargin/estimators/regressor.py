"""Passive-aggressive regression."""

from dataclasses import dataclass

from sklearn.base import RegressorMixin

from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.estimators._shown import averages_, dual_coef_, n_support_, support_, support_vectors_, sweep_
from onmargin.models.options import option
from onmargin.models.passive_aggressive import RegressorOptions
from onmargin.models.rules import NOTHING, Number, Word


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveRegressor(RegressorMixin, LinearRegressor, RegressorOptions):  # type: ignore[misc]
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
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The first is PA-I, the second PA-II.
    epsilon : float, default=0.1
        Half the width of the tube in which predictions are right; at least 0.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the losses of each so far.
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
    random_state : int, RandomState or None, default=None
        Seed of the shuffling and of the validation split.
    warm_start : bool, default=False
        Whether `fit` goes on from the weights it finds.
    target_loss : float or None, default=None
        `fit` makes plain PA steps, whatever `C` and `loss` are, until no example loses more than this: batch
        conversion. None: passes as above.
    selection : {"cyclic", "largest"}, default="cyclic"
        Which example steps next with `target_loss`: one after the other, or the one of largest loss.
    max_updates : int, default=100000
        Most steps made for `target_loss`, which need not be possible to reach.

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

    target_loss: float | None = option(None, Number(0, above=True, below=True), NOTHING)
    selection: str = option("cyclic", Word("cyclic", "largest"))
    max_updates: int = option(100_000, Number(1, 2**63 - 1, whole=True))

    sweep_, averages_ = sweep_, averages_
    support_, support_vectors_, n_support_, dual_coef_ = support_, support_vectors_, n_support_, dual_coef_
