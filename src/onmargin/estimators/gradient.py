"""Gradient descent and exponentiated gradient: regression, and classification with the logistic loss."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin, RegressorMixin

from onmargin.estimators._fit_from_zero import FitFromZero
from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.models.described import described
from onmargin.models.gradient import ExponentiatedGradientOptions, GradientDescentOptions, OnlineLogisticOptions, Rate


@described
@dataclass(kw_only=True, eq=False, repr=False)
class GradientDescentRegressor(RegressorMixin, FitFromZero, Rate, LinearRegressor, GradientDescentOptions):  # type: ignore[misc]
    r"""Online gradient descent on the squared loss (Widrow-Hoff): :math:`w \leftarrow w - \eta (w \cdot x - y) x`.

    Use it as a baseline, or if you need the bound that is proved for its constant rate.
    :class:`PassiveAggressiveRegressor` has no rate to choose.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of the learned weights.
    intercept_ : ndarray of shape (1,)
        Always 0: there is no intercept.
    rate_ : float
        The learning rate in use.
    totals_ : Totals
        Rounds, mistakes (targets not predicted exactly), updates, sums of absolute and of squared losses so far. The
        dual value has no meaning here.

    See Also
    --------
    ExponentiatedGradientRegressor : Multiplicative updates, with weights on the simplex.
    PassiveAggressiveRegressor : Step sizes that adapt to the loss.

    Notes
    -----
    [SLIDES], with E1. For any weights u the sum of the squared losses is at most :math:`2 L(u) + 2 X^2 \|u\|^2`. Rates
    of :math:`1 / (2\|x_t\|^2)`, as printed there, have no such bound if the norms differ. There is no intercept: append
    a constant feature. Example weights multiply the rate.

    References
    ----------
    [SLIDES] F. Koriche, *Online Learning*, lecture slides, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from onmargin import GradientDescentRegressor
    >>> X, y = map(scale, load_diabetes(return_X_y=True))
    >>> round(GradientDescentRegressor(random_state=0).fit(X, y).score(X, y), 2)
    0.51
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class ExponentiatedGradientRegressor(RegressorMixin, FitFromZero, Rate, LinearRegressor, ExponentiatedGradientOptions):  # type: ignore[misc]
    r"""Exponentiated gradient regression on the simplex: :math:`w_i \leftarrow w_i e^{-\eta (w \cdot x - y) x_i} / Z`.

    Use it where the target is a mixture of few of very many features: its losses grow with the logarithm of their
    number. With `balanced`, weights can have either sign and their absolute values sum to less than 1: scale the
    targets accordingly.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a copy.
    intercept_ : ndarray of shape (1,)
        Always 0: there is no intercept.
    rate_ : float
        The learning rate in use.
    totals_ : Totals
        Rounds, mistakes (targets not predicted exactly), updates, sums of absolute and of squared losses so far. The
        dual value has no meaning here.

    See Also
    --------
    GradientDescentRegressor : Gradient descent with plain weights.

    Notes
    -----
    [SLIDES], with E2. For any u on the simplex the sum of the squared losses is at most :math:`2 L(u) + R^2 (\ln n -
    H(u))`, H being the entropy. The weights start at 1/n. There is no intercept: append a constant feature. Example
    weights multiply the rate.

    References
    ----------
    [SLIDES] F. Koriche, *Online Learning*, lecture slides, 2011.

    Examples
    --------
    The mean of three of 500 features:

    >>> import numpy as np
    >>> from onmargin import ExponentiatedGradientRegressor, GradientDescentRegressor
    >>> X = np.random.default_rng(0).random((300, 500))
    >>> y = X[:, [3, 70, 400]].mean(axis=1)
    >>> for kind in GradientDescentRegressor, ExponentiatedGradientRegressor:
    ...     print(f"{kind().partial_fit(X, y).totals_.squared_loss:.1f}")
    10.0
    2.7
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLogisticClassifier(ClassifierMixin, Rate, LinearClassifier, OnlineLogisticOptions):  # type: ignore[misc]
    r"""Online logistic regression: gradient descent on the log loss, binary and multiclass.

    Each round moves the weights along the gradient of :math:`-\ln p_y`, with p the softmax of the scores; with two
    classes, of the logistic loss :math:`\ln(1 + e^{-y\, w \cdot x})`. No example is passive: all of them move the
    weights, the more the less probable their label was.

    Use it if the probabilities matter more than the number of mistakes, or as a baseline for
    :class:`PassiveAggressiveClassifier`, which has no rate to choose. For a fixed data set,
    :class:`sklearn.linear_model.LogisticRegression` finds the best weights.

    Attributes
    ----------
    rate_ : float
        The learning rate in use.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes, updates, sums of log losses and of their squares so far. The dual value has no meaning here.

    See Also
    --------
    PassiveAggressiveClassifier : Moves only if a margin is violated, as far as needed.
    GradientDescentRegressor : Gradient descent on the squared loss.

    Notes
    -----
    [PD] sec. 7 and [ADAGRAD]. With ``geometry="euclidean"``, the sum of the losses is at most :math:`(L(u) + \|u\|^2 /
    (2\eta)) / (1 - \eta R^2 / 4)` for any weights u with the sum L(u), where :math:`R^2` is the largest squared norm of
    a row (twice that for more than two classes), because the squared slope of the logistic loss is at most half the
    loss (:func:`~onmargin.theory.logistic_loss`). Example and class weights multiply the rate.

    References
    ----------
    [PD] S. Shalev-Shwartz, Y. Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine Learning
    69:115-142, 2007.

    [ADAGRAD] J. Duchi, E. Hazan, Y. Singer, *Adaptive Subgradient Methods for Online Learning and Stochastic
    Optimization*, JMLR 12:2121-2159, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from onmargin import OnlineLogisticClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OnlineLogisticClassifier().partial_fit(scale(X), y)
    >>> model.totals_.mistakes
    26
    """
