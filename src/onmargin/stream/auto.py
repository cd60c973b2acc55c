"""Automatic model selection on streams."""

from dataclasses import dataclass

from onmargin.models.auto import AutoClassifierOptions, AutoRegressorOptions
from onmargin.models.described import described
from onmargin.stream._linear_classifier import LinearClassifier
from onmargin.stream._linear_regressor import LinearRegressor
from onmargin.stream._shown import experts_, retire


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifier(LinearClassifier, AutoClassifierOptions):
    r"""Classifier of a stream with nothing to tune: experts learn side by side, and predict together.

    They are those of :class:`onmargin.AutoClassifier`: those for dense rows if examples are arrays, otherwise those for
    sparse rows. Dicts may be the records of a table. As long as they have few names, they have standardizing and curved
    experts, too, for which an absent value is missing, not zero (see the page on automatic model selection). A vote
    counts for :math:`p_m \propto \exp(-\eta M_m)`, where :math:`M_m` are the mistakes of an expert so far (AdaHedge).

    Use it first where records arrive one by one and nothing is known of them. Take the expert that leads, which
    ``experts_`` names, or :class:`PassiveAggressiveClassifier`, where a tenth of the time matters more. With
    ``dtype="float32"`` the weights and metrics of a feature, of all experts, are on two cache lines.

    Attributes
    ----------
    experts_ : Standing
        Names, mistakes, losses, votes and weights of the experts, and which one leads.
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, and mistakes and losses of the prediction so far. Updates are rounds in which some expert was updated;
        the dual value has no meaning here.

    See Also
    --------
    onmargin.AutoClassifier : The same for matrices.
    PassiveAggressiveClassifier : One model, or with ``C="auto"`` one for each of nine values of C.

    Notes
    -----
    `weights`, `explain` and `intercept` are those of the best expert that weighs features. Experts for sparse rows are
    those of :class:`onmargin.AutoClassifier`, which has the bound, from the same examples as a CSR matrix, bit for bit.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.AutoClassifier()
    >>> for text, label in [("cheap pills now", "spam"), ("lunch at noon", "ham"), ("cheap watches", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    >>> model.experts_.names[model.experts_.leader]
    'adaptive, logistic descent, rate=0.3'
    """

    experts_ = experts_
    retire = retire


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressor(LinearRegressor, AutoRegressorOptions):
    r"""Regressor of a stream with nothing to tune: experts learn side by side, and predict together.

    They are those of :class:`onmargin.AutoRegressor`: those for dense rows if examples are arrays, otherwise those for
    sparse rows. Dicts may be the records of a table. As long as they have few names, they have standardizing and curved
    experts, too, for which an absent value is missing, not zero (see the page on automatic model selection). None
    depends on the units of the target. The prediction is the mean of theirs, each with the weight :math:`p_m \propto
    \exp(-\eta L_m)`, where :math:`L_m` are the absolute errors of an expert so far (AdaHedge).

    Use it first where records arrive one by one and nothing is known of them. Use :class:`PassiveAggressiveRegressor`
    where a tenth of the time matters more.

    Attributes
    ----------
    experts_ : Standing
        Names, losses, weights in the mean and weights of the experts, and which one leads.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds and absolute errors of the prediction so far. Updates are rounds in which some expert was updated; the
        dual value has no meaning here.

    See Also
    --------
    onmargin.AutoRegressor : The same for matrices.
    PassiveAggressiveRegressor : One model, or with ``C="auto"`` one for each of nine values of C.

    Notes
    -----
    `weights`, `explain` and `intercept` are those of the best expert that weighs features. Experts for sparse rows are
    those of :class:`onmargin.AutoRegressor`, which has the bound, from the same examples as a CSR matrix, bit for bit.

    References
    ----------
    [ADAHEDGE] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, *Follow the Leader If You Can, Hedge If You
    Must*, JMLR 15:1281-1316, 2014.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.AutoRegressor()
    >>> for i in range(300):
    ...     x = {"size": i % 7 / 7, "town": "Ulm" if i % 2 else "Bonn"}
    ...     model = model.learn_one(x, 200 * x["size"] + 100 * (x["town"] == "Ulm"))
    >>> round(model.predict_one({"size": 0.5, "town": "Ulm"}))
    200
    """

    experts_ = experts_
    retire = retire
