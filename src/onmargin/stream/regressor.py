"""Passive-aggressive regression of streams."""

from dataclasses import dataclass

from onmargin.models.passive_aggressive import RegressorOptions
from onmargin.stream._linear_regressor import LinearRegressor
from onmargin.stream._shown import averages_, sweep_


@dataclass(kw_only=True, eq=False, repr=False)
class Regressor(LinearRegressor, RegressorOptions):
    r"""Passive-aggressive regressor of examples that come one at a time, with features that may come later.

    An example predicted within `epsilon` of its target leaves the weights alone. Any other moves them just far enough:
    to the solution of

    .. math::
        \min_w \tfrac12 \|w - w_t\|^2 + C\,\xi \quad\text{s.t.}\quad |y_t - w \cdot x_t| - \epsilon \le \xi,\ \xi \ge 0

    (PA-I; PA-II has :math:`C\,\xi^2`).

    Use it where records arrive one by one, as dicts or text, and their features are not known beforehand. For a matrix
    that is at hand :class:`onmargin.PassiveAggressiveRegressor` is faster, and has `fit`. Scale the features first.

    Parameters
    ----------
    C : float, array-like of float or "auto", default=1.0
        Aggressiveness, above 0: the largest step (PA-I) or the price of squared slack (PA-II). Smaller is more
        cautious and better under noise; ``inf`` gives plain PA, which always reaches the tube. Several values: a model
        for each, all learned in one pass. "auto": nine values from 0.001 to 10.
    epsilon : float, default=0.1
        Half the width of the tube in which predictions are right; at least 0.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The first is PA-I, the second PA-II.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each example, inside its norm.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first example that is not zero.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the losses of each so far.
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
        With several values of C, or ``average="best"``, predict with the model of the least loss so far, or the mean of
        all, each with the weight of AdaHedge.

    Attributes
    ----------
    sweep_ : Standing
        With several values of C: losses, votes and weights of each model, and which one leads.
    averages_ : Standing
        With ``average="best"``: losses and coefficients of the current weights and of the averaged ones.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the weights that learn, not of
        their mean.

    See Also
    --------
    onmargin.PassiveAggressiveRegressor : The same for matrices.
    Classifier : Classes instead of numbers.

    Notes
    -----
    [JMLR] sec. 5. The weights are those of :class:`onmargin.PassiveAggressiveRegressor`, which has the
    bounds, from the same examples as a CSR matrix, bit for bit; from vectors, as a dense one. A feature never learned
    has weight 0.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.Regressor(C=0.1, epsilon=0.05)
    >>> for i in range(300):
    ...     x = {"size": i % 7 / 7, "town": "Ulm" if i % 2 else "Bonn"}
    ...     model = model.learn_one(x, 2 * x["size"] + (x["town"] == "Ulm"))
    >>> round(model.predict_one({"size": 0.5, "town": "Ulm"}), 1)
    2.0
    """

    sweep_, averages_ = sweep_, averages_
