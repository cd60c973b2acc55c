r"""Primal-dual bounds, in any geometry, and mistake bounds for simultaneous updates.

:math:`F(u)` is the size of a competitor: :math:`\frac12\|u\|^2`, :math:`\frac12\|u\|_q^2` or :math:`\ln n - H(u)`. Its
objective is :math:`P(u) = F(u) + C\sum_t\ell^*_t`, and no dual value exceeds it. The curvature of a row is that of the
potential along the row; :math:`R^2` is the largest curvature.

Simultaneous updates use several half-spaces at once. The loss of a trial is the largest loss of its half-spaces, a
mistake is an imperfect trial, in which some margin is at most 0, and :math:`R^2` is the largest squared norm of a
direction. "max", "conproj", "exact" and MIRA have the bound of :func:`pa1_mistakes`; "simproj" and "simopt" have none.
"""

from math import inf, log, sqrt
from typing import Protocol

from onmargin.theory._arguments import check_arguments, condition


class HasDualValue(Protocol):
    """Totals of a learner that include a dual value."""

    @property
    def dual_value(self) -> float: ...


@check_arguments("C")
def floor(totals: HasDualValue, C: float, norm: float) -> float:
    r"""Return a lower bound on the loss so far of every fixed predictor of bounded norm, from the totals alone.

    .. math:: D \le \tfrac12\|u\|^2 + C\sum_t\ell^*_t \quad\Rightarrow\quad
              \sum_t\ell^*_t \ge \frac{D - \tfrac12\|u\|^2}{C}

    Neither the stream nor a competitor is needed, so the bound is available after every round. If the result is 0, the
    dual value does not rule out a predictor of that norm without loss.

    Parameters
    ----------
    totals : Totals
        The ``totals_`` of a learner that started at zero. For one that did not, `norm` is the distance from its start.
    C : float
        Aggressiveness of the learner.
    norm : float
        The largest norm of the predictors, including the intercept coordinate; in p-norm geometry :math:`\|u\|_q`.

    Returns
    -------
    floor : float
        The smallest possible sum of losses; for a learner with squared losses (PA-II), of squared losses.

    Notes
    -----
    [PD] Thm. 1: weak duality.

    Examples
    --------
    >>> import numpy as np
    >>> from onmargin import PassiveAggressiveClassifier
    >>> from onmargin.theory import floor
    >>> X, y = np.random.default_rng(0).standard_normal((200, 5)), np.arange(200) % 2
    >>> model = PassiveAggressiveClassifier(C=0.1).partial_fit(X, y)
    >>> print(f"no weights of norm 1 had a loss below {floor(model.totals_, C=0.1, norm=1.0):.0f}")
    no weights of norm 1 had a loss below 172
    """
    return max(totals.dual_value - norm**2 / 2, 0.0) / C if inf > C else 0.0


@check_arguments("C", signed=["dual_value"])
def dual_gap(dual_value: float, competitor_size: float, C: float, competitor_loss: float) -> float:
    r"""Return the duality gap, the objective of a competitor minus the dual value: :math:`P(u) - D \ge 0`.

    Parameters
    ----------
    dual_value : float
        D, the dual value of the run.
    competitor_size : float
        F(u).
    C : float
        Aggressiveness.
    competitor_loss : float
        Sum of the losses of u; for PA-II, of its squared losses.

    Returns
    -------
    gap : float
        The gap, nonnegative on every stream. The objective of u exceeds that of the best competitor by at most the gap.

    Notes
    -----
    [PD] Thm. 1. The gains of the mistakes are part of the dual value, so their sum is also at most P(u).

    Examples
    --------
    >>> from onmargin.theory import dual_gap
    >>> dual_gap(dual_value=1.5, competitor_size=1.0, C=0.5, competitor_loss=2.0)
    0.5
    """
    return competitor_size + C * competitor_loss - dual_value


@check_arguments("C", "margin")
def fixed_mistakes(
    C: float, max_curvature: float, competitor_size: float, competitor_loss: float, margin: float = 1.0
) -> float:
    r"""Bound the mistakes of learners with a fixed step C per mistake: Perceptron, p-norm Perceptron, Winnow.

    .. math:: M \le \frac{F(u) + C\sum_t\ell^*_t}{\gamma C - \tfrac12C^2R^2}

    Parameters
    ----------
    C : float
        The step, below :math:`2\gamma/R^2`.
    max_curvature : float
        R².
    competitor_size : float
        F(u).
    competitor_loss : float
        Sum of the hinge losses of u at margin :math:`\gamma`.
    margin : float, default=1.0
        :math:`\gamma`.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [PD] Cor. 1, for any curvature. Predictions of the Perceptrons do not depend on C: see :func:`perceptron_mistakes`.

    Examples
    --------
    >>> from onmargin.theory import fixed_mistakes
    >>> fixed_mistakes(C=1.0, max_curvature=1.0, competitor_size=2.0, competitor_loss=0.0)
    4.0
    """
    condition(C * max_curvature < 2 * margin, "C < 2 margin / R²", f"{C=:g}, R² = {max_curvature:g}, {margin=:g}")
    return (competitor_size + C * competitor_loss) / (margin * C - C**2 * max_curvature / 2)


