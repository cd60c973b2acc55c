"""AROW: weights with a variance each, for classes and for numbers."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin, RegressorMixin

from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.estimators._shown import averages_, confidence_
from onmargin.models.second_order import AROWClassifierOptions, AROWRegressorOptions


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
    r : float, default=0.1
        Regularisation, above 0: how much an example is distrusted. Larger is more cautious.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, with a variance of its own.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weight of examples by class. "balanced" is ``n_samples / (n_classes * count)``; in `partial_fit`
        from the counts so far.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the mistakes of each so far.
    strategy : {"ovr", "joint"}, default="ovr"
        With more than two classes, "ovr" learns each class against all others, "joint" the right class against its
        best rival.
    forgetting : float, default=0.0
        By what part the variances that a step made smaller grow again after it, at most up to 1. 0.1 follows a target
        that moves, and costs accuracy where none does.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss (with `early_stopping`: validation score)
        was not better by `tol` than the best before. None: all `max_iter` passes are made.
    early_stopping : bool, default=False
        Whether `fit` holds out a stratified part of the data and judges a pass by the accuracy there.
    validation_fraction : float, default=0.1
        The part held out, between 0 and 1.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling and of the validation split.
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
    r : float, default=0.1
        Regularisation, above 0: how much an example is distrusted. Larger is more cautious.
    epsilon : float, default=0.0
        Half the width of the tube in which predictions are right and nothing is learned; at least 0.
    fit_intercept : bool, default=True
        Whether to learn an intercept: the weight of one more coordinate of each row, with a variance of its own.
    intercept_scaling : "auto" or float, default="auto"
        Value of that coordinate, above 0. "auto" is 0.3 times the norm of the first non-zero row seen, then fixed.
    average : bool, int, "mean" or "best", default=False
        Whether to predict with the mean of the weights after each round; an integer above 1 is the round it starts at,
        and "mean" is True. "best": with the current weights or their mean, by the losses of each so far.
    forgetting : float, default=0.0
        By what part the variances that a step made smaller grow again after it, at most up to 1. 0.1 follows a target
        that moves, and costs accuracy where none does.
    max_iter : int, default=1000
        Most passes that `fit` makes. `partial_fit` makes one.
    tol : float or None, default=1e-3
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss (with `early_stopping`: validation score)
        was not better by `tol` than the best before. None: all `max_iter` passes are made.
    early_stopping : bool, default=False
        Whether `fit` holds out a part of the data and judges a pass by the R² there.
    validation_fraction : float, default=0.1
        The part held out, between 0 and 1.
    n_iter_no_change : int, default=5
        Passes without improvement that end `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles before each pass. `partial_fit` never does.
    verbose : int, default=0
        Above 0: `fit` prints a line a pass.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling and of the validation split.
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
