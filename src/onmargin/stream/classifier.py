"""Passive-aggressive classification of streams."""

from dataclasses import dataclass

from onmargin.models.passive_aggressive import ClassifierOptions
from onmargin.stream._linear_classifier import LinearClassifier
from onmargin.stream._shown import averages_, sweep_


@dataclass(kw_only=True, eq=False, repr=False)
class Classifier(LinearClassifier, ClassifierOptions):
    r"""Passive-aggressive classifier of examples that come one at a time; features and classes may come later.

    An example whose class wins by a margin of 1 leaves the weights alone. Any other moves them just far enough: to the
    solution of

    .. math::
        \min_W \tfrac12 \|W - W_t\|^2 + C\,\xi \quad\text{s.t.}\quad s_y - \max_{r \ne y} s_r \ge 1 - \xi,\ \xi \ge 0

    with :math:`s_r` the score of class r (PA-I; PA-II has :math:`C\,\xi^2`).

    Use it where records arrive one by one, as dicts or text, and their features are not known beforehand. For a matrix
    that is at hand :class:`onmargin.PassiveAggressiveClassifier` is faster, and has `fit`.

    Parameters
    ----------
    C : float, array-like of float or "auto", default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller is more
        cautious and better under noise; ``inf`` gives plain PA, which always reaches the margin. Several values: a
        model for each, all learned in one pass. "auto": nine values from 0.001 to 10.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        "hinge" is PA-I, "squared_hinge" is PA-II.
    update : str, default="max"
        Which rivals of the right class a round moves, as for :class:`onmargin.PassiveAggressiveClassifier`: "max",
        "simperc", "conproj", "simproj", "simopt", "conopt", "exact", "perceptron" or "mira".
    strategy : {"joint", "ovr"}, default="joint"
        With more than two classes, "joint" learns the right class against its best rival, "ovr" each class against
        all others.
    class_margin : dict or None, default=None
        Margins by class, above 0: examples of a class ask for its margin instead of 1, as for
        :class:`onmargin.PassiveAggressiveClassifier`; for rare classes. Classes may come later.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each example, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first example that is not zero.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the mistakes of each so far.
    n_features : int or None, default=None
        None: names of features are kept, and weights grow with them. A power of two, such as ``2**18``: names are
        hashed to so many places, and memory stays what it is; names that share a place share a weight.
    separator : str or None, default=None
        The character between name and value in a list of names, such as ":" for ``["length:3"]``. None: names stand for
        themselves.
    dtype : {"float64", "float32"}, default="float64"
        Type of the weights.
    lowercase : bool, default=True
        Whether texts are taken in lower case.
    ngrams : tuple of int, default=(1, 1)
        The shortest and the longest run of words of a text that is a feature.
    weighting : {"tf", "binary", "log"}, default="tf"
        What a feature of a text counts: how often it occurs, 1, or one plus the logarithm of how often.
    normalize : bool, default=True
        Whether texts have length 1.
    idf : bool, default=False
        Whether a feature of a text counts by one plus the logarithm of n / d, of the d among the n texts learned so far
        that have it, each plus one.
    combine : {"leader", "hedge"}, default="leader"
        With several values of C, or ``average="best"``, predict with the model of the fewest mistakes so far, or by the
        vote of all, each with the weight of AdaHedge.

    Attributes
    ----------
    sweep_ : Standing
        With several values of C: mistakes, losses, votes and weights of each model, and which one leads.
    averages_ : Standing
        With ``average="best"``: mistakes, losses and coefficients of the current weights and of the averaged ones.
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the weights that learn, not of
        their mean.

    See Also
    --------
    onmargin.PassiveAggressiveClassifier : The same for matrices.
    Regressor : Numbers instead of classes.
    LabelRanker : Several labels an example.

    Notes
    -----
    [JMLR] sec. 3 and 7. The weights are those of :class:`onmargin.PassiveAggressiveClassifier`, which has the
    bounds, from the same examples as a CSR matrix, bit for bit; from vectors, as a dense one. A feature never learned
    has weight 0.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.Classifier()
    >>> for text, label in [("cheap pills now", "spam"), ("lunch at noon", "ham"), ("cheap watches", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    >>> {word: round(weight, 2) for word, weight in model.explain("cheap lunch pills").items()}
    {'cheap': 0.41, 'lunch': -0.31}
    """

    sweep_, averages_ = sweep_, averages_
