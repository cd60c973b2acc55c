r"""Mistake bounds for simultaneous updates, which use several half-spaces at once.

The loss of a trial is the largest loss of its half-spaces, a mistake is an imperfect trial, in which some margin is at
most 0, and :math:`R^2` is the largest squared norm of a direction. "max", "conproj", "exact" and MIRA have the bound of
:func:`pa1_mistakes`; "simproj" and "simopt" have none.
"""

from math import sqrt

from onmargin.theory._arguments import condition, not_negative, positive


def _progress(C: float, max_squared_norm: float, margin: float = 1.0) -> float:
    """Return the smallest amount by which a mistake raises the dual."""
    positive(C=C, margin=margin)
    not_negative(max_squared_norm=max_squared_norm)
    condition(C * max_squared_norm < 2 * margin, "C < 2 margin / R²", f"{C=:g}, R² = {max_squared_norm:g}, {margin=:g}")
    return margin * C - C**2 * max_squared_norm / 2


def simperc_mistakes(
    C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float
) -> float:
    r"""Bound the mistakes of SimPerc and of ConOpt.

    .. math:: M \le \frac{\tfrac12\|u\|^2 + C\sum_t\ell^*_t}{C - \tfrac12C^2R^2}

    Parameters
    ----------
    C : float
        Aggressiveness, below 2 / R².
    max_squared_norm : float
        R².
    competitor_squared_norm : float
        ‖u‖².
    competitor_loss : float
        Sum of the losses of u on the trials.

    Returns
    -------
    bound : float
        The largest possible number of imperfect trials.

    Notes
    -----
    [SIMPROJ] Thm. 2, E13. For ConOpt, too, the bound does not extend to larger C (E9).

    Examples
    --------
    >>> from onmargin.theory import simperc_mistakes
    >>> simperc_mistakes(C=1.0, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_loss=0.0)
    4.0
    """
    progress = _progress(C, max_squared_norm)
    not_negative(competitor_squared_norm=competitor_squared_norm, competitor_loss=competitor_loss)
    return (competitor_squared_norm / 2 + C * competitor_loss) / progress


def perceptron_mistakes(max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float) -> float:
    r"""Bound the mistakes of learners that do not depend on C: SimPerc, Perceptron (any classes), p-norm Perceptron.

    .. math:: M \le L + \tfrac12 N + \tfrac12\sqrt{N^2 + 4LN}, \qquad N = R^2\|u\|^2

    This is the bound of :func:`simperc_mistakes` for the best C. If a unit vector separates the data with margin e, so
    that :math:`\|u\| = 1/e` and u has no loss, it is :math:`R^2/e^2`.

    Parameters
    ----------
    max_squared_norm : float
        R²; in p-norm geometry the largest curvature :math:`(p - 1)\|x\|_p^2`.
    competitor_squared_norm : float
        ‖u‖²; in p-norm geometry :math:`\|u\|_q^2` with 1/p + 1/q = 1.
    competitor_loss : float
        L, the sum of the hinge losses of u.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [PD] Thm. 2; [SIMPROJ] after Cor. 4, with the factor 4 that is missing in its text, E8.

    Examples
    --------
    >>> from onmargin.theory import perceptron_mistakes
    >>> perceptron_mistakes(max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_loss=3.0)
    9.0
    """
    not_negative(
        max_squared_norm=max_squared_norm,
        competitor_squared_norm=competitor_squared_norm,
        competitor_loss=competitor_loss,
    )
    size = max_squared_norm * competitor_squared_norm
    return competitor_loss + size / 2 + sqrt(size**2 + 4 * competitor_loss * size) / 2


def perceptron_mistakes_by_squares(
    max_squared_norm: float, competitor_squared_norm: float, competitor_squared_loss: float
) -> float:
    r"""Bound the mistakes of the Perceptron by the squared losses of a competitor.

    .. math:: M \le \Big(R\|u\| + \sqrt{\textstyle\sum_t \ell_t^{*2}}\Big)^2

    It is smaller than :func:`perceptron_mistakes` if the losses of u are below 1, and larger if they are large.

    Parameters
    ----------
    max_squared_norm : float
        R². With more than two classes, twice the largest squared norm of a row.
    competitor_squared_norm : float
        ‖u‖².
    competitor_squared_loss : float
        Sum of the squared hinge losses of u at margin 1. Summing over the rounds with a mistake suffices.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [FS] Thm. 2, written for the hinge loss at margin 1.

    Examples
    --------
    >>> from onmargin.theory import perceptron_mistakes_by_squares
    >>> perceptron_mistakes_by_squares(max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_squared_loss=1.0)
    9.0
    """
    not_negative(
        max_squared_norm=max_squared_norm,
        competitor_squared_norm=competitor_squared_norm,
        competitor_squared_loss=competitor_squared_loss,
    )
    return (sqrt(max_squared_norm * competitor_squared_norm) + sqrt(competitor_squared_loss)) ** 2


def set_errors(C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float) -> float:
    r"""Bound the sum over trials of the fraction of imperfect sets, for trials that are split into sets.

    The formula is that of :func:`simperc_mistakes`, but it bounds fractions of imperfect sets, not hinge losses. It
    holds for "simperc", "conproj", "conopt" and "exact", but not for "max".

    Parameters
    ----------
    C : float
        Aggressiveness, below 2 / R².
    max_squared_norm : float
        R².
    competitor_squared_norm : float
        ‖u‖².
    competitor_loss : float
        Sum over trials of the mean over their sets of the largest loss of u in the set.

    Returns
    -------
    bound : float
        The largest possible ``totals_.cost``.

    Notes
    -----
    [SIMPROJ] Cor. 5, E10.

    Examples
    --------
    >>> from onmargin.theory import set_errors
    >>> set_errors(C=1.0, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_loss=0.0)
    4.0
    """
    return simperc_mistakes(C, max_squared_norm, competitor_squared_norm, competitor_loss)


def simplex_mistakes(C: float, margin: float, max_number: float, divergence: float, competitor_loss: float) -> float:
    r"""Bound the mistakes of SimPerc, ConProj and MaxPA with weights on the simplex.

    .. math:: M \le \frac{\mathrm{KL}(u\|w_1) + C\sum_t\ell^*_t}{\gamma C - \tfrac12C^2R^2}

    Parameters
    ----------
    C : float
        Aggressiveness, below :math:`2\gamma/R^2`.
    margin : float
        :math:`\gamma`, the margin of the losses.
    max_number : float
        R, the largest absolute value in a row.
    divergence : float
        :math:`\mathrm{KL}(u\|w_1) = \ln n - H(u)` of u on the simplex.
    competitor_loss : float
        Sum of the hinge losses of u at margin :math:`\gamma`.

    Returns
    -------
    bound : float
        The largest possible number of imperfect trials.

    Notes
    -----
    [SIMPROJ] Thm. 6 and Cor. 8, E7: the denominator has :math:`\gamma C`, and u is on the simplex.

    Examples
    --------
    >>> from onmargin.theory import simplex_mistakes
    >>> round(simplex_mistakes(C=0.1, margin=0.1, max_number=1.0, divergence=0.005, competitor_loss=0.0), 6)
    1.0
    """
    progress = _progress(C, max_number**2, margin)
    not_negative(divergence=divergence, competitor_loss=competitor_loss)
    return (divergence + C * competitor_loss) / progress
