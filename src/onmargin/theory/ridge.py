"""Loss bound for online ridge regression ([PLG]; [AW])."""

from collections.abc import Iterable
from math import fsum, log1p

from onmargin.theory._arguments import check_arguments


@check_arguments("alpha")
def ridge_squared_loss(
    alpha: float,
    eigenvalues: Iterable[float],
    largest: float,
    competitor_squared_norm: float,
    competitor_squared_loss: float,
) -> float:
    r"""Bound the sum of squared losses of online ridge regression.

    .. math:: \sum_t (y_t - \hat y_t)^2 \le \alpha \|u\|^2 + L(u) + M^2 \sum_i \ln(1 + \lambda_i / \alpha)

    Parameters
    ----------
    alpha : float
        :math:`\alpha`, the regularization strength, above 0.
    eigenvalues : iterable of float
        :math:`\lambda_i`, the eigenvalues of :math:`\sum_t x_t x_t^\top`, including the intercept coordinate.
    largest : float
        M: the largest error :math:`|y_t - \hat y_t|` of the run. For forecasts that already count the current row
        (``forecast=True``), the largest absolute target.
    competitor_squared_norm : float
        ‖u‖².
    competitor_squared_loss : float
        L(u), the sum of the squared losses of u.

    Returns
    -------
    bound : float
        The largest possible sum of squared losses.

    Notes
    -----
    [PLG] theorem 11.7; for forecasts [AW], which covers Vovk's forecaster. The bound holds for any u and is smallest
    for the ridge regression on the whole stream. The first follows from an identity: with
    :math:`q_t = x_t^\top A x_t` before round t, :math:`\sum_t (y_t - \hat y_t)^2 / (1 + q_t)` is the minimum of
    :math:`\alpha \|u\|^2 + L(u)`, and :math:`\sum_t \ln(1 + q_t)` is :math:`\sum_i \ln(1 + \lambda_i / \alpha)`.

    Examples
    --------
    >>> from onmargin.theory import ridge_squared_loss
    >>> bound = ridge_squared_loss(1.0, [99.0, 0.0], 2.0, competitor_squared_norm=3.0, competitor_squared_loss=5.0)
    >>> round(bound, 2)
    26.42
    """
    # The matrix is positive semidefinite, but rounding may make its smallest eigenvalues negative.
    volume = fsum(log1p(max(float(one), 0.0) / alpha) for one in eigenvalues)
    return alpha * competitor_squared_norm + competitor_squared_loss + largest**2 * volume
