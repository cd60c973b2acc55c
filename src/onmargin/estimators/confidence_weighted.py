"""SCW and NHERD: other second-order classifiers."""

from dataclasses import dataclass

from sklearn.base import ClassifierMixin

from onmargin.estimators._fitted_attributes import Variances
from onmargin.estimators._linear_classifier import LinearClassifier
from onmargin.models.described import described
from onmargin.models.expert_results import AverageResults
from onmargin.models.second_order import NHERDClassifierOptions, SCWClassifierOptions


@described
@dataclass(kw_only=True, eq=False, repr=False)
class SCWClassifier(ClassifierMixin, AverageResults, Variances, LinearClassifier, SCWClassifierOptions):  # type: ignore[misc]
    r"""Soft confidence-weighted learning (SCW): the required margin grows with the uncertainty of the weights.

    Each weight is the mean of a Gaussian with its own variance, so the margin is also Gaussian, with mean m and
    variance :math:`v = x^\top \Sigma x`. The margin must be positive with probability `eta`, that is, :math:`m \ge \phi
    \sqrt v` with :math:`\phi = \Phi^{-1}(\eta)`; an example that falls short moves the Gaussian to the solution of

    .. math:: \min_{\mu, \Sigma}\ \mathrm{KL}\big(N(\mu, \Sigma) \,\|\, N(\mu_t, \Sigma_t)\big)
              + C\,\big[\phi \sqrt{x^\top \Sigma x} - y\,\mu \cdot x\big]_+

    (variant "I"; "II" has the square of the slack), which has a closed form: :math:`\mu \leftarrow \mu + \alpha
    y \Sigma x` and :math:`\Sigma_{jj} \leftarrow \Sigma_{jj} - \beta (\Sigma_{jj} x_j)^2`.

    Use it where labels are mostly right and there are many features. If labels are very noisy, :class:`AROWClassifier`
    is safer. Its variances only shrink: for a drifting target, set `forgetting`.

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
    AROWClassifier : A margin of 1 for all examples; more robust.
    NHERDClassifier : The same means as AROW, with variances that shrink faster.

    Notes
    -----
    [SCW] prop. 1 and 2, with a diagonal covariance: off-diagonal entries are dropped after each update. With
    :math:`\psi = 1 + \phi^2/2`, :math:`\zeta = 1 + \phi^2` and :math:`n = v + 1/(2C)`,

    .. math:: \alpha_I = \min\Big(C, \tfrac{1}{v\zeta}\big(-m\psi
              + \sqrt{m^2\phi^4/4 + v\phi^2\zeta}\big)\Big), \qquad
              \alpha_{II} = \frac{-(2mn + \phi^2 m v) + \phi\sqrt{\phi^2 m^2 v^2 + 4 n v (n + v\phi^2)}}
              {2(n^2 + n v \phi^2)},

    both at least 0, :math:`\sqrt u = \tfrac12(-\alpha v \phi + \sqrt{\alpha^2 v^2 \phi^2 + 4v})` and :math:`\beta =
    \alpha\phi / (\sqrt u + v\alpha\phi)`. The variances are used in every round, which costs O(non-zeros) per column,
    with or without an update. Example and class weights multiply C. The losses of ``totals_`` are hinge losses of
    margin 1.

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


@described
@dataclass(kw_only=True, eq=False, repr=False)
class NHERDClassifier(ClassifierMixin, AverageResults, Variances, LinearClassifier, NHERDClassifierOptions):  # type: ignore[misc]
    r"""Gaussian herding (NHERD): second-order classification with variances that shrink faster than those of AROW.

    Each weight is the mean of a Gaussian with its own variance. An example whose margin m is below 1 moves the whole
    distribution towards its half-space, with :math:`v = x^\top \Sigma x`:

    .. math:: \mu \leftarrow \mu + \frac{1 - m}{v + 1/C}\, y\,\Sigma x, \qquad
              \Sigma_{jj} \leftarrow \Sigma_{jj} - \frac{C^2 v + 2C}{(1 + Cv)^2}\,(\Sigma_{jj} x_j)^2 .

    Use it like :class:`AROWClassifier`, whose updates of the means it shares with r = 1 / C; on real streams the two
    make about the same number of mistakes.

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
    AROWClassifier : The same means, with variances that shrink more slowly.
    SCWClassifier : Requires a margin that grows with the uncertainty.

    Notes
    -----
    [NHERD]. Of the diagonal variants in the paper, this is the one that drops the off-diagonal entries of the
    covariance after each update, as :class:`AROWClassifier` and :class:`SCWClassifier` do here. A round costs
    O(non-zeros) per updated column. Example and class weights multiply C.

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
    146
    """
