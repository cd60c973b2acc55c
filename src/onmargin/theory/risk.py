"""Risk bounds on future examples from the same distribution: online to batch, and batch training to a target loss."""

from math import log, sqrt

from onmargin.theory._arguments import check_arguments, condition


@check_arguments("rounds")
def online_to_batch_risk(total_loss: float, rounds: int, delta: float = 0.05) -> float:
    r"""Return a bound on the expected loss of the averaged weights, from the losses of the run.

    .. math:: \mathrm{risk}(\bar w) \le \frac1T\sum_t\ell_t(w_t) + \sqrt{\frac{2\ln(1/\delta)}{T}}, \qquad
              \bar w = \frac1T\sum_t w_t

    The examples must be drawn independently from one distribution, and each loss must lie between 0 and 1. No held-out
    data are needed: each loss was measured before its example was learned.

    Parameters
    ----------
    total_loss : float
        The sum of the losses of the run, each between 0 and 1.
    rounds : int
        T > 0.
    delta : float, default=0.05
        The probability that the bound fails, above 0 and below 1. Smaller values give a larger bound.

    Returns
    -------
    bound : float
        An upper bound on the expected loss that holds with probability :math:`1 - \delta`.

    Notes
    -----
    [CCG]. For the averaged weights the loss must be convex in the weights: a hinge loss divided by its largest value
    qualifies. The number of mistakes is not convex: for it, the bound applies to a predictor drawn uniformly from those
    of the run.

    Examples
    --------
    >>> from onmargin.theory import online_to_batch_risk
    >>> round(online_to_batch_risk(total_loss=50.0, rounds=1000), 3)
    0.127
    """
    _check_delta(delta)
    condition(total_loss <= rounds, "losses between 0 and 1", f"{total_loss=:g} in {rounds} rounds")
    return total_loss / rounds + sqrt(2 * log(1 / delta) / rounds)


@check_arguments("target_loss", "examples")
def batch_risk(
    max_squared_norm: float, squared_distance: float, target_loss: float, examples: int, delta: float = 0.05
) -> float:
    r"""Return a bound on the expected loss of weights that were trained until every loss was at most a target.

    .. math:: \mathrm{risk}(w) \le \sqrt\beta + \frac{RD}{\sqrt m}\Big(4 + 3\sqrt{\tfrac12\ln(1/\delta)}\Big), \qquad
              D = \|u - w_1\|

    Use it for ``fit(target_loss=...)`` of two classes or of numbers. The m examples must be drawn independently from
    one distribution for which some weights u have no loss on *any* example, and in which no example has a squared norm
    above R².

    Parameters
    ----------
    max_squared_norm : float
        R², of all examples of the distribution.
    squared_distance : float
        :math:`\|u - w_1\|^2` of weights without loss on all examples of the distribution.
    target_loss : float
        :math:`\sqrt\beta > 0`, the largest loss allowed per example, as in ``fit(target_loss=...)``.
    examples : int
        m > 0, the number of training examples, not of updates.
    delta : float, default=0.05
        The probability that the bound fails, above 0 and below 1. Smaller values give a larger bound.

    Returns
    -------
    bound : float
        An upper bound on the expected loss that holds with probability :math:`1 - \delta`.

    Notes
    -----
    [NIPS] Lemma 2: the weights stay within 2 D of their start, whatever the number of updates. The loss changes by at
    most the change of the score, so it is at most 3 R D for such weights, and their Rademacher complexity is at most
    2 R D / sqrt(m); the bound is that of [BM] for them. The constants are derived here, not printed in [NIPS].

    Examples
    --------
    >>> from onmargin.theory import batch_risk
    >>> round(batch_risk(max_squared_norm=1.0, squared_distance=4.0, target_loss=0.1, examples=10_000), 3)
    0.253
    """
    _check_delta(delta)
    return target_loss + sqrt(max_squared_norm * squared_distance / examples) * (4 + 3 * sqrt(log(1 / delta) / 2))


def _check_delta(delta: float) -> None:
    condition(0 < delta < 1, "0 < delta < 1", f"{delta=:g}")
