"""Passive-aggressive classification."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin

from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._shown import averages_, dual_coef_, n_support_, support_, support_vectors_, sweep_
from onmargin.models.described import described
from onmargin.models.options import option
from onmargin.models.passive_aggressive import ClassifierOptions
from onmargin.models.rules import NONE, Number, Word


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(ClassifierMixin, LinearClassifier, ClassifierOptions):  # type: ignore[misc]
    r"""Passive-aggressive classifier: stay where you are, unless the margin asks you to move.

    Each example that is classified with a margin of at least 1 leaves the weights alone. Any other moves them just
    far enough: to the solution of

    .. math:: \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad \ell(w; x_t, y_t) \le \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`), which has the closed form :math:`\tau = \min(C, \ell / \|v\|^2)` along the
    direction :math:`v` of the violated margin. With more than two classes there is one prototype per class, learned
    jointly: the right class against its best rival.

    Use it for streams and for data too large or too changing to keep, where no learning rate should have to be tuned;
    for text and other sparse data above all. For data that stay, call `fit` with ``average=True``, or a batch solver
    such as :class:`sklearn.svm.LinearSVC`. Under noise take a small C, or average.

    Parameters
    ----------
    target_loss : float or None, default=None
        `fit` makes plain PA steps, whatever `C` and `loss` are, until no example loses more than this: batch
        conversion. None: passes as above.
    selection : {"cyclic", "largest"}, default="cyclic"
        Which example steps next with `target_loss`: one after the other, or the one of largest loss.
    max_updates : int, default=100000
        Most steps made for `target_loss`, which need not be possible to reach.
    n_jobs : int or None, default=None
        Threads that score the rows of a large X, with the same result. If None or -1, one per core. Learning uses one:
        all classes are learned in one pass.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; a view of those that are learned, unless they are averaged.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts, in score units.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,)
        Examples of each class learned so far; the "balanced" weights of `partial_fit` rest on them.
    sweep_ : Standing
        With several C: mistakes, losses, weight and coefficients of each; ``coef_`` is that of the leader.
    averages_ : Standing
        With ``average="best"``: mistakes, losses and coefficients of the current weights and of the averaged ones.
    support_ : ndarray of shape (n_support,)
        With a kernel: which rows, counted over all calls, the supports are.
    support_vectors_ : {ndarray, sparse matrix} of shape (n_support, n_features)
        Those rows.
    dual_coef_ : ndarray of shape (1 or n_classes, n_support)
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
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the weights that learn, not of
        their mean.

    See Also
    --------
    PassiveAggressiveRegressor : The same for real targets.

    Notes
    -----
    [JMLR] sec. 3 and 7. A round costs O(non-zeros times classes). For any weights u the mistakes of PA-I are at most
    :math:`\max(R^2, 1/C)\,(\|u\|^2 + 2C \sum_t \ell^*_t)`, with :math:`R^2` the largest squared norm of a row (twice
    that for more than two classes) and :math:`\ell^*_t` the losses of u.

    Deviations from the paper: none in the step; the intercept is a constant feature, and example and class weights
    multiply C. A third class that appears in the stream splits the binary weights w into -w/2 and w/2, which keeps
    every margin.

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
    0.87
    """

    target_loss: float | None = option(None, Number(0, above=True, below=True), NONE)
    selection: str = option("cyclic", Word("cyclic", "largest"))
    max_updates: int = option(100_000, Number(1, 2**63 - 1, whole=True))
    n_jobs: int | None = option(None)

    sweep_, averages_ = sweep_, averages_
    support_, support_vectors_, n_support_, dual_coef_ = support_, support_vectors_, n_support_, dual_coef_
