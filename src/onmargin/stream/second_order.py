"""AROW for streams: weights with a per-weight variance, for classes and for numbers."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.expert_results import AverageResults
from onmargin.models.second_order import AROWClassifierOptions, AROWRegressorOptions
from onmargin.stream._linear_classifier import LinearClassifier
from onmargin.stream._linear_regressor import LinearRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifier(AverageResults, LinearClassifier, AROWClassifierOptions):
    """AROW for classification of streams: weights with a per-weight variance, so rare features move further.

    Use it for text and other records with rare and frequent features, and where labels are noisy. For matrices,
    :class:`onmargin.AROWClassifier` is faster and has `fit`.

    Attributes
    ----------
    averages_ : ExpertResults
        With ``average="best"``: mistakes, losses and coefficients of the current and of the averaged weights.
    totals_ : Totals
        Rounds, mistakes, updates and losses so far, of the current weights.

    See Also
    --------
    onmargin.AROWClassifier : The estimator for matrices.

    Notes
    -----
    [AROW]. The weights are bit for bit those of :class:`onmargin.AROWClassifier` trained on the same examples as a CSR
    matrix.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.AROWClassifier()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWRegressor(AverageResults, LinearRegressor, AROWRegressorOptions):
    """AROW for regression on streams: weights with a per-weight variance.

    Use it where features have different scales or some are rare. For matrices, :class:`onmargin.AROWRegressor` is
    faster and has `fit`.

    Attributes
    ----------
    averages_ : ExpertResults
        With ``average="best"``: losses and coefficients of the current and of the averaged weights.
    totals_ : Totals
        Rounds, mistakes (targets outside the tube), updates and losses so far, of the current weights.

    See Also
    --------
    onmargin.AROWRegressor : The estimator for matrices.

    Notes
    -----
    [AROW]. The weights are bit for bit those of :class:`onmargin.AROWRegressor` trained on the same examples as a CSR
    matrix.

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
