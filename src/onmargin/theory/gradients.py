r"""Bounds for gradient descent, exponentiated gradient, Perceptron and Winnow ([SLIDES], corrected)."""

from onmargin.theory._arguments import check_arguments, condition


@check_arguments("rate")
def gradient_descent_loss(
    rate: float, max_squared_norm: float, competitor_squared_norm: float, competitor_squared_loss: float
) -> float:
    r"""Bound the sum of squared losses of gradient descent: :math:`2L(u) + 2X^2\|u\|^2`.

    Parameters
    ----------
    rate : float
        :math:`\eta = 1/(2X^2)`, the constant learning rate.
    max_squared_norm : float
        The largest squared norm of a row, at most X².
    competitor_squared_norm : float
        ‖u‖².
    competitor_squared_loss : float
        L(u), the sum of the squared losses of u.

    Returns
    -------
    bound : float
        The largest possible sum of squared losses.

    Notes
    -----
    [SLIDES], E1: the rate is constant, and the constant is half of the printed one. With rates
    :math:`1/(2\|x_t\|^2)` the bound holds for losses divided by :math:`\|x_t\|^2`, with X = 1.

    Examples
    --------
    >>> from onmargin.theory import gradient_descent_loss
    >>> gradient_descent_loss(0.5, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_squared_loss=1.0)
    10.0
    """
    condition(
        2 * rate * max_squared_norm <= 1 + 1e-9, "rate <= 1 / (2 |x|²)", f"{rate=:g}, |x|² = {max_squared_norm:g}"
    )
    return 2 * competitor_squared_loss + competitor_squared_norm / rate


@check_arguments("rate")
def logistic_loss(
    rate: float, max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float
) -> float:
    r"""Bound the sum of log losses of gradient descent: :math:`(L(u) + \|u\|^2/(2\eta)) / (1 - \eta R^2/4)`.

    Parameters
    ----------
    rate : float
        :math:`\eta`, the constant learning rate, below :math:`4/R^2`.
    max_squared_norm : float
        R², the largest squared norm of a row; with more than two classes, twice that.
    competitor_squared_norm : float
        ‖u‖².
    competitor_loss : float
        L(u), the sum of the log losses of u.

    Returns
    -------
    bound : float
        The largest possible sum of log losses.

    Notes
    -----
    [PD] sec. 7. Gradient descent has a regret of at most :math:`\|u\|^2/(2\eta) + \tfrac\eta2\sum_t\|g_t\|^2`, and the
    squared gradient of the log loss is at most :math:`R^2/2` times the loss.

    Examples
    --------
    >>> from onmargin.theory import logistic_loss
    >>> logistic_loss(1.0, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_loss=1.0)
    4.0
    """
    condition(rate * max_squared_norm < 4, "rate < 4 / R²", f"{rate=:g}, R² = {max_squared_norm:g}")
    return (competitor_loss + competitor_squared_norm / (2 * rate)) / (1 - rate * max_squared_norm / 4)


@check_arguments("rate")
def exponentiated_gradient_loss(
    rate: float, max_spread: float, divergence: float, competitor_squared_loss: float
) -> float:
    r"""Bound the sum of squared losses of exponentiated gradient: :math:`2L(u) + R^2(\ln n - H(u))`.

    Parameters
    ----------
    rate : float
        :math:`\eta = 2/R^2`, the constant learning rate.
    max_spread : float
        The maximum over rows of the largest minus the smallest value, at most R. For weights of either sign, twice the
        largest absolute value.
    divergence : float
        :math:`\ln n - H(u)`, for u on the simplex, where n is the number of weights.
    competitor_squared_loss : float
        L(u), the sum of the squared losses of u.

    Returns
    -------
    bound : float
        The largest possible sum of squared losses.

    Notes
    -----
    [SLIDES], E2: weights start at 1/n, u is on the simplex, and the spread replaces the largest value.

    Examples
    --------
    >>> from onmargin.theory import exponentiated_gradient_loss
    >>> exponentiated_gradient_loss(2.0, max_spread=1.0, divergence=3.0, competitor_squared_loss=1.0)
    5.0
    """
    condition(rate * max_spread**2 <= 2 * (1 + 1e-9), "rate <= 2 / spread²", f"{rate=:g}, {max_spread=:g}")
    return 2 * competitor_squared_loss + 2 * divergence / rate