@check_arguments("margin", "n_weights")
def winnow_mistakes(margin: float, max_number: float, n_weights: int, competitor_loss: float) -> float:
    r"""Bound the mistakes of balanced Winnow if rate = margin: :math:`2(\ln n/\gamma^2 + \sum_t\ell^*_t/\gamma)`.

    Parameters
    ----------
    margin : float
        :math:`\gamma`, the margin and the rate.
    max_number : float
        The largest absolute value in a row, at most 1.
    n_weights : int
        n: twice the number of features, for weights of either sign.
    competitor_loss : float
        Sum of the hinge losses at margin :math:`\gamma` of any u with :math:`\|u\|_1 \le 1`.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [PD] Cor. 1 with F(u) at most ln n.

    Examples
    --------
    >>> from onmargin.theory import winnow_mistakes
    >>> round(winnow_mistakes(margin=0.1, max_number=1.0, n_weights=1000, competitor_loss=0.0))
    1382
    """
    condition(max_number <= 1 + 1e-9, "numbers of at most 1 in size", f"{max_number=:g}")
    return 2 * (log(n_weights) / margin**2 + competitor_loss / margin)


@check_arguments("C", "rounds")
def mean_loss(
    C: float, rounds: int, competitor_size: float, competitor_loss: float, max_curvature: float = 1.0
) -> float:
    r"""Bound the mean loss of dual ascent learners, including aggressive and optimal steps.

    .. math:: \frac1T\sum_t\ell_t \le \mu^{-1}\Big(\frac1T\sum_t\ell^*_t + \frac{F(u)}{CT}\Big), \qquad
              \mu^{-1}(y) = y + \tfrac C2 \text{ for } y \ge \tfrac C2,\ \sqrt{2Cy} \text{ below}

    Parameters
    ----------
    C : float
        Aggressiveness.
    rounds : int
        T > 0.
    competitor_size : float
        F(u).
    competitor_loss : float
        Sum of the losses of u.
    max_curvature : float, default=1.0
        R² ≤ 1.

    Returns
    -------
    bound : float
        The largest possible mean loss.

    Notes
    -----
    [PD] Thm. 3. :func:`pa1_loss` is the bound for any curvature, if the step takes the curvature into account.

    Examples
    --------
    >>> from onmargin.theory import mean_loss
    >>> round(mean_loss(C=0.1, rounds=1000, competitor_size=2.0, competitor_loss=50.0), 2)
    0.12
    """
    condition(max_curvature <= 1 + 1e-9, "a curvature of at most 1", f"{max_curvature=:g}")
    return mitigating_inverse((competitor_loss + competitor_size / C) / rounds, C)


@check_arguments("C")
def mitigating(loss: float, C: float) -> float:
    r"""Return the mitigated loss :math:`\mu(\ell)`: the dual gain of an aggressive step, divided by C.

    .. math:: \mu(\ell) = \tfrac1C \min(\ell, C)\big(\ell - \tfrac12\min(\ell, C)\big)

    It is :math:`\ell^2/(2C)` up to C and :math:`\ell - C/2` above: convex, increasing, and never above the loss.

    Parameters
    ----------
    loss : float
        :math:`\ell \ge 0`.
    C : float
        Aggressiveness.

    Returns
    -------
    mitigated : float
        Between :math:`\ell - C/2` and :math:`\ell`.

    Notes
    -----
    [PD] sec. 5.1 and Fig. 2.

    Examples
    --------
    >>> from onmargin.theory import mitigating, mitigating_inverse
    >>> mitigating(3.0, C=2.0), mitigating_inverse(2.0, C=2.0)
    (2.0, 3.0)
    """
    step = min(loss, C)
    return step * (loss - step / 2) / C


