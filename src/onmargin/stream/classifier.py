"""Passive-aggressive classification of streams."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.expert_results import GridResults
from onmargin.models.passive_aggressive import ClassifierOptions
from onmargin.stream._linear_classifier import LinearClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(GridResults, LinearClassifier, ClassifierOptions):
    r"""Passive-aggressive classifier for streams; new features and classes may appear at any time.

    An example whose class wins by a margin of 1 does not change the weights. Any other example moves them just far
    enough, to the solution of

    .. math::
        \min_W \tfrac12 \|W - W_t\|^2 + C\,\xi \quad\text{s.t.}\quad s_y - \max_{r \ne y} s_r \ge 1 - \xi,\ \xi \ge 0

    with :math:`s_r` the score of class r (PA-I; PA-II has :math:`C\,\xi^2`).

    Use it where records arrive one by one, as dicts or text, and their features are not known in advance. For matrices,
    :class:`onmargin.PassiveAggressiveClassifier` is faster and has `fit`.

    Attributes
    ----------
    grid_ : ExpertResults
        With several values of C: mistakes, losses, votes and weights of each model, and which one leads.
    averages_ : ExpertResults
        With ``average="best"``: mistakes, losses and coefficients of the current and of the averaged weights.
    totals_ : Totals
        Rounds, mistakes, updates, losses, dual value and largest squared norm so far, of the current weights, not of
        the averaged ones.

    See Also
    --------
    onmargin.PassiveAggressiveClassifier : The estimator for matrices.
    PassiveAggressiveRegressor : Passive-aggressive regression.
    LabelRanker : Several labels per example.

    Notes
    -----
    [JMLR] sec. 3 and 7. The weights are bit for bit those of :class:`onmargin.PassiveAggressiveClassifier`, which
    documents the bounds, trained on the same examples as a CSR matrix or, for vectors, as a dense matrix. Features that
    were never learned have weight 0.

    References
    ----------
    [JMLR] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, *Online Passive-Aggressive Algorithms*,
    JMLR 7:551-585, 2006.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.PassiveAggressiveClassifier()
    >>> for text, label in [("cheap pills now", "spam"), ("lunch at noon", "ham"), ("cheap watches", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    >>> {word: round(weight, 2) for word, weight in model.explain("cheap lunch pills").items()}
    {'cheap': 0.54, 'lunch': -0.33, 'pills': 0.31}
    """
