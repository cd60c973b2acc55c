"""Passive-aggressive regression."""

from dataclasses import dataclass

from sklearn.base import RegressorMixin

from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.estimators._shown import averages_, dual_coef_, n_support_, support_, support_vectors_, sweep_
from onmargin.models.described import described
from onmargin.models.options import option
from onmargin.models.passive_aggressive import RegressorOptions
from onmargin.models.rules import NONE, Number, Word


@described
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

    target_loss: float | None = option(None, Number(0, above=True, below=True), NONE)
    selection: str = option("cyclic", Word("cyclic", "largest"))
    max_updates: int = option(100_000, Number(1, 2**63 - 1, whole=True))

    sweep_, averages_ = sweep_, averages_
    support_, support_vectors_, n_support_, dual_coef_ = support_, support_vectors_, n_support_, dual_coef_
