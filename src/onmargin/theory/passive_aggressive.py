r"""Loss, mistake and cost bounds for PA, PA-I and PA-II.

Throughout, u is any fixed competitor, :math:`\ell^*_t` are its losses, and :math:`R^2` is the largest squared norm of
an update direction: that of a row, twice that with one prototype per class, 1 for a ball (see :func:`direction`). With
costs, the competitor's loss is always that of the label with the largest loss, whichever label the learner updates on.
"""

from math import sqrt

from onmargin.theory._arguments import check_arguments, condition
from onmargin.theory.primal_dual import climbing_mistakes, dual_gain


@check_arguments()
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
    return (2 if prototypes else 4) * max_squared_norm


@check_arguments()
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
    return max_squared_norm * squared_distance - 2 * spare * loss


@check_arguments()
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
    return 2 * distance


@check_arguments("margin")
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
    return max_squared_norm / margin**2


@check_arguments()
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
    lengths = min_squared_norm, max_squared_norm
    condition(
        abs(lengths[0] - 1) <= 1e-9 >= abs(lengths[1] - 1),
        "directions of length 1 in every round",
        f"squared lengths from {lengths[0]:g} to {lengths[1]:g}",
    )
    return (sqrt(squared_distance) + 2 * sqrt(squared_loss)) ** 2


@check_arguments()
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
    return max_spread**2 * divergence / 2 - 2 * spare * loss


@check_arguments("C")
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
    return climbing_mistakes(C, max_squared_norm, competitor_squared_norm / 2, competitor_loss)


@check_arguments("C")
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
    return max(max_squared_norm, 1 / C) * (competitor_squared_norm + 2 * C * competitor_loss)


@check_arguments("C")
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
    return squared_distance + 2 * C * competitor_loss


@check_arguments("C")
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
    if rounds == 0:
        return 0.0
    gain = (squared_distance / 2 + C * competitor_loss) / rounds
    if gain >= C**2 * max_squared_norm / 2:
        return rounds * (gain / C + C * max_squared_norm / 2)
    return rounds * sqrt(2 * max_squared_norm * gain)


@check_arguments("C")
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
    return (max_squared_norm + 1 / (2 * C)) * (squared_distance + 2 * C * competitor_squared_loss)


@check_arguments("max_squared_norm", "squared_distance", "competitor_squared_loss")
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
    return sqrt(squared_distance / (max_squared_norm * competitor_squared_loss)) / 2


def pa_cost(max_squared_norm: float, competitor_squared_norm: float) -> float:
    r"""Bound the cost of PA if a competitor has no loss: :math:`\sum_t\rho_t \le \sum_t\ell_t^2 \le R^2\|u\|^2`.

    Parameters
    ----------
    max_squared_norm : float
        R²: twice the largest squared norm of a row.
    competitor_squared_norm : float
        ‖u‖² over all prototypes.

    Returns
    -------
    bound : float
        The largest possible sum of costs.

    Notes
    -----
    [JMLR] sec. 8.

    Examples
    --------
    >>> from onmargin.theory import pa_cost
    >>> pa_cost(max_squared_norm=2.0, competitor_squared_norm=4.0)
    8.0
    """
    return pa_squared_loss(max_squared_norm, competitor_squared_norm)


@check_arguments("C")
def pa1_cost(
    C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_loss: float, largest_cost: float
) -> float:
    r"""Bound the total cost of PA-I.

    .. math:: \sum_t\rho_t \le \frac{\rho}{g(\sqrt\rho)}\Big(\tfrac12\|u\|^2 + C\sum_t\ell^*_t\Big), \qquad
              g(\ell) = \max_{0\le\tau\le C} \tau\ell - \tfrac12\tau^2R^2

    With :math:`R \le 1` and :math:`C \ge \sqrt\rho` it is at most :math:`\|u\|^2 + 2C\sum_t\ell^*_t`. A prediction of
    cost :math:`\rho_t` has a loss of at least :math:`\sqrt{\rho_t}` and raises the dual by at least
    :math:`g(\sqrt{\rho_t})`. Because :math:`g(\sqrt\rho)/\rho` is nonincreasing, this gain per unit of cost is at least
    that at the largest cost.

    Parameters
    ----------
    C : float
        Aggressiveness.
    max_squared_norm : float
        R²: twice the largest squared norm of a row; for sequences ``totals_.max_squared_norm``.
    competitor_squared_norm : float
        ‖u‖² over all prototypes.
    competitor_loss : float
        Sum of the losses of u, each that of the label with the largest loss.
    largest_cost : float
        :math:`\rho`, the largest cost of a prediction.

    Returns
    -------
    bound : float
        The largest possible sum of costs.

    Notes
    -----
    [JMLR] Thm. 10 is the case of :math:`R \le 1` and :math:`C \ge \sqrt\rho`; the argument is that of [PD] Thm. 1.

    Examples
    --------
    >>> from onmargin.theory import pa1_cost
    >>> pa1_cost(C=2.0, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_loss=0.5, largest_cost=4.0)
    6.0
    """
    if largest_cost == 0:
        return 0.0
    gain = dual_gain(sqrt(largest_cost), C, max_squared_norm)
    return largest_cost / gain * (competitor_squared_norm / 2 + C * competitor_loss)


