r"""Mistake and loss bounds for PA-I.

Throughout, u is any fixed competitor, :math:`\ell^*_t` are its losses, and :math:`R^2` is the largest squared norm of
an update direction: that of a row, twice that with one prototype per class, 1 for a ball (see :func:`direction`).
"""

from math import sqrt

from onmargin.theory._arguments import not_negative, positive


def pa1_mistakes(C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float) -> float:
    r"""Bound the mistakes of PA-I on a stream, given any fixed competitor u.

    .. math:: M \le \frac{\tfrac12 \|u\|^2 + C \sum_t \ell^*_t}{C' - \tfrac12 C'^2 R^2}, \qquad C' = \min(C, 1/R^2)

    Every mistake raises the dual objective by at least the denominator, and the dual objective never exceeds the
    numerator, the primal objective of u. The bound holds for the updates "max", "conproj" and "exact" in all tasks
    with margin 1.

    Parameters
    ----------
    C : float
        Aggressiveness of the learner.
    max_squared_norm : float
        R², the largest squared norm of a direction: ``totals_.max_squared_norm`` for two classes, twice that for more.
    competitor_squared_norm : float
        ‖u‖², including the weight of the intercept coordinate.
    competitor_loss : float
        Sum of the hinge losses of u on the stream.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [PD] Thm. 1 for the optimal step, and [SIMPROJ] Cor. 4 for any C; never above [JMLR] Thm. 4.

    Examples
    --------
    A competitor of norm 2 without any loss, on rows of norm 1:

    >>> from onmargin.theory import pa1_mistakes
    >>> pa1_mistakes(C=1.0, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_loss=0.0)
    4.0
    """
    positive(C=C)
    not_negative(
        max_squared_norm=max_squared_norm,
        competitor_squared_norm=competitor_squared_norm,
        competitor_loss=competitor_loss,
    )
    step = min(C, 1 / max_squared_norm) if max_squared_norm > 0 else C
    return (competitor_squared_norm / 2 + C * competitor_loss) / (step - step**2 * max_squared_norm / 2)


def pa1_mistakes_as_printed(
    C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float
) -> float:
    r"""Bound the mistakes of PA-I as printed in its paper; :func:`pa1_mistakes` is never larger.

    .. math:: M \le \max(R^2, 1/C)\,\big(\|u\|^2 + 2C \textstyle\sum_t \ell^*_t\big)

    Parameters
    ----------
    C : float
        Aggressiveness of the learner.
    max_squared_norm : float
        R².
    competitor_squared_norm : float
        ‖u‖².
    competitor_loss : float
        Sum of the hinge losses of u on the stream.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [JMLR] Thm. 4.

    Examples
    --------
    >>> from onmargin.theory import pa1_mistakes_as_printed
    >>> pa1_mistakes_as_printed(C=1.0, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_loss=0.0)
    4.0
    """
    positive(C=C)
    not_negative(
        max_squared_norm=max_squared_norm,
        competitor_squared_norm=competitor_squared_norm,
        competitor_loss=competitor_loss,
    )
    return max(max_squared_norm, 1 / C) * (competitor_squared_norm + 2 * C * competitor_loss)


def pa1_capped_losses(C: float, squared_distance: float, competitor_loss: float) -> float:
    r"""Bound :math:`\sum_t \min(C\ell_t, \ell_t^2/R^2)` of PA-I, in any task: :math:`\|u - w_1\|^2 + 2C\sum\ell^*_t`.

    Parameters
    ----------
    C : float
        Aggressiveness of the learner.
    squared_distance : float
        :math:`\|u - w_1\|^2`.
    competitor_loss : float
        Sum of the losses of u on the stream.

    Returns
    -------
    bound : float
        The largest possible sum.

    Notes
    -----
    [JMLR] Lemma 1 with the step of PA-I. For a bound on the sum of the losses, see :func:`pa1_loss`.

    Examples
    --------
    >>> from onmargin.theory import pa1_capped_losses
    >>> pa1_capped_losses(C=0.5, squared_distance=4.0, competitor_loss=3.0)
    7.0
    """
    positive(C=C)
    not_negative(squared_distance=squared_distance, competitor_loss=competitor_loss)
    return squared_distance + 2 * C * competitor_loss


def pa1_loss(C: float, max_squared_norm: float, rounds: int, squared_distance: float, competitor_loss: float) -> float:
    r"""Bound the sum of losses of PA-I in any task.

    .. math:: \sum_t\ell_t \le T\,g^{-1}\Big(\frac{\frac12\|u - w_1\|^2 + C\sum_t\ell^*_t}{T}\Big), \qquad
              g(\ell) = \max_{0\le\tau\le C} \tau\ell - \tfrac12\tau^2R^2

    A round with loss :math:`\ell` raises the dual by at least :math:`g(\ell)`. Because g is convex, the mean gain is at
    least the gain of the mean loss (Jensen's inequality).

    Parameters
    ----------
    C : float
        Aggressiveness of the learner.
    max_squared_norm : float
        R².
    rounds : int
        T, the number of rounds.
    squared_distance : float
        :math:`\|u - w_1\|^2`.
    competitor_loss : float
        Sum of the losses of u on the stream.

    Returns
    -------
    bound : float
        The largest possible sum of losses.

    Notes
    -----
    [PD] Thm. 3, for any R: :math:`g^{-1}(y)` is :math:`y/C + CR^2/2` for :math:`y \ge C^2R^2/2` and
    :math:`\sqrt{2R^2y}` below.

    Examples
    --------
    >>> from onmargin.theory import pa1_loss
    >>> pa1_loss(C=0.1, max_squared_norm=1.0, rounds=1000, squared_distance=4.0, competitor_loss=50.0)
    120.0
    """
    positive(C=C)
    not_negative(
        max_squared_norm=max_squared_norm,
        rounds=rounds,
        squared_distance=squared_distance,
        competitor_loss=competitor_loss,
    )
    if rounds == 0:
        return 0.0
    gain = (squared_distance / 2 + C * competitor_loss) / rounds
    if gain >= C**2 * max_squared_norm / 2:
        return rounds * (gain / C + C * max_squared_norm / 2)
    return rounds * sqrt(2 * max_squared_norm * gain)
