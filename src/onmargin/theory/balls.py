"""Loss bounds for balls with a learned radius."""

from math import sqrt

from onmargin.theory._arguments import condition, not_negative, positive


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
    not_negative(squared_distance=squared_distance, radius=radius)
    positive(max_radius=max_radius)
    condition(radius <= max_radius, "a radius of at most max_radius", f"{radius=:g}, {max_radius=:g}")
    return squared_distance + (max_radius - sqrt(max_radius**2 - radius**2)) ** 2