def pa2_cost(
    C: float, max_squared_norm: float, competitor_squared_norm: float, competitor_squared_loss: float
) -> float:
    r"""Bound the total cost of PA-II, for classes and for structures such as sequences.

    .. math:: \sum_t\rho_t \le \sum_t \ell_t^2 \le \Big(R^2 + \frac1{2C}\Big)\Big(\|u\|^2 + 2C\sum_t\ell^{*2}_t\Big)

    Parameters
    ----------
    C : float
        Aggressiveness.
    max_squared_norm : float
        R²: twice the largest squared norm of a row; for sequences ``totals_.max_squared_norm``.
    competitor_squared_norm : float
        ‖u‖² over all prototypes.
    competitor_squared_loss : float
        Sum of the squared losses of u, each that of the label with the largest loss.

    Returns
    -------
    bound : float
        The largest possible sum of costs.

    Notes
    -----
    [JMLR] sec. 8 and 9.

    Examples
    --------
    >>> from onmargin.theory import pa2_cost
    >>> pa2_cost(C=0.5, max_squared_norm=1.0, competitor_squared_norm=4.0, competitor_squared_loss=4.0)
    16.0
    """
    return pa2_squared_loss(C, max_squared_norm, competitor_squared_norm, competitor_squared_loss)


@check_arguments("max_radius")
def ball_squared_distance(squared_distance: float, radius: float, max_radius: float) -> float:
    r"""Return the squared distance of a ball from the starting point of a learner with a learned radius.

    A learned radius is one additional coordinate. The bounds of PA and PA-II hold with

    .. math:: \|u - w_1\|^2 + \big(B - \sqrt{B^2 - e^2}\big)^2 \ \le\ \|u - w_1\|^2 + e^2

    in place of :math:`\|u - w_1\|^2`, for losses :math:`[\sqrt{\|x - u\|^2 + B^2 - e^2} - B]_+`.

    Parameters
    ----------
    squared_distance : float
        :math:`\|u - w_1\|^2` of the center.
    radius : float
        e, the radius of the competitor, from 0 to B.
    max_radius : float
        B > 0, the ``max_radius`` of the learner.

    Returns
    -------
    squared_distance : float
        The squared distance to pass to :func:`pa_unit_squared_loss` or :func:`pa2_squared_loss`, with R² = 1.

    Notes
    -----
    [JMLR] sec. 6.

    Examples
    --------
    >>> from onmargin.theory import ball_squared_distance
    >>> ball_squared_distance(squared_distance=4.0, radius=3.0, max_radius=5.0)
    5.0
    """
    condition(radius <= max_radius, "a radius of at most max_radius", f"{radius=:g}, {max_radius=:g}")
    return squared_distance + (max_radius - sqrt(max_radius**2 - radius**2)) ** 2


@check_arguments("target_loss")
def batch_updates(max_squared_norm: float, squared_distance: float, target_loss: float) -> float:
    r"""Bound the updates of PA until every loss is at most a target: :math:`R^2\|u - w_1\|^2 / \beta`.

    Parameters
    ----------
    max_squared_norm : float
        R². For a ball it is 1.
    squared_distance : float
        :math:`\|u - w_1\|^2` of weights without loss on all examples.
    target_loss : float
        :math:`\sqrt\beta > 0`, the largest loss allowed per example, as in ``fit(target_loss=...)``.

    Returns
    -------
    bound : float
        The largest possible number of updates.

    Notes
    -----
    [NIPS], E5: the bound is on the number of updates, not on the index of the output.

    Examples
    --------
    >>> from onmargin.theory import batch_updates
    >>> batch_updates(max_squared_norm=1.0, squared_distance=4.0, target_loss=0.5)
    16.0
    """
    return max_squared_norm * squared_distance / target_loss**2
