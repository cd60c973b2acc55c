"""SCW and NHERD: other second-order classifiers."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin

from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.estimators._shown import averages_, confidence_
from onmargin.models.described import described
from onmargin.models.second_order import NHERDClassifierOptions, SCWClassifierOptions


@described
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


@described
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
