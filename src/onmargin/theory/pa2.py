r"""Loss bounds for PA-II.

Throughout, u is any fixed competitor, :math:`\ell^*_t` are its losses, and :math:`R^2` is the largest squared norm of
an update direction: that of a row, twice that with one prototype per class, 1 for a ball (see :func:`direction`).
"""

from math import sqrt

from onmargin.theory._arguments import not_negative, positive


def pa2_squared_loss(
    C: float, max_squared_norm: float, squared_distance: float, competitor_squared_loss: float
) -> float:
    r"""Bound the sum of squared losses of PA-II, in any task.

    .. math:: \sum_t \ell_t^2 \le \Big(R^2 + \frac1{2C}\Big)\Big(\|u - w_1\|^2 + 2C\textstyle\sum_t\ell^{*2}_t\Big)

    Parameters
    ----------
    C : float
        Aggressiveness of the learner; 1 / (2 C) is the relaxation of [NIPS].
    max_squared_norm : float
        R².
    squared_distance : float
        :math:`\|u - w_1\|^2`.
    competitor_squared_loss : float
        Sum of the squared losses of u on the stream.

    Returns
    -------
    bound : float
        The largest possible sum of squared losses. If the margin is 1, it also bounds the mistakes.

    Notes
    -----
    [JMLR] Thm. 5, which is [NIPS] Thm. 3. :func:`pa2_best_c` returns the C that minimizes it.

    Examples
    --------
    >>> from onmargin.theory import pa2_squared_loss
    >>> pa2_squared_loss(C=0.5, max_squared_norm=1.0, squared_distance=4.0, competitor_squared_loss=4.0)
    16.0
    """
    positive(C=C)
    not_negative(
        max_squared_norm=max_squared_norm,
        squared_distance=squared_distance,
        competitor_squared_loss=competitor_squared_loss,
    )
    return (max_squared_norm + 1 / (2 * C)) * (squared_distance + 2 * C * competitor_squared_loss)


def pa2_best_c(max_squared_norm: float, squared_distance: float, competitor_squared_loss: float) -> float:
    r"""Return the C that minimizes the bound of PA-II: :math:`C = \|u - w_1\| / (2R\sqrt{\sum\ell^{*2}_t})`.

    The bound is then :math:`(R\|u - w_1\| + \sqrt{\sum\ell^{*2}_t})^2`.

    Parameters
    ----------
    max_squared_norm : float
        R² > 0.
    squared_distance : float
        :math:`\|u - w_1\|^2 > 0`.
    competitor_squared_loss : float
        Sum of the squared losses of u on the stream, above 0. With a sum of 0, the bound only decreases as C grows.

    Returns
    -------
    C : float
        Aggressiveness.

    Notes
    -----
    [NIPS] Thm. 3.

    Examples
    --------
    >>> from onmargin.theory import pa2_best_c
    >>> pa2_best_c(max_squared_norm=1.0, squared_distance=4.0, competitor_squared_loss=4.0)
    0.5
    """
    positive(
        max_squared_norm=max_squared_norm,
        squared_distance=squared_distance,
        competitor_squared_loss=competitor_squared_loss,
    )
    return sqrt(squared_distance / (max_squared_norm * competitor_squared_loss)) / 2
