"""Mistake and loss bounds for AROW ([AROW]), with a full covariance matrix and with a variance per weight."""

from math import sqrt

from onmargin.theory._arguments import check_arguments


@check_arguments("r")
def arow_mistakes(
    r: float,
    log_determinant: float,
    timid_updates: int,
    *,
    competitor_squared_norm: float,
    competitor_squared_scores: float,
    competitor_loss: float,
) -> float:
    r"""Bound the mistakes of AROW with a full covariance matrix.

    .. math:: M \le \sqrt{r\|u\|^2 + u^\top X u}\ \sqrt{\ln\det(I + X / r) + U} + \sum_t \ell_t(u) - U

    Parameters
    ----------
    r : float
        Regularization, above 0.
    log_determinant : float
        :math:`\ln\det(I + X / r)`, where :math:`X = \sum x_t x_t^\top` over the rounds that updated the weights.
    timid_updates : int
        U, the number of updates without a mistake: rounds with a margin above 0 and below 1.
    competitor_squared_norm : float
        ‖u‖².
    competitor_squared_scores : float
        :math:`u^\top X u`, the sum of the squared scores of u over the rounds that updated the weights.
    competitor_loss : float
        Sum of the hinge losses of u at margin 1 over the rounds that updated the weights.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [AROW] theorem 2. It requires a full covariance matrix. The learners of this package keep a variance per weight; for
    them use :func:`arow_squared_loss`.

    Examples
    --------
    >>> from onmargin.theory import arow_mistakes
    >>> bound = arow_mistakes(
    ...     1.0, 2.0, 1, competitor_squared_norm=4.0, competitor_squared_scores=5.0, competitor_loss=2.0
    ... )
    >>> round(bound, 2)
    6.2
    """
    size = r * competitor_squared_norm + competitor_squared_scores
    return sqrt(size * (log_determinant + timid_updates)) + competitor_loss - timid_updates


@check_arguments("r")
def arow_squared_loss(
    r: float,
    max_squared_norm: float,
    competitor_squared_norm: float,
    competitor_squared_loss: float,
    competitor_drift: float,
) -> float:
    r"""Bound the sum of squared losses of AROW with a variance per weight.

    .. math:: \sum_t \ell_t^2 \le (R^2 + r)\,\Big(\sqrt G + \sqrt{G + B}\Big)^2, \qquad
        G = \frac1r \sum_t \ell_t(u)^2, \quad B = \|u\|^2 + \sum_t \|u - w_t\|_{P_t - P_{t-1}}^2

    Parameters
    ----------
    r : float
        Regularization, above 0.
    max_squared_norm : float
        R²: the largest squared norm of a row, including the intercept coordinate; twice that for more than two classes
        with ``strategy="joint"``.
    competitor_squared_norm : float
        ‖u‖².
    competitor_squared_loss : float
        Sum of the squared losses of u.
    competitor_drift : float
        :math:`\sum_t \sum_j (P_{t,j} - P_{t-1,j}) (u_j - w_{t,j})^2`, where :math:`P_{t,j}` is the precision (inverse
        variance) of a weight and :math:`w_{t,j}` the weight, both after round t.

    Returns
    -------
    bound : float
        The largest possible sum of squared losses; a mistake has a loss of at least 1.

    Notes
    -----
    Derived here: the bound of [AROW] needs a full covariance matrix. With
    :math:`q_t = x_t^\top P_{t-1}^{-1} x_t` and the step :math:`\tau_t = \ell_t / (q_t + r)`,

    .. math:: \|u - w_t\|_{P_t}^2 - \|u - w_{t-1}\|_{P_{t-1}}^2 \le -2\tau_t(\ell_t - \ell_t(u)) + \tau_t^2 q_t
        + \|u - w_t\|_{P_t - P_{t-1}}^2.

    Summing over t, with :math:`S = \sum_t \ell_t^2 / (q_t + r)`, gives :math:`S - 2\sqrt{S G} \le B` by the
    Cauchy-Schwarz inequality, and :math:`q_t \le R^2` because variances never grow. Like the bounds of AdaGrad, it
    depends on the distance of the weights of the run from u. It requires ``forgetting=0``.

    Examples
    --------
    >>> from onmargin.theory import arow_squared_loss
    >>> arow_squared_loss(1.0, 3.0, competitor_squared_norm=4.0, competitor_squared_loss=16.0, competitor_drift=5.0)
    324.0
    """
    losses = competitor_squared_loss / r
    size = competitor_squared_norm + competitor_drift
    return (max_squared_norm + r) * (sqrt(losses) + sqrt(losses + size)) ** 2
