"""Bound on the updates of batch training to a target loss."""

from onmargin.theory._arguments import not_negative, positive


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
    not_negative(max_squared_norm=max_squared_norm, squared_distance=squared_distance)
    positive(target_loss=target_loss)
    return max_squared_norm * squared_distance / target_loss**2
