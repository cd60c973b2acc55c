"""SCW and NHERD: other second-order classifiers."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin

from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._shown import averages_, confidence_
from onmargin.models.second_order import NHERDClassifierOptions, SCWClassifierOptions


@dataclass(kw_only=True, eq=False, repr=False)
class SCWClassifier(ClassifierMixin, LinearClassifier, SCWClassifierOptions):  # type: ignore[misc]
    r"""Soft confidence-weighted learning: the less is known about an example, the larger the margin it must have.

    Each weight is the mean of a Gaussian with a variance of its own, so a margin is one too: of mean m and variance
    :math:`v = x^\top \Sigma x`. It must be positive with probability `eta`, which is :math:`m \ge \phi \sqrt v`
    with :math:`\phi = \Phi^{-1}(\eta)`; an example that falls short moves the Gaussian to the solution of

    .. math:: \min_{\mu, \Sigma}\ \mathrm{KL}\big(N(\mu, \Sigma) \,\|\, N(\mu_t, \Sigma_t)\big)
              + C\,\big[\phi \sqrt{x^\top \Sigma x} - y\,\mu \cdot x\big]_+

    (variant "I"; "II" has the square of the slack), which has a closed form: :math:`\mu \leftarrow \mu + \alpha
    y \Sigma x` and :math:`\Sigma_{jj} \leftarrow \Sigma_{jj} - \beta (\Sigma_{jj} x_j)^2`.

    Use it where labels are mostly right and features are many. Under much noise :class:`AROWClassifier` is safer. It
    settles: for a target that moves set `forgetting`.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, above 0: the largest step ("I") or the price of squared slack ("II").
    eta : float, default=0.9
        Probability, above 0.5 and below 1, with which an example must be right.
    variant : {"I", "II"}, default="I"
        Whether slack costs C times itself or its square.
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
    AROWClassifier : A margin of 1 for all, and more robust.
    NHERDClassifier : The same means as AROW, and variances that fall faster.

    Notes
    -----
    [SCW] prop. 1 and 2, with the diagonal of the covariance alone: what is off the diagonal is dropped after each
    update. With :math:`\psi = 1 + \phi^2/2`, :math:`\zeta = 1 + \phi^2` and :math:`n = v + 1/(2C)`,

    .. math:: \alpha_I = \min\Big(C, \tfrac{1}{v\zeta}\big(-m\psi
              + \sqrt{m^2\phi^4/4 + v\phi^2\zeta}\big)\Big), \qquad
              \alpha_{II} = \frac{-(2mn + \phi^2 m v) + \phi\sqrt{\phi^2 m^2 v^2 + 4 n v (n + v\phi^2)}}
              {2(n^2 + n v \phi^2)},

    both at least 0, :math:`\sqrt u = \tfrac12(-\alpha v \phi + \sqrt{\alpha^2 v^2 \phi^2 + 4v})` and
    :math:`\beta = \alpha\phi / (\sqrt u + v\alpha\phi)`. The variances take part in every round: it costs
    O(non-zeros) a column, whether it moves or not. Example and class weights multiply C. The losses of ``totals_`` are
    hinge losses of margin 1.

    References
    ----------
    [SCW] J. Wang, P. Zhao, S. C. H. Hoi, *Exact Soft Confidence-Weighted Learning*, ICML 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import SCWClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SCWClassifier().partial_fit(X, y)
    >>> model.totals_.mistakes
    157
    """

    averages_, confidence_ = averages_, confidence_


@dataclass(kw_only=True, eq=False, repr=False)
class NHERDClassifier(ClassifierMixin, LinearClassifier, NHERDClassifierOptions):  # type: ignore[misc]
    r"""NHERD: a Gaussian of weights herded as one, whose variances fall faster than those of AROW.

    Each weight is the mean of a Gaussian with a variance of its own. An example whose margin m is below 1 moves all of
    the distribution towards its half-space, with :math:`v = x^\top \Sigma x`:

    .. math:: \mu \leftarrow \mu + \frac{1 - m}{v + 1/C}\, y\,\Sigma x, \qquad
              \Sigma_{jj} \leftarrow \Sigma_{jj} - \frac{C^2 v + 2C}{(1 + Cv)^2}\,(\Sigma_{jj} x_j)^2 .

    Use it as :class:`AROWClassifier`, whose means it shares with r = 1 / C: on real streams the two make about as many
    mistakes.

    Parameters
    ----------
    C : float, default=10.0
        Aggressiveness, above 0. Smaller is more cautious.
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
    AROWClassifier : The same means, and variances that fall more slowly.
    SCWClassifier : Asks for a margin that grows with the uncertainty.

    Notes
    -----
    [NHERD]. Of the paper's diagonal forms this is the one that drops what is off the diagonal of the covariance after
    each update, as :class:`AROWClassifier` and :class:`SCWClassifier` do here. A round costs O(non-zeros) a column that
    moves. Example and class weights multiply C.

    References
    ----------
    [NHERD] K. Crammer, D. D. Lee, *Learning via Gaussian Herding*, NIPS 23, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onmargin import NHERDClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NHERDClassifier().partial_fit(X, y)
    >>> model.totals_.mistakes
    148
    """

    averages_, confidence_ = averages_, confidence_
