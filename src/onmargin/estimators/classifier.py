"""Passive-aggressive classification."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin

from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._shown import averages_, dual_coef_, n_support_, support_, support_vectors_, sweep_
from onmargin.models.options import option
from onmargin.models.passive_aggressive import ClassifierOptions
from onmargin.models.rules import NOTHING, Number, Word


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(ClassifierMixin, LinearClassifier, ClassifierOptions):  # type: ignore[misc]
    r"""Passive-aggressive classifier: stay where you are, unless the margin asks you to move.

    Each example that is classified with a margin of at least 1 leaves the weights alone. Any other moves them just
    far enough: to the solution of

    .. math:: \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad \ell(w; x_t, y_t) \le \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`), which has the closed form :math:`\tau = \min(C, \ell / \|v\|^2)` along the
    direction :math:`v` of the violated margin. With more than two classes there is one prototype a class, learned
    jointly: the right class against its best rival.

    Use it for streams and for data too large or too changing to keep, where no learning rate should have to be tuned;
    for text and other sparse data above all. For data that stay, call `fit` with ``average=True``, or a batch solver
    such as :class:`sklearn.svm.LinearSVC`. Under noise take a small C, or average.

    Parameters
    ----------
    C : float, sequence of floats or "auto", default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller is more
        cautious and better under noise; ``inf`` gives plain PA, which always restores the margin. Of several values
        all are learned in one pass, and the best so far predict; "auto" is a grid of nine from 0.001 to 10.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" is PA-I, "squared_hinge" is PA-II.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    class_weight : dict, "balanced" or None, default=None
        Factors on C by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit` from the counts so
        far.
    class_margin : dict or None, default=None
        Margins by class, above 0: examples of a class ask for its margin instead of 1, or 0.1 if the weights are on
        the simplex. A wide margin for a rare class finds more of its examples, and takes more others for them. In
        one-vs-rest an example asks all columns for it. Not with `cost`, nor with an `update` to which no margin makes a
        difference: "perceptron", "simperc", "mira".
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the mistakes of each so far.
    update : str, default="max"
        Which rivals of the right class a round moves. "max": the best. All that come too near at once: "simproj" takes
        the mean of their projections, "simopt" weighs them, "exact" solves the joint problem (Sopopo). The like on
        mistakes only: "simperc", "conproj", "conopt". "perceptron" is the uniform multiclass Perceptron, "mira" MIRA
        with beta = 1 / C. All but "max" need ``loss="hinge"``; "simproj" and "simopt" have no mistake bound, "conopt"
        has one for small C.
    cost : array-like of shape (n_classes, n_classes), "absolute", "squared" or None, default=None
        ``cost[i, j]``, at least 0, is paid for predicting class j for class i; nothing for the right one. The margin
        asked for is its square root, and ``totals_.cost`` sums what the predictions cost. "absolute" and "squared" are
        distances in the order of ``classes_``.
    cost_update : {"prediction", "max_loss"}, default="prediction"
        With `cost`, whether the right class moves against the prediction or against the class of largest loss.
    strategy : {"joint", "ovr"}, default="joint"
        With more than two classes, "joint" learns the right class against its best rival, "ovr" each class against
        all others, as scikit-learn does.
    geometry : {"euclidean", "entropic", "adaptive", "normalized"}, default="euclidean"
        "entropic": weights are on the simplex, at least 0 and of sum 1, and multiplied instead of added to; the
        margin asked for is 0.1. Where few of very many features matter. No intercept, no averaging.
        "adaptive": the step is taken in the metric of AdaGrad, in which rare features move further; for text.
        "normalized": the like, whatever the units of each feature. Both for ``update="max"`` only.
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
        With several C, or ``average="best"``, predict with the model of the fewest mistakes so far, or by a vote of all
        that AdaHedge weighs.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss (with `early_stopping`: validation score)
        was not better by `tol` than the best before. None: all `max_iter` passes are made.
    early_stopping : bool, default=False
        Whether `fit` holds out a stratified part of the data and judges a pass by the accuracy there.
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
    n_jobs : int or None, default=None
        Accepted for scikit-learn's sake and not used: all classes are learned in one pass.

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
    multiply C. A third class that turns up in the stream splits the binary weights w into -w/2 and w/2, which keeps
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

    target_loss: float | None = option(None, Number(0, above=True, below=True), NOTHING)
    selection: str = option("cyclic", Word("cyclic", "largest"))
    max_updates: int = option(100_000, Number(1, 2**63 - 1, whole=True))
    n_jobs: int | None = option(None)

    sweep_, averages_ = sweep_, averages_
    support_, support_vectors_, n_support_, dual_coef_ = support_, support_vectors_, n_support_, dual_coef_