@check_arguments()
def perceptron_margin2_mistakes(
    max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float
) -> float:
    r"""Bound the mistakes of the binary Perceptron by a competitor's hinge losses at margin 2.

    .. math:: M \le \sum_{\text{mistakes}} [2 - y\,u\cdot x]_+ + \tfrac14X^2\|u\|^2

    Parameters
    ----------
    max_squared_norm : float
        X², the largest squared norm of a row.
    competitor_squared_norm : float
        ‖u‖².
    competitor_loss : float
        Sum of the hinge losses of u at margin 2 over the rounds with a mistake, or over all rounds.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [SLIDES], E3: hinge losses at margin 2 replace the printed mistakes.

    Examples
    --------
    >>> from onmargin.theory import perceptron_margin2_mistakes
    >>> perceptron_margin2_mistakes(max_squared_norm=1.0, competitor_squared_norm=16.0, competitor_loss=0.0)
    4.0
    """
    return competitor_loss + max_squared_norm * competitor_squared_norm / 4


@check_arguments("rate", "margin")
def winnow_half_mistakes(
    rate: float, margin: float, max_number: float, divergence: float, competitor_loss: float
) -> float:
    r"""Bound the mistakes of Winnow with threshold ½.

    .. math:: M \le \frac2\gamma\sum_{\text{mistakes}}\big[\gamma - y(u\cdot x - \tfrac12)\big]_+ +
              \frac{X^2}{2\gamma^2}(\ln n - H(u))

    Parameters
    ----------
    rate : float
        :math:`\eta = 4\gamma/X^2`.
    margin : float
        :math:`\gamma`.
    max_number : float
        The largest value of a row, at most X. Rows must be nonnegative.
    divergence : float
        :math:`\ln n - H(u)`, for u on the simplex.
    competitor_loss : float
        Sum of the hinge losses of u at margin :math:`\gamma` over the rounds with a mistake, or over all rounds.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [SLIDES], E4: the rate is half the printed one, weights start at 1/n, and u is on the simplex.

    Examples
    --------
    >>> from onmargin.theory import winnow_half_mistakes
    >>> round(winnow_half_mistakes(0.4, margin=0.1, max_number=1.0, divergence=0.2, competitor_loss=0.0), 6)
    10.0
    """
    condition(
        rate * max_number**2 <= 4 * margin * (1 + 1e-9),
        "rate <= 4 margin / X²",
        f"{rate=:g}, {margin=:g}, X = {max_number:g}",
    )
    return 2 * competitor_loss / margin + 2 * divergence / (rate * margin)


@check_arguments("margin")
def winnow_half_mistakes_by_misses(margin: float, max_number: float, divergence: float, misses: int) -> float:
    r"""Bound the mistakes of Winnow with threshold ½ and rate :math:`4\gamma` by a competitor's margin errors.

    .. math:: M \le \Big(\frac1\gamma + 2\Big)K + \frac{1}{2\gamma^2}(\ln n - H(u))

    Parameters
    ----------
    margin : float
        :math:`\gamma`.
    max_number : float
        The largest value of a row, at most 1. Rows must be nonnegative.
    divergence : float
        :math:`\ln n - H(u)`, for u on the simplex.
    misses : int
        K, the number of rounds in which the margin of u is below :math:`\gamma`.

    Returns
    -------
    bound : float
        The largest possible number of mistakes.

    Notes
    -----
    [SLIDES], E4.

    Examples
    --------
    >>> from onmargin.theory import winnow_half_mistakes_by_misses
    >>> round(winnow_half_mistakes_by_misses(margin=0.1, max_number=1.0, divergence=0.2, misses=1), 6)
    22.0
    """
    condition(max_number <= 1 + 1e-9, "numbers of at most 1", f"{max_number=:g}")
    return (1 / margin + 2) * misses + divergence / (2 * margin**2)
