"""AROW: weights with a variance each, for classes and for numbers."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin, RegressorMixin

from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.estimators._shown import averages_, confidence_
from onmargin.models.described import described
from onmargin.models.second_order import AROWClassifierOptions, AROWRegressorOptions


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWClassifier(ClassifierMixin, LinearClassifier, AROWClassifierOptions):  # type: ignore[misc]
    r"""AROW: weights that are known well move little, those that are not move far.

    Each weight is the mean of a Gaussian with a variance of its own. An example whose margin m is below 1 moves the
    means :math:`\mu` along :math:`\Sigma x`, and makes the variances :math:`\Sigma` of its features smaller:

    .. math:: \beta = \frac{1}{x^\top \Sigma x + r}, \qquad \mu \leftarrow \mu + \beta\,(1 - m)\, y\,\Sigma x,
              \qquad \Sigma_{jj} \leftarrow \Sigma_{jj} - \beta\,(\Sigma_{jj} x_j)^2,

    from means 0 and variances 1. The step is that of PA-II in the metric of the variances, with
    :math:`C = 1 / (2r)`.

    Use it for text and other rows of rare and frequent features, and where labels are noisy: it is the most robust of
    the second-order learners, and one setting does well almost everywhere. It settles: for a target that moves set
    `forgetting`, or take :class:`PassiveAggressiveClassifier`.

    Parameters
    ----------
    warm_start : bool, default=False
        Whether `fit` goes on from the weights and variances it finds.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; a view of those that are learned, unless they are averaged.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts, in score units.
    averages_ : Standing
        With ``average="best"``: mistakes, losses and coefficients of the current weights and of the averaged ones.
    confidence_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Variance of each weight: 1 where nothing is known, the smaller the surer. Without `forgetting` none ever grows.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts_ : ndarray of shape (n_classes,)
        Examples of each class learned so far; the "balanced" weights of `partial_fit` rest on them.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes, updates, hinge losses and largest squared norm so far, of the weights that learn. The dual
        value is that of no one problem here.

    See Also
    --------
    SCWClassifier : Asks for a margin that grows with the uncertainty.
    NHERDClassifier : The same means, and variances that fall faster.
    AROWRegressor : The same for real targets.

    Notes
    -----
    [AROW], with the diagonal of the covariance alone: what is off the diagonal is dropped after each update. A round
    costs O(non-zeros) a column that moves. Example and class weights divide r. The paper bounds the mistakes of the
    full covariance; there is no bound here for the diagonal. With more than two classes "ovr" is a binary problem for
    each class; "joint" has one half-space a round, with the columns of the right class and its best rival, which are
    independent.

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
    149
    """

    averages_, confidence_ = averages_, confidence_


@described
@dataclass(kw_only=True, eq=False, repr=False)
class AROWRegressor(RegressorMixin, LinearRegressor, AROWRegressorOptions):  # type: ignore[misc]
    r"""AROW for real targets: recursive least squares with the diagonal of the covariance alone.

    With :math:`\ell = [|y - \mu \cdot x| - \epsilon]_+` an example moves the means by

    .. math:: \beta = \frac{1}{x^\top \Sigma x + r}, \qquad
              \mu \leftarrow \mu + \beta\,\ell\,\mathrm{sign}(y - \mu \cdot x)\,\Sigma x, \qquad
              \Sigma_{jj} \leftarrow \Sigma_{jj} - \beta\,(\Sigma_{jj} x_j)^2 .

    Use it where features come in different sizes or some are rare, and the target does not move. Where it does, set
    `forgetting`.

    Parameters
    ----------
    warm_start : bool, default=False
        Whether `fit` goes on from the weights and variances it finds.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of those that are learned, unless they are averaged.
    intercept_ : ndarray of shape (1,)
        Intercept.
    averages_ : Standing
        With ``average="best"``: losses and coefficients of the current weights and of the averaged ones.
    confidence_ : ndarray of shape (n_features,)
        Variance of each weight: 1 where nothing is known, the smaller the surer. Without `forgetting` none ever grows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the data had names.
    n_iter_ : int
        Passes made by the last call.
    t_ : float
        One plus the number of rounds.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes (targets outside the tube), updates, losses and largest squared norm so far, of the weights
        that learn. The dual value is that of no one problem here.

    See Also
    --------
    AROWClassifier : The same for classes.
    PassiveAggressiveRegressor : The same without variances.

    Notes
    -----
    [AROW] with a half-space for the side on which the target is. Example weights divide r. No bound is claimed for the
    diagonal.

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

    averages_, confidence_ = averages_, confidence_
