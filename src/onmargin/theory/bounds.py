"""Bounds on what a learner suffers, as functions of what a competitor would have suffered."""


def pa1_mistakes(C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float) -> float:
    r"""Most mistakes that PA-I can make on a stream, given any fixed competitor u.

    .. math:: M \le \frac{\tfrac12 \|u\|^2 + C \sum_t \ell^*_t}{C' - \tfrac12 C'^2 R^2}, \qquad C' = \min(C, 1/R^2)

    Every mistake raises the dual objective by at least the denominator, and the dual never rises above the numerator,
    the primal objective of u.

    Parameters
    ----------
    C : float
        Aggressiveness of the learner.
    max_squared_norm : float
        R², the largest squared norm of a direction: ``totals_.max_squared_norm`` for two classes, twice that for more.
    competitor_squared_norm : float
        ‖u‖², the weight of the intercept coordinate included.
    competitor_loss : float
        Sum of the hinge losses of u on the stream.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [PD] Thm. 1 for the optimal step; never above [JMLR] Thm. 4.

    Examples
    --------
    A competitor of norm 2 without any loss, on rows of norm 1:

    >>> from onmargin.theory import pa1_mistakes
    >>> pa1_mistakes(C=1.0, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_loss=0.0)
    4.0
    """
    step = min(C, 1 / max_squared_norm)
    return (competitor_squared_norm / 2 + C * competitor_loss) / (step - step**2 * max_squared_norm / 2)
