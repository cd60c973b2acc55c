"""Gradient descent, exponentiated gradient and logistic regression for streams."""

from dataclasses import dataclass

from onmargin.models.described import described
from onmargin.models.gradient import ExponentiatedGradientOptions, GradientDescentOptions, OnlineLogisticOptions, Rate
from onmargin.stream._linear_classifier import LinearClassifier
from onmargin.stream._linear_regressor import LinearRegressor


@described
@dataclass(kw_only=True, eq=False, repr=False)
class GradientDescentRegressor(Rate, LinearRegressor, GradientDescentOptions):
    """Online gradient descent on the squared loss for streams, with a constant learning rate.

    Use it as a baseline. With ``rate=None`` the first example determines the rate, which is too high if later examples
    are larger: set `rate` unless all examples have about the same norm. :class:`onmargin.stream.AROWRegressor` has no
    rate to choose. For matrices, :class:`onmargin.GradientDescentRegressor` is faster and has `fit`.

    Attributes
    ----------
    rate_ : float
        The learning rate in use.

    See Also
    --------
    onmargin.GradientDescentRegressor : The estimator for matrices.

    Notes
    -----
    [SLIDES], with E1. The weights are bit for bit those of :class:`onmargin.GradientDescentRegressor` trained on the
    same examples as a CSR matrix, row by row.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.GradientDescentRegressor(rate=0.1)
    >>> for size in range(40):
    ...     model = model.learn_one({"size": size % 4, "base": 1.0}, 2.0 * (size % 4) + 1.0)
    >>> round(model.predict_one({"size": 3, "base": 1.0}), 1)
    7.0
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class ExponentiatedGradientRegressor(Rate, LinearRegressor, ExponentiatedGradientOptions):
    """Exponentiated gradient for streams: regression with weights on the simplex.

    Use it where the target is a mixture of few of very many features. The weights start at 1 / n_features, so features
    with names must be hashed. With ``rate=None`` the first example determines the rate, which is too high if later
    examples have a larger spread. For matrices, :class:`onmargin.ExponentiatedGradientRegressor` is faster and has
    `fit`.

    Attributes
    ----------
    rate_ : float
        The learning rate in use.

    See Also
    --------
    onmargin.ExponentiatedGradientRegressor : The estimator for matrices.

    Notes
    -----
    [SLIDES], with E2. The weights are bit for bit those of :class:`onmargin.ExponentiatedGradientRegressor` trained on
    the same examples as a CSR matrix, row by row.

    Examples
    --------
    >>> from onmargin import stream
    >>> from onmargin.features import RecordFeatures
    >>> model = stream.ExponentiatedGradientRegressor(features=RecordFeatures(n_features=2**4), rate=1.0)
    >>> for day in range(200):
    ...     model = model.learn_one({"wind": day % 5, "sun": day % 3}, 0.5 * (day % 5) + 0.5 * (day % 3))
    >>> round(model.predict_one({"wind": 4, "sun": 2}), 1)
    3.0
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLogisticClassifier(Rate, LinearClassifier, OnlineLogisticOptions):
    """Online logistic regression for streams: gradient descent on the log loss.

    Use it if the probabilities matter more than the number of mistakes, or as a baseline. For matrices,
    :class:`onmargin.OnlineLogisticClassifier` is faster and has `fit`.

    Attributes
    ----------
    rate_ : float
        The learning rate in use.
    totals_ : Totals
        Rounds, mistakes, updates and sums of log losses so far.

    See Also
    --------
    onmargin.OnlineLogisticClassifier : The estimator for matrices.

    Notes
    -----
    [PD] sec. 7 and [ADAGRAD]. The weights are bit for bit those of :class:`onmargin.OnlineLogisticClassifier` trained
    on the same examples as a CSR matrix, row by row.

    Examples
    --------
    >>> from onmargin import stream
    >>> model = stream.OnlineLogisticClassifier()
    >>> for text, label in [("cheap pills", "spam"), ("lunch at noon", "ham"), ("cheap flights", "spam")]:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("cheap lunch pills")
    'spam'
    """
