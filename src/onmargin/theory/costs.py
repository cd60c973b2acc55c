r"""Bounds for cost-sensitive learners on :math:`\sum_t \rho(y_t, \hat y_t)`, the total cost of the predictions.

The competitor's loss is always that of the label with the largest loss, whichever label the learner updates on.
"""

from math import sqrt

from onmargin.theory._arguments import not_negative, positive
from onmargin.theory.pa import pa_squared_loss
from onmargin.theory.pa2 import pa2_squared_loss


def pa_cost(max_squared_norm: float, competitor_squared_norm: float) -> float:
    r"""Bound the cost of PA if a competitor has no loss: :math:`\sum_t\rho_t \le \sum_t\ell_t^2 \le R^2\|u\|^2`.

    Parameters
    ----------
    max_squared_norm : float
        R²: twice the largest squared norm of a row.
    competitor_squared_norm : float
        ‖u‖² over all prototypes.

    Returns
    -------
    bound : float
        The largest possible sum of costs.

    Notes
    -----
    [JMLR] sec. 8.

    Examples
    --------
    >>> from onmargin.theory import pa_cost
    >>> pa_cost(max_squared_norm=2.0, competitor_squared_norm=4.0)
    8.0
    """
    return pa_squared_loss(max_squared_norm, competitor_squared_norm)


def pa1_cost(
    C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float, largest_cost: float
) -> float:
    r"""Bound the total cost of PA-I.

    .. math:: \sum_t\rho_t \le \frac{\rho}{g(\sqrt\rho)}\Big(\tfrac12\|u\|^2 + C\sum_t\ell^*_t\Big), \qquad
              g(\ell) = \max_{0\le\tau\le C} \tau\ell - \tfrac12\tau^2R^2

    With :math:`R \le 1` and :math:`C \ge \sqrt\rho` it is at most :math:`\|u\|^2 + 2C\sum_t\ell^*_t`. A prediction of
    cost :math:`\rho_t` has a loss of at least :math:`\sqrt{\rho_t}` and raises the dual by at least
    :math:`g(\sqrt{\rho_t})`. Because :math:`g(\sqrt\rho)/\rho` is nonincreasing, this gain per unit of cost is at least
    that at the largest cost.

    Parameters
    ----------
    C : float
        Aggressiveness.
    max_squared_norm : float
        R²: twice the largest squared norm of a row; for sequences ``totals_.max_squared_norm``.
    competitor_squared_norm : float
        ‖u‖² over all prototypes.
    competitor_loss : float
        Sum of the losses of u, each that of the label with the largest loss.
    largest_cost : float
        :math:`\rho`, the largest cost of a prediction.

    Returns
    -------
    bound : float
        The largest possible sum of costs.

    Notes
    -----
    [JMLR] Thm. 10 is the case of :math:`R \le 1` and :math:`C \ge \sqrt\rho`; the argument is that of [PD] Thm. 1.

    Examples
    --------
    >>> from onmargin.theory import pa1_cost
    >>> pa1_cost(C=2.0, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_loss=0.5, largest_cost=4.0)
    6.0
    """
    positive(C=C)
    not_negative(
        max_squared_norm=max_squared_norm,
        competitor_squared_norm=competitor_squared_norm,
        competitor_loss=competitor_loss,
        largest_cost=largest_cost,
    )
    if largest_cost == 0:
        return 0.0
    root = sqrt(largest_cost)
    step = min(C, root / max_squared_norm) if max_squared_norm > 0 else C
    gain = step * root - step**2 * max_squared_norm / 2
    return largest_cost / gain * (competitor_squared_norm / 2 + C * competitor_loss)


def pa2_cost(
    C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_squared_loss: float
) -> float:
    r"""Bound the total cost of PA-II, for classes and for structures such as sequences.

    .. math:: \sum_t\rho_t \le \sum_t \ell_t^2 \le \Big(R^2 + \frac1{2C}\Big)\Big(\|u\|^2 + 2C\sum_t\ell^{*2}_t\Big)

    Parameters
    ----------
    C : float
        Aggressiveness.
    max_squared_norm : float
        R²: twice the largest squared norm of a row; for sequences ``totals_.max_squared_norm``.
    competitor_squared_norm : float
        ‖u‖² over all prototypes.
    competitor_squared_loss : float
        Sum of the squared losses of u, each that of the label with the largest loss.

    Returns
    -------
    bound : float
        The largest possible sum of costs.

    Notes
    -----
    [JMLR] sec. 8 and 9.

    Examples
    --------
    >>> from onmargin.theory import pa2_cost
    >>> pa2_cost(C=0.5, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_squared_loss=4.0)
    16.0
    """
    return pa2_squared_loss(C, max_squared_norm, competitor_squared_norm, competitor_squared_loss)
