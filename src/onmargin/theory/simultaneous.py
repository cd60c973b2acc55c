r"""What learners that project onto several half-spaces at once are promised.

The loss of a trial is the largest of its half-spaces, a mistake is a trial that is imperfect, and :math:`R^2` is the
largest squared length of a direction. "max", "conproj", "exact" and MIRA have the bound of :func:`pa1_mistakes`;
"simproj" and "simopt" have none.
"""

from math import sqrt

from onmargin.theory._arguments import condition, not_negative, positive


def _progress(C: float, max_squared_norm: float, margin: float = 1.0) -> float:
    """What a mistake raises the dual by, at least."""
    positive(C=C, margin=margin)
    not_negative(max_squared_norm=max_squared_norm)
    condition(C * max_squared_norm < 2 * margin, "C < 2 margin / R²", f"{C=:g}, R² = {max_squared_norm:g}, {margin=:g}")
    return margin * C - C**2 * max_squared_norm / 2


def simperc_mistakes(
    C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float
) -> float:
    r"""Most mistakes of SimPerc, and of ConOpt.

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
    [SIMPROJ] Thm. 2, E13. ConOpt has it for no larger C either (E9).

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
    r"""Most mistakes of learners that do not depend on C: SimPerc, the Perceptron with two classes or more, p-norm.

    .. math:: M \le L + \tfrac12 N + \tfrac12\sqrt{N^2 + 4LN}, \qquad N = R^2\|u\|^2

    It is the bound of :func:`simperc_mistakes` for the best C. With a unit vector of margin e, and so :math:`\|u\| =
    1/e` and no loss, it is :math:`R^2/e^2`.

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
    [PD] Thm. 2; [SIMPROJ] after Cor. 4 with the factor 4 that its text lacks, E8.

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
    r"""Return the most mistakes of the Perceptron, compared with the squared losses of a competitor.

    .. math:: M \le \Big(R\|u\| + \sqrt{\textstyle\sum_t \ell_t^{*2}}\Big)^2

    It is less than :func:`perceptron_mistakes` where the losses of u are below 1, and more where they are large.

    Parameters
    ----------
    max_squared_norm : float
        R²; with more than two classes twice the largest squared norm of a row.
    competitor_squared_norm : float
        ‖u‖².
    competitor_squared_loss : float
        Sum of the squared hinge losses of u at margin 1. Those of the rounds with a mistake suffice.

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
    r"""Largest sum of the parts of the sets that are imperfect, where trials fall into sets.

    It is that of :func:`simperc_mistakes`, on another count: of fractions of sets, not of hinge losses. It holds for
    "simperc", "conproj", "conopt" and "exact"; not for "max".

    Parameters
    ----------
    C : float
        Aggressiveness, below 2 / R².
    max_squared_norm : float
        R².
    competitor_squared_norm : float
        ‖u‖².
    competitor_loss : float
        Sum over the trials of the mean over their sets of the largest loss of u.

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
    r"""Most mistakes of SimPerc, ConProj and MaxPA with weights on the simplex.

    .. math:: M \le \frac{\mathrm{KL}(u\|w_1) + C\sum_t\ell^*_t}{\gamma C - \tfrac12C^2R^2}

    Parameters
    ----------
    C : float
        Aggressiveness, below :math:`2\gamma/R^2`.
    margin : float
        :math:`\gamma`, of the losses.
    max_number : float
        R, the largest number of a row in size.
    divergence : float
        :math:`\mathrm{KL}(u\|w_1) = \ln n - H(u)` of u on the simplex.
    competitor_loss : float
        Sum of the losses of margin :math:`\gamma` of u.

    Returns
    -------
    bound : float
        The largest possible number of imperfect trials.

    Notes
    -----
    [SIMPROJ] Thm. 6 and Cor. 8, E7: :math:`\gamma C`, and u on the simplex.

    Examples
    --------
    >>> from onmargin.theory import simplex_mistakes
    >>> round(simplex_mistakes(C=0.1, margin=0.1, max_number=1.0, divergence=0.005, competitor_loss=0.0), 6)
    1.0
    """
    progress = _progress(C, max_number**2, margin)
    not_negative(divergence=divergence, competitor_loss=competitor_loss)
    return (divergence + C * competitor_loss) / progress