@check_arguments("C")
def mitigating_inverse(level: float, C: float) -> float:
    r"""Return the loss whose mitigated loss is `level`.

    .. math:: \mu^{-1}(y) = y + \tfrac C2 \text{ for } y \ge \tfrac C2,\ \sqrt{2Cy} \text{ below}

    Parameters
    ----------
    level : float
        :math:`y \ge 0`.
    C : float
        Aggressiveness.

    Returns
    -------
    loss : float
        At most :math:`y + C/2`.

    Notes
    -----
    [PD] sec. 5.1 and Fig. 2. This is the inverse of :func:`mitigating`.

    Examples
    --------
    >>> from onmargin.theory import mitigating_inverse
    >>> mitigating_inverse(0.5, C=4.0)
    2.0
    """
    return level + C / 2 if level >= C / 2 else sqrt(2 * C * level)


@check_arguments("progress", "C")
def progress_mistakes(progress: float, C: float, competitor_size: float, competitor_loss: float) -> float:
    r"""Bound the mistakes of a learner whose mistakes raised the dual value by :math:`\lambda` on average.

    .. math:: M \le \frac{F(u) + C\sum_t\ell^*_t}{\lambda}

    The closed-form theorems use the smallest possible :math:`\lambda`. The :math:`\lambda` measured on a finished run
    is at least as large and gives a tighter bound.

    Parameters
    ----------
    progress : float
        :math:`\lambda`, the mean rise of ``totals_.dual_value`` in the rounds with a mistake.
    C : float
        Aggressiveness.
    competitor_size : float
        F(u).
    competitor_loss : float
        Sum of the losses of u.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [PD] Thm. 1. The bound holds if no round lowers the dual value. Without a mistake :math:`\lambda` is undefined.

    Examples
    --------
    >>> from onmargin.theory import progress_mistakes
    >>> progress_mistakes(progress=0.5, C=1.0, competitor_size=2.0, competitor_loss=1.0)
    6.0
    """
    return (competitor_size + C * competitor_loss) / progress


@check_arguments("rounds")
def regret(rounds: int, competitor_size: float) -> float:
    r"""Bound the mean regret with the best C: :math:`\frac1T\sum_t(\ell_t - \ell^*_t) \le \sqrt{2F(u)/T}`.

    The best C equals the bound, :math:`C = \sqrt{2F(u)/T}`, so T and F(u) must be known in advance.

    Parameters
    ----------
    rounds : int
        T > 0.
    competitor_size : float
        F(u).

    Returns
    -------
    bound : float
        The largest possible mean regret, for curvatures up to 1. It is also the C to learn with.

    Notes
    -----
    [PD] Cor. 2.

    Examples
    --------
    >>> from onmargin.theory import regret
    >>> regret(rounds=400, competitor_size=2.0)
    0.1
    """
    return sqrt(2 * competitor_size / rounds)


def dual_gain(loss: float, C: float, max_curvature: float) -> float:
    r"""Return :math:`\max_{0\le\tau\le C} \tau\ell - \frac12\tau^2R^2`, the least increase of the dual in a round."""
    step = min(C, loss / max_curvature) if max_curvature > 0 else C
    return step * loss - step**2 * max_curvature / 2


@check_arguments("C", "margin")
def climbing_mistakes(
    C: float, max_curvature: float, competitor_size: float, competitor_loss: float, margin: float = 1.0
) -> float:
    r"""Bound the mistakes of learners that maximize the dual over the current example, in any geometry.

    .. math:: M \le \frac{F(u) + C\sum_t\ell^*_t}{\gamma c - \tfrac12c^2R^2}, \qquad c = \min(C, \gamma/R^2)

    Parameters
    ----------
    C : float
        Aggressiveness.
    max_curvature : float
        R². For aggressive steps, which ignore the curvature, pass 1; the actual curvature must not exceed 1.
    competitor_size : float
        F(u).
    competitor_loss : float
        Sum of the hinge losses of u at margin :math:`\gamma`.
    margin : float, default=1.0
        :math:`\gamma`.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [PD] eq. 31, for any curvature. In Euclidean geometry with a margin of 1 it is :func:`pa1_mistakes`.

    Examples
    --------
    >>> from onmargin.theory import climbing_mistakes
    >>> climbing_mistakes(C=1.0, max_curvature=1.0, competitor_size=2.0, competitor_loss=0.0)
    4.0
    """
    return (competitor_size + C * competitor_loss) / dual_gain(margin, C, max_curvature)


@check_arguments("C")
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
    return fixed_mistakes(C, max_squared_norm, competitor_squared_norm / 2, competitor_loss)


@check_arguments()
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
    size = max_squared_norm * competitor_squared_norm
    return competitor_loss + size / 2 + sqrt(size**2 + 4 * competitor_loss * size) / 2


@check_arguments()
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


@check_arguments("C", "margin")
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
    return fixed_mistakes(C, max_number**2, divergence, competitor_loss, margin)
