"""Online ridge regression."""

from dataclasses import dataclass

from sklearn.base import RegressorMixin

from onmargin.estimators._estimator import max_iter, shuffle, tol
from onmargin.estimators._fit_from_zero import FitFromZero
from onmargin.estimators._linear_regressor import LinearRegressor
from onmargin.models.described import described
from onmargin.models.ridge import OnlineRidgeOptions


@described
@dataclass(kw_only=True, eq=False, repr=False)
class OnlineRidgeRegressor(RegressorMixin, FitFromZero, LinearRegressor, OnlineRidgeOptions):  # type: ignore[misc]
    r"""Online ridge regression (recursive least squares), with a regret bound.

    After each example the weights are those of the ridge regression on all examples so far,

    .. math:: w_{t+1} = \arg\min_u\; \alpha \|u\|^2 + \sum_{i \le t} (y_i - u \cdot x_i)^2 ,

    maintained by rank-one updates of the matrix :math:`A = (\alpha I + \sum x_i x_i^\top)^{-1}`. One pass gives the
    exact solution, which does not depend on the order of the examples.

    Use it where there are few features, up to a few hundred, which may be correlated or have different scales: it needs
    no scaling and no learning rate. The time of a round grows with the square of the number of features, of which there
    may be at most 1000. :class:`AROWRegressor` keeps only the diagonal of the matrix, and takes any number of features.

    Parameters
    ----------
    max_iter : int, default=1
        Maximum number of passes that `fit` makes. The first one gives the solution, and later ones do not change it.
    tol : float or None, default=None
        `fit` stops after `n_iter_no_change` passes in a row whose mean loss did not improve on the best so far by at
        least `tol`. If None, all `max_iter` passes are made.
    shuffle : bool, default=False
        Whether `fit` shuffles the examples before each pass. `partial_fit` never shuffles.
    warm_start : bool, default=False
        Whether `fit` continues from the current weights and matrix.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights; a view of the learned weights.
    intercept_scaling_ : float
        Value of the intercept coordinate in use.
    totals_ : Totals
        Rounds, mistakes (targets not predicted exactly), updates, sums of absolute and of squared losses so far, of the
        predictions before each update. The dual value has no meaning here.

    See Also
    --------
    AROWRegressor : One variance per weight instead of a matrix.
    AutoRegressor : Automatic model selection, with ridge regression among the experts.
    onmargin.theory.ridge_squared_loss : The regret bound.

    Notes
    -----
    [PD] sec. 3 with the squared loss: follow the regularized leader. Without `forgetting` the squared losses of one
    pass are at most

    .. math:: \min_u \Big\{ \alpha \|u\|^2 + \sum_t (y_t - u \cdot x_t)^2 \Big\} +
              M^2 \sum_i \ln\Big(1 + \frac{\lambda_i}{\alpha}\Big)

    on any sequence, where :math:`\lambda_i` are the eigenvalues of :math:`\sum x_t x_t^\top` and M is the largest error
    that was made ([PLG] theorem 11.7). With ``forecast=True`` M is the largest absolute value of a target, whatever the
    errors are ([AW]; Vovk's forecaster). :func:`onmargin.theory.certify` checks either for a run.

    With ``forecast=True`` `predict` divides :math:`w \cdot x` by :math:`1 + x^\top A x`, which tends to 1 as more
    examples are learned: predictions are not linear in x, and are smaller than ``X @ coef_ + intercept_`` for rows
    unlike those before. The intercept is one more coordinate and is penalized like all others, unlike that of
    scikit-learn's ``Ridge``. An example of weight 2 counts as two examples. Examples are learned in double precision.

    With `forgetting` the weights are those of the ridge regression in which a round has weight :math:`(1 -
    forgetting)^s` after s others. The penalties of the features decay in the same way, down to :math:`\alpha / 100`,
    where they are held, one feature per round, so that collinear or vanished features do not disturb the others.

    References
    ----------
    [PD] S. Shalev-Shwartz, Y. Singer, *A Primal-Dual Perspective of Online Learning Algorithms*, Machine Learning
    69:115-142, 2007.

    [PLG] N. Cesa-Bianchi, G. Lugosi, *Prediction, Learning, and Games*, Cambridge University Press, 2006.

    [AW] K. S. Azoury, M. K. Warmuth, *Relative Loss Bounds for On-line Density Estimation with the Exponential Family
    of Distributions*, Machine Learning 43:211-246, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from onmargin import OnlineRidgeRegressor
    >>> from onmargin.theory import certify
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = OnlineRidgeRegressor(alpha=0.1).partial_fit(X, y)
    >>> round(model.score(X, y), 2)
    0.51
    >>> certify(model, X, y).holds
    True
    """

    max_iter: int = max_iter(1)
    tol: float | None = tol(None)
    shuffle: bool = shuffle(False)
