"""Automatic model selection on streams."""

from dataclasses import dataclass

from onmargin.models.auto import AutoClassifierOptions, AutoRegressorOptions
from onmargin.models.described import described
from onmargin.models.expert_results import Experts
from onmargin.stream._linear_classifier import LinearClassifier
from onmargin.stream._linear_regressor import LinearRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoClassifier(Experts, LinearClassifier, AutoClassifierOptions):
    r"""Automatic model selection for classification of streams: several kinds of learners that vote.

    The experts are those of :class:`onmargin.AutoClassifier`: those for dense rows if examples are arrays, otherwise
    those for sparse rows. Dicts may be the records of a table. As long as they have few names, there are also
    standardizing and nonlinear experts, for most of which an absent value is missing, not zero (see the page on
    automatic model selection). The vote of an expert has the weight :math:`p_m \propto \exp(-\eta M_m)`, where
    :math:`M_m` is its number of mistakes so far (AdaHedge).

    Use it first where records arrive one by one and nothing is known about them. If a tenth of the time matters more,
    use the leading expert, which ``experts_`` names, or :class:`PassiveAggressiveClassifier`. With ``dtype="float32"``
    the weights and metrics of one feature, for all experts, fit in two cache lines.

    Attributes
    ----------
    experts_ : ExpertResults
        Names, mistakes, losses, votes and weights of the experts, and which one leads.
    totals_ : Totals
        Rounds, and mistakes and losses of the prediction so far. Updates are rounds in which some expert was updated;
        the dual value has no meaning here.

    See Also
    --------
    onmargin.AutoClassifier : The estimator for matrices.
    PassiveAggressiveClassifier : One model, or with ``C="auto"`` one for each of nine values of C.

    Notes
    -----
    `explain` returns Shapley values of the score of the vote. `weights` are those of the leading expert, and an error
    if that one has none by feature. Experts for sparse rows are bit for bit those of :class:`onmargin.AutoClassifier`,
    which documents the bound, trained on the same examples as a CSR matrix.

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


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressor(Experts, LinearRegressor, AutoRegressorOptions):
    r"""Automatic model selection for regression on streams: several kinds of learners, averaged.

    The experts are those of :class:`onmargin.AutoRegressor`: those for dense rows if examples are arrays, otherwise
    those for sparse rows. Dicts may be the records of a table. As long as they have few names, there are also
    standardizing and nonlinear experts, for most of which an absent value is missing, not zero (see the page on
    automatic model selection). No expert depends on the units of the target. The prediction is the weighted mean of
    theirs, with the weights :math:`p_m \propto \exp(-\eta L_m)`, where :math:`L_m` is the sum of the absolute errors of
    an expert so far (AdaHedge).

    Use it first where records arrive one by one and nothing is known about them. Use
    :class:`PassiveAggressiveRegressor` if a tenth of the time matters more.

    Attributes
    ----------
    experts_ : ExpertResults
        Names, losses, weights in the mean and feature weights of the experts, and which one leads.
    totals_ : Totals
        Rounds and absolute errors of the prediction so far. Updates are rounds in which some expert was updated; the
        dual value has no meaning here.

    See Also
    --------
    onmargin.AutoRegressor : The estimator for matrices.
    PassiveAggressiveRegressor : One model, or with ``C="auto"`` one for each of nine values of C.

    Notes
    -----
    `explain` returns Shapley values of the score of the vote. `weights` are those of the leading expert, and an error
    if that one has none by feature. Experts for sparse rows are bit for bit those of :class:`onmargin.AutoRegressor`,
    which documents the bound, trained on the same examples as a CSR matrix.

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
