"""Quasi-additive learners of streams: the Perceptron, the p-norm Perceptron, Winnow and their aggressive kin."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.quasi_additive import (
    PerceptronOptions,
    PNormPerceptronOptions,
    QuasiAdditiveOptions,
    WinnowOptions,
)
from onmargin.stream._linear_classifier import LinearClassifier


@described
@dataclass(kw_only=True, eq=False, repr=False)
class QuasiAdditiveClassifier(LinearClassifier, QuasiAdditiveOptions):
    """Quasi-additive classifier for records: examples are added up, and the weights are a link of the sum.

    Use the entropic or a p-norm geometry where few of very many features matter. They depend on the number of features:
    the entropic one needs hashed names or vectors, and ``geometry="pnorm"`` needs one of these or `p`. Where most
    features matter a little, plain weights are better, and :class:`onmargin.stream.AROWClassifier` is better still. For
    a matrix that is at hand :class:`onmargin.QuasiAdditiveClassifier` is faster, and has `fit`.

    Attributes
    ----------
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far.

    See Also
    --------
    onmargin.QuasiAdditiveClassifier : The same for matrices.

    Notes
    -----
    [PD]. The weights are those of :class:`onmargin.QuasiAdditiveClassifier` from the same examples as a CSR matrix, row
    by row, bit for bit; for a p-norm whose names grow they are the same to rounding. A new label leaves the margins
    between the others as they are, or on the simplex their order.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.QuasiAdditiveClassifier()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(LinearClassifier, PerceptronOptions):
    """Perceptron for records: an example that is wrong is added to the weights, one that is right leaves them alone.

    Use it as the baseline that it is. :class:`onmargin.stream.AROWClassifier` makes fewer mistakes almost always. For a
    matrix that is at hand :class:`onmargin.Perceptron` is faster, and has `fit`.

    Attributes
    ----------
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far.

    See Also
    --------
    onmargin.Perceptron : The same for matrices.

    Notes
    -----
    [PD]. The weights are those of :class:`onmargin.Perceptron` from the same examples as a CSR matrix, row by row, bit
    for bit.

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
    """The p-norm Perceptron for records: between the Perceptron (p = 2) and Winnow (large p).

    Use it where few of very many features matter and they may have either sign. With ``p=None``, which is 2
    ln(n_features), it needs hashed names or vectors. For a matrix that is at hand :class:`onmargin.PNormPerceptron` is
    faster, and has `fit`.

    Attributes
    ----------
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far.

    See Also
    --------
    onmargin.PNormPerceptron : The same for matrices.

    Notes
    -----
    [PD] Thm. 2. The weights are those of :class:`onmargin.PNormPerceptron` from the same examples as a CSR matrix, row
    by row, bit for bit; where names grow, they are the same to rounding.

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
    """Winnow for records: weights on the simplex, multiplied up and down on mistakes.

    Use it where few of very many features matter. The weights begin at 1 / n_features: examples by name need
    hashed names. Numbers must not be negative, unless `balanced` is on, and only balanced weights can go from two
    classes to three. For a matrix that is at hand :class:`onmargin.Winnow` is faster, and has `fit`.

    Attributes
    ----------
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far.

    See Also
    --------
    onmargin.Winnow : The same for matrices.

    Notes
    -----
    [SLIDES] and [PD]. The weights are those of :class:`onmargin.Winnow` from the same examples as a CSR matrix, row by
    row, bit for bit.

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
