"""Mistake-driven classifiers for streams: the Perceptron, the p-norm Perceptron and Winnow."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.quasi_additive import PerceptronOptions, PNormPerceptronOptions, WinnowOptions
from onmargin.stream._linear_classifier import LinearClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(LinearClassifier, PerceptronOptions):
    """Perceptron for streams: updates the weights by a fixed step on each mistake.

    Use it as a baseline. :class:`onmargin.stream.AROWClassifier` almost always makes fewer mistakes. For matrices,
    :class:`onmargin.Perceptron` is faster and has `fit`.

    See Also
    --------
    onmargin.Perceptron : The estimator for matrices.

    Notes
    -----
    [PD]. The weights are bit for bit those of :class:`onmargin.Perceptron` trained on the same examples as a CSR
    matrix, row by row.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.Perceptron()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class PNormPerceptron(LinearClassifier, PNormPerceptronOptions):
    """The p-norm Perceptron for streams: between the Perceptron (p = 2) and Winnow (large p).

    Use it where few of very many features matter and their weights may have either sign. With ``p=None``, which is 2
    ln(n_features), it requires hashed names or vectors. For matrices, :class:`onmargin.PNormPerceptron` is faster and
    has `fit`.

    See Also
    --------
    onmargin.PNormPerceptron : The estimator for matrices.

    Notes
    -----
    [PD] Thm. 2. The weights are bit for bit those of :class:`onmargin.PNormPerceptron` trained on the same examples as
    a CSR matrix, row by row; with new names they are the same up to rounding.

    Examples
    --------
    >>> from onmargin import stream
    >>> from onmargin.features import RecordFeatures
    >>> model = stream.PNormPerceptron(features=RecordFeatures(n_features=2**10))
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class Winnow(LinearClassifier, WinnowOptions):
    """Winnow for streams: multiplicative updates on mistakes, with weights on the simplex.

    Use it where few of very many features matter. The weights start at 1 / n_features, so features with names must be
    hashed. Values must not be negative unless `balanced` is on, and only balanced weights can go from two classes to
    three. For matrices, :class:`onmargin.Winnow` is faster and has `fit`.

    See Also
    --------
    onmargin.Winnow : The estimator for matrices.

    Notes
    -----
    [SLIDES] and [PD]. The weights are bit for bit those of :class:`onmargin.Winnow` trained on the same examples as a
    CSR matrix, row by row.

    Examples
    --------
    >>> from onmargin import stream
    >>> from onmargin.features import RecordFeatures
    >>> model = stream.Winnow(features=RecordFeatures(n_features=2**10), balanced=True)
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """
