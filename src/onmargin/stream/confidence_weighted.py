"""SCW and NHERD for streams: other second-order classifiers."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.expert_results import AverageResults
from onmargin.models.second_order import NHERDClassifierOptions, SCWClassifierOptions
from onmargin.stream._linear_classifier import LinearClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class SCWClassifier(AverageResults, LinearClassifier, SCWClassifierOptions):
    """SCW for classification of streams: the required margin grows with the uncertainty of the weights.

    Use it like :class:`AROWClassifier`; it is more aggressive at first. For matrices, :class:`onmargin.SCWClassifier`
    is faster and has `fit`.

    Attributes
    ----------
    averages_ : ExpertResults
        With ``average="best"``: mistakes, losses and coefficients of the current and of the averaged weights.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far, of the current weights.

    See Also
    --------
    onmargin.SCWClassifier : The estimator for matrices.

    Notes
    -----
    [SCW]. The weights are bit for bit those of :class:`onmargin.SCWClassifier` trained on the same examples as a CSR
    matrix.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.SCWClassifier()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class NHERDClassifier(AverageResults, LinearClassifier, NHERDClassifierOptions):
    """NHERD for classification of streams: moves a Gaussian distribution of weights as a whole.

    Use it like :class:`AROWClassifier`, whose updates of the means it shares with r = 1 / C. For matrices,
    :class:`onmargin.NHERDClassifier` is faster and has `fit`.

    Attributes
    ----------
    averages_ : ExpertResults
        With ``average="best"``: mistakes, losses and coefficients of the current and of the averaged weights.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far, of the current weights.

    See Also
    --------
    onmargin.NHERDClassifier : The estimator for matrices.

    Notes
    -----
    [NHERD]. The weights are bit for bit those of :class:`onmargin.NHERDClassifier` trained on the same examples as a
    CSR matrix.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.NHERDClassifier()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """
