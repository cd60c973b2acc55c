"""Second-order learners of streams: AROW, SCW and NHERD."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.second_order import (
    AROWClassifierOptions,
    AROWRegressorOptions,
    NHERDClassifierOptions,
    SCWClassifierOptions,
)
from onmargin.stream._linear_classifier import LinearClassifier
from onmargin.stream._linear_regressor import LinearRegressor
from onmargin.stream._shown import averages_


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifier(LinearClassifier, AROWClassifierOptions):
    """AROW for records: a classifier whose weights have a variance each, so that rare features move further.

    Use it for text and other records of rare and frequent features, and where labels are noisy. For a matrix that is at
    hand :class:`onmargin.AROWClassifier` is faster, and has `fit`.

    Attributes
    ----------
    averages_ : Standing
        With ``average="best"``: mistakes, losses and coefficients of the current and of the averaged weights.
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far, of the current weights.

    See Also
    --------
    onmargin.AROWClassifier : The same for matrices.

    Notes
    -----
    [AROW]. The weights are those of :class:`onmargin.AROWClassifier` from the same examples as a CSR matrix, bit for
    bit.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.AROWClassifier()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """

    averages_ = averages_


@described
@dataclass(kw_only=True, eq=False, repr=False)
class SCWClassifier(LinearClassifier, SCWClassifierOptions):
    """SCW for records: a classifier that asks for a margin that grows with the uncertainty of its weights.

    Use it as :class:`AROWClassifier`; it is more aggressive at first. For a matrix that is at hand
    :class:`onmargin.SCWClassifier` is faster, and has `fit`.

    Attributes
    ----------
    averages_ : Standing
        With ``average="best"``: mistakes, losses and coefficients of the current and of the averaged weights.
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far, of the current weights.

    See Also
    --------
    onmargin.SCWClassifier : The same for matrices.

    Notes
    -----
    [SCW]. The weights are those of :class:`onmargin.SCWClassifier` from the same examples as a CSR matrix, bit for bit.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.SCWClassifier()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """

    averages_ = averages_


@described
@dataclass(kw_only=True, eq=False, repr=False)
class NHERDClassifier(LinearClassifier, NHERDClassifierOptions):
    """NHERD for records: a classifier that moves a Gaussian of weights as a whole.

    Use it as :class:`AROWClassifier`, whose means it shares with r = 1 / C. For a matrix that is at hand
    :class:`onmargin.NHERDClassifier` is faster, and has `fit`.

    Attributes
    ----------
    averages_ : Standing
        With ``average="best"``: mistakes, losses and coefficients of the current and of the averaged weights.
    classes_ : list
        The labels met so far, sorted.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far, of the current weights.

    See Also
    --------
    onmargin.NHERDClassifier : The same for matrices.

    Notes
    -----
    [NHERD]. The weights are those of :class:`onmargin.NHERDClassifier` from the same examples as a CSR matrix, bit for
    bit.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.NHERDClassifier()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """

    averages_ = averages_


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWRegressor(LinearRegressor, AROWRegressorOptions):
    """AROW for records with numbers as targets: a regressor whose weights have a variance each.

    Use it where features come in different sizes or some are rare. For a matrix that is at hand
    :class:`onmargin.AROWRegressor` is faster, and has `fit`.

    Attributes
    ----------
    averages_ : Standing
        With ``average="best"``: losses and coefficients of the current and of the averaged weights.
    n_features_ : int
        Number of features: names met so far, places of the table, or numbers in a vector.
    totals_ : Totals
        Rounds, mistakes (targets outside the tube), updates and losses so far, of the current weights.

    See Also
    --------
    onmargin.AROWRegressor : The same for matrices.

    Notes
    -----
    [AROW]. The weights are those of :class:`onmargin.AROWRegressor` from the same examples as a CSR matrix, bit for
    bit.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.AROWRegressor()
    >>> for i in range(300):
    ...     x = {"size": i % 7 / 7, "town": "Ulm" if i % 2 else "Bonn"}
    ...     model = model.learn_one(x, 2 * x["size"] + (x["town"] == "Ulm"))
    >>> round(model.predict_one({"size": 0.5, "town": "Ulm"}), 1)
    2.0
    """

    averages_ = averages_
