"""Online-to-batch conversion: risk bounds on future examples from the same distribution."""

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
    condition(0 < delta < 1, "0 < delta < 1", f"{delta=:g}")
    condition(total_loss <= rounds, "losses between 0 and 1", f"{total_loss=:g} in {rounds} rounds")
    return total_loss / rounds + sqrt(2 * log(1 / delta) / rounds)
