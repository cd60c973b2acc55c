"""AROW: weights with a variance each, for classes and for numbers."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin, RegressorMixin

from onmargin.estimators._fitted_attributes import Variances
from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.models.described import described
from onmargin.models.expert_results import AverageResults
from onmargin.models.second_order import AROWClassifierOptions, AROWRegressorOptions


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifier(ClassifierMixin, AverageResults, Variances, LinearClassifier, AROWClassifierOptions):  # type: ignore[misc]
    r"""Adaptive regularization of weights (AROW): a robust classifier with a per-weight variance.

    Each weight is the mean of a Gaussian with its own variance. An example whose margin m is below 1 moves the means
    :math:`\mu` along :math:`\Sigma x`, and makes the variances :math:`\Sigma` of its features smaller:

    .. math:: \beta = \frac{1}{x^\top \Sigma x + r}, \qquad \mu \leftarrow \mu + \beta\,(1 - m)\, y\,\Sigma x,
              \qquad \Sigma_{jj} \leftarrow \Sigma_{jj} - \beta\,(\Sigma_{jj} x_j)^2,

    from means 0 and variances 1. The step is that of PA-II in the metric of the variances, with
    :math:`C = 1 / (2r)`.

    Use it for text and other data with rare and frequent features, and where labels are noisy: it is the most robust of
    the second-order learners, and one setting works well almost everywhere. Its variances only shrink: for a drifting
    target, set `forgetting`, or use :class:`PassiveAggressiveClassifier`.

    Parameters
    ----------
    warm_start : bool, default=False
        Whether `fit` continues from the current weights and variances.

    Attributes
    ----------
    averages_ : ExpertResults
        With ``average="best"``: mistakes, losses and coefficients of the current and of the averaged weights.
    confidence_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Variance of each weight: 1 at the start, smaller for weights that are known better. Without `forgetting` a
        variance never grows.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes, updates, hinge losses and largest squared norm so far, of the current weights. The dual value
        has no meaning here.

    See Also
    --------
    SCWClassifier : Requires a margin that grows with the uncertainty.
    NHERDClassifier : The same means, with variances that shrink faster.
    AROWRegressor : AROW for regression.

    Notes
    -----
    [AROW], with a diagonal covariance: off-diagonal entries are dropped after each update. A round costs O(non-zeros)
    per updated column. Example and class weights divide r. The paper bounds the mistakes of the full covariance; there
    is no bound here for the diagonal. With more than two classes, "ovr" is one binary problem per class; "joint" has
    one half-space per round, over the independent columns of the right class and its best rival.

    References
    ----------
    [AROW] K. Crammer, A. Kulesza, M. Dredze, *Adaptive Regularization of Weight Vectors*, NIPS 22, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import AROWClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = AROWClassifier().partial_fit(X, y)
    >>> model.totals_.mistakes
    147
    """


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWRegressor(RegressorMixin, AverageResults, Variances, LinearRegressor, AROWRegressorOptions):  # type: ignore[misc]
    r"""AROW for regression: recursive least squares with a diagonal covariance.

    With :math:`\ell = [|y - \mu \cdot x| - \epsilon]_+` an example moves the means by

    .. math:: \beta = \frac{1}{x^\top \Sigma x + r}, \qquad
              \mu \leftarrow \mu + \beta\,\ell\,\mathrm{sign}(y - \mu \cdot x)\,\Sigma x, \qquad
              \Sigma_{jj} \leftarrow \Sigma_{jj} - \beta\,(\Sigma_{jj} x_j)^2 .

    Use it where features have different scales or some are rare, and the target does not drift. If it does, set
    `forgetting`.

    Parameters
    ----------
    warm_start : bool, default=False
        Whether `fit` continues from the current weights and variances.

    Attributes
    ----------
    averages_ : ExpertResults
        With ``average="best"``: losses and coefficients of the current and of the averaged weights.
    confidence_ : ndarray of shape (n_features,)
        Variance of each weight: 1 at the start, smaller for weights that are known better. Without `forgetting` a
        variance never grows.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes (targets outside the tube), updates, losses and largest squared norm so far, of the current
        weights. The dual value has no meaning here.

    See Also
    --------
    AROWClassifier : AROW for classification.
    PassiveAggressiveRegressor : Regression without variances.

    Notes
    -----
    [AROW], with a half-space on the side of the target. Example weights divide r. No bound is claimed for the diagonal.

    References
    ----------
    [AROW] K. Crammer, A. Kulesza, M. Dredze, *Adaptive Regularization of Weight Vectors*, NIPS 22, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.preprocessing import scale
    >>> from onmargin import AROWRegressor
    >>> X, y = map(scale, load_diabetes(return_X_y=True))
    >>> model = AROWRegressor(r=1.0).partial_fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    """
