r"""Loss and mistake bounds for PA.

Throughout, u is any fixed competitor, :math:`\ell^*_t` are its losses, and :math:`R^2` is the largest squared norm of
an update direction: that of a row, twice that with one prototype per class, 1 for a ball (see :func:`direction`).
"""

from math import sqrt

from onmargin.theory._arguments import condition, not_negative, positive


def direction(max_squared_norm: float, *, prototypes: bool = True) -> float:
    r"""Return the largest squared norm of a multiclass update direction.

    With one prototype per class, the row is in two columns: :math:`2 \max\|x\|^2`. With joint features of example and
    class, the direction is a difference of two rows: at most :math:`4 \max\|\phi\|^2`.

    Parameters
    ----------
    max_squared_norm : float
        The largest squared norm of a row.
    prototypes : bool, default=True
        Whether each class has a prototype. If False, features depend on example and class.

    Returns
    -------
    squared_length : float
        R² for the other bounds.

    Notes
    -----
    [JMLR] Cor. 8.

    Examples
    --------
    >>> from onmargin.theory import direction
    >>> direction(1.5), direction(1.5, prototypes=False)
    (3.0, 6.0)
    """
    not_negative(max_squared_norm=max_squared_norm)
    return (2 if prototypes else 4) * max_squared_norm


def pa_squared_loss(max_squared_norm: float, squared_distance: float, spare: float = 0.0, loss: float = 0.0) -> float:
    r"""Bound the sum of squared losses of PA if a competitor has no loss.

    .. math:: \sum_t \ell_t^2 \le R^2 \|u - w_1\|^2 - 2(\epsilon - \epsilon^*) \sum_t \ell_t

    Parameters
    ----------
    max_squared_norm : float
        R².
    squared_distance : float
        :math:`\|u - w_1\|^2`, the squared distance of a competitor without loss from the initial weights.
    spare : float, default=0.0
        :math:`\epsilon - \epsilon^*`: how much narrower the tube, smaller the ball or larger the margin could be with u
        still having no loss.
    loss : float, default=0.0
        The sum of the learner's own losses. It is used only if `spare` is above 0.

    Returns
    -------
    bound : float
        The largest possible sum of squared losses. If the margin is 1, it also bounds the mistakes.

    Notes
    -----
    [JMLR] Thm. 2 and [NIPS] Thm. 1.

    Examples
    --------
    >>> from onmargin.theory import pa_squared_loss
    >>> pa_squared_loss(max_squared_norm=1.0, squared_distance=9.0)
    9.0
    """
    not_negative(max_squared_norm=max_squared_norm, squared_distance=squared_distance, spare=spare, loss=loss)
    return max_squared_norm * squared_distance - 2 * spare * loss


def pa_distance(distance: float) -> float:
    r"""Bound the distance of PA from its start if a competitor has no loss: :math:`\|w_t - w_1\| \le 2\|u - w_1\|`.

    Parameters
    ----------
    distance : float
        :math:`\|u - w_1\|`.

    Returns
    -------
    bound : float
        The largest possible distance of the weights from the initial weights, in every round.

    Notes
    -----
    [NIPS] Lemma 2.

    Examples
    --------
    >>> from onmargin.theory import pa_distance
    >>> pa_distance(3.0)
    6.0
    """
    not_negative(distance=distance)
    return 2 * distance


def pa_separable(max_squared_norm: float, margin: float) -> float:
    r"""Bound the mistakes of PA on two linearly separable classes: :math:`M \le \sum_t\ell_t^2 \le R^2/e^2`.

    The sum of the losses is at most twice this bound.

    Parameters
    ----------
    max_squared_norm : float
        R².
    margin : float
        e > 0, the margin of some vector of norm 1 on every example.

    Returns
    -------
    bound : float
        The largest possible number of mistakes, and the largest possible sum of squared losses.

    Notes
    -----
    [NIPS] Thm. 1 with :math:`\|u\| = 1/e`.

    Examples
    --------
    >>> from onmargin.theory import pa_separable
    >>> pa_separable(max_squared_norm=1.0, margin=0.5)
    4.0
    """
    not_negative(max_squared_norm=max_squared_norm)
    positive(margin=margin)
    return max_squared_norm / margin**2


def pa_unit_squared_loss(
    squared_distance: float, squared_loss: float, *, min_squared_norm: float = 1.0, max_squared_norm: float = 1.0
) -> float:
    r"""Bound the sum of squared losses of PA for any competitor, if every update direction has norm 1.

    .. math:: \sum_t \ell_t^2 \le \Big(\|u - w_1\| + 2\sqrt{\textstyle\sum_t \ell^{*2}_t}\Big)^2

    Parameters
    ----------
    squared_distance : float
        :math:`\|u - w_1\|^2`.
    squared_loss : float
        The sum of the competitor's squared losses.
    min_squared_norm, max_squared_norm : float, default=1.0
        The smallest and the largest squared norm of a direction. Both must be 1: the theorem fails for shorter
        directions.

    Returns
    -------
    bound : float
        The largest possible sum of squared losses.

    Notes
    -----
    [JMLR] Thm. 3, E11. Balls always meet the condition.

    Examples
    --------
    >>> from onmargin.theory import pa_unit_squared_loss
    >>> pa_unit_squared_loss(squared_distance=4.0, squared_loss=1.0)
    16.0
    """
    not_negative(squared_distance=squared_distance, squared_loss=squared_loss)
    lengths = min_squared_norm, max_squared_norm
    condition(
        abs(lengths[0] - 1) <= 1e-9 >= abs(lengths[1] - 1),
        "directions of length 1 in every round",
        f"squared lengths from {lengths[0]:g} to {lengths[1]:g}",
    )
    return (sqrt(squared_distance) + 2 * sqrt(squared_loss)) ** 2


def simplex_pa_squared_loss(max_spread: float, divergence: float, spare: float = 0.0, loss: float = 0.0) -> float:
    r"""Bound the sum of squared losses of multiplicative PA if weights on the simplex have no loss.

    .. math:: \sum_t \ell_t^2 \le \tfrac12 r^2\,\mathrm{KL}(u\|w_1) - 2(\epsilon - \epsilon^*)\sum_t\ell_t

    Parameters
    ----------
    max_spread : float
        r, the maximum over directions of the largest minus the smallest value.
    divergence : float
        :math:`\mathrm{KL}(u\|w_1) = \ln n - H(u)` for uniform initial weights.
    spare : float, default=0.0
        :math:`\epsilon - \epsilon^*`, as for :func:`pa_squared_loss`.
    loss : float, default=0.0
        The sum of the learner's own losses. It is used only if `spare` is above 0.

    Returns
    -------
    bound : float
        The largest possible sum of squared losses.

    Notes
    -----
    [NIPS] Thm. 4, E6: steps are :math:`4\ell_t/r_t^2`, and the spread replaces the largest value. For nonnegative rows
    r is at most their largest value; for balls :math:`r^2 \le 2`.

    Examples
    --------
    >>> from math import log
    >>> from onmargin.theory import simplex_pa_squared_loss
    >>> round(simplex_pa_squared_loss(max_spread=1.0, divergence=log(500)), 2)
    3.11
    """
    not_negative(max_spread=max_spread, divergence=divergence, spare=spare, loss=loss)
    return max_spread**2 * divergence / 2 - 2 * spare * loss
