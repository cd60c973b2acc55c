"""Passive-aggressive regression."""

from dataclasses import dataclass

from sklearn.base import RegressorMixin

from onmargin.estimators._fitted_attributes import KernelSupports
from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.models.described import described
from onmargin.models.expert_results import GridResults
from onmargin.models.options import option
from onmargin.models.passive_aggressive import RegressorOptions
from onmargin.models.rules import NONE, Number, Word


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveRegressor(RegressorMixin, GridResults, KernelSupports, LinearRegressor, RegressorOptions):  # type: ignore[misc]
    r"""Passive-aggressive regressor: updates the weights only when a prediction is more than epsilon off the target.

    An example predicted within `epsilon` of its target does not change the weights. Any other example moves them just
    far enough, to the solution of

    .. math::
        \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad |y_t - w \cdot x_t| - \epsilon \le \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`), which has the closed form :math:`\tau = \min(C, \ell / \|x_t\|^2)`.

    Use it for streams and for data that are too large or change too fast to keep; there is no learning rate to tune.
    Prefer a batch solver when the data fit in memory and do not change. Scale the features first: a step is distributed
    over the features in proportion to their size.

    Parameters
    ----------
    target_loss : float or None, default=None
        Batch training to a target loss: `fit` makes plain PA steps, whatever `C` and `loss` are, until no example has a
        larger loss than this. If None, `fit` makes passes as described above.
    selection : {"cyclic", "largest"}, default="cyclic"
        With `target_loss`, which example to learn next: "cyclic" takes one after the other, "largest" the one of
        largest loss.
    max_updates : int, default=100000
        Maximum number of steps for `target_loss`, which may be impossible to reach.

    Attributes
    ----------
    grid_ : ExpertResults
        With several values of C: mistakes, losses, weight and coefficients of each model; ``coef_`` is that of the
        leader.
    averages_ : ExpertResults
        With ``average="best"``: losses and coefficients of the current and of the averaged weights.
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
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes (targets outside the tube), updates, losses, dual value and largest squared norm so far, of the
        current weights, not of the averaged ones.

    See Also
    --------
    PassiveAggressiveClassifier : Passive-aggressive classification.

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
