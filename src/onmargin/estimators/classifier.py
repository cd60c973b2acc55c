"""Passive-aggressive classification."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin

from onmargin.estimators._fitted_attributes import KernelSupports
from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.models.described import described
from onmargin.models.expert_results import GridResults
from onmargin.models.options import option
from onmargin.models.passive_aggressive import ClassifierOptions
from onmargin.models.rules import NONE, Number, Word


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(ClassifierMixin, GridResults, KernelSupports, LinearClassifier, ClassifierOptions):  # type: ignore[misc]
    r"""Passive-aggressive classifier, binary and multiclass: updates the weights only when the margin is violated.

    An example that is classified with a margin of at least 1 does not change the weights. Any other example moves them
    just far enough, to the solution of

    .. math:: \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad \ell(w; x_t, y_t) \le \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`), which has the closed form :math:`\tau = \min(C, \ell / \|v\|^2)` along the
    direction :math:`v` of the violated margin. With more than two classes there is one prototype per class, and all are
    learned jointly: the right class against its highest-scoring rival.

    Use it for streams and for data that are too large or change too fast to keep, especially for text and other sparse
    data; there is no learning rate to tune. For a fixed data set, call `fit` with ``average=True``, or use a batch
    solver such as :class:`sklearn.svm.LinearSVC`. If labels are noisy, use a small C or averaging.

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
        With ``average="best"``: mistakes, losses and coefficients of the current and of the averaged weights.
    support_ : ndarray of shape (n_support,)
        With a kernel: indices of the supports among the rows of all calls.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        With a kernel: the rows that are supports.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
        With a kernel: the coefficients of the supports.
    n_support_ : int
        With a kernel: the number of supports.
    converged_ : bool
        Whether the last `fit` with `target_loss` reached the target.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the current weights, not of
        the averaged ones.

    See Also
    --------
    PassiveAggressiveRegressor : Passive-aggressive regression.

    Notes
    -----
    [JMLR] sec. 3 and 7. A round costs O(non-zeros times classes). For any weights u, PA-I makes at most
    :math:`\max(R^2, 1/C)\,(\|u\|^2 + 2C \sum_t \ell^*_t)` mistakes, where :math:`R^2` is the largest squared norm of a
    row (twice that for more than two classes) and :math:`\ell^*_t` are the losses of u.

    Deviations from the paper: none in the step. The intercept is a constant feature. Example and class weights k
    multiply C, and a step aims at the margin m + (k - 1) min(loss, m) instead of m, so that weights act where C limits
    no step; a mistake is moved to the margin k m, as by a cost of k² (sec. 8). On the simplex they multiply only C.
    When a third class appears in the stream, the binary weights w are split into -w/2 and w/2, which keeps every
    margin.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import PassiveAggressiveClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PassiveAggressiveClassifier(average=True).partial_fit(X[:1500], y[:1500])
    >>> round(model.score(X[1500:], y[1500:]), 2)
    0.86
    """

    target_loss: float | None = option(None, Number(0, above=True, below=True), NONE)
    selection: str = option("cyclic", Word("cyclic", "largest"))
    max_updates: int = option(100_000, Number(1, 2**63 - 1, whole=True))
