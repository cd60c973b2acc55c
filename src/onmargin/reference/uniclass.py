"""A ball that holds what it has seen ([JMLR] sec. 6; [NIPS] for the radius that is learned)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.step import Step, pa

Vector = NDArray[np.float64]


@dataclass
class Ball:
    """The ball after the last round, and totals."""

    centre: Vector
    radius: float
    rounds: int = 0
    updates: int = 0
    loss: float = 0.0
    squared_loss: float = 0.0
    distance: float = 0.0
    dual_value: float = 0.0


def uniclass(
    X: NDArray[np.float64],
    radius: float,
    step: Step = pa,
    *,
    learn_radius: bool = False,
    start: Vector | None = None,
    weight: Vector | None = None,
) -> Ball:
    """Follow the rows of X with a ball of the given radius, or with one whose radius is learned and at most that.

    A learned radius is a ball of radius B in one more dimension, around a centre that starts at height B above all
    rows: where it cuts through their plane its radius is ``sqrt(B^2 - height^2)``.
    """
    lifted = np.column_stack([X, np.zeros(len(X))])
    centre = np.zeros(X.shape[1] + 1)
    if start is not None:
        centre[:-1] = start
    centre[-1] = radius if learn_radius else 0.0
    ball = Ball(centre[:-1], radius)
    for x, scale in zip(lifted, np.ones(len(X)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        ball.radius = float(np.sqrt(radius**2 - centre[-1] ** 2))
        ball.distance += max(float(np.linalg.norm(x[:-1] - centre[:-1])) - ball.radius, 0.0)
        d = float(np.linalg.norm(x - centre))
        ball.rounds += 1
        if d > radius:
            loss = np.array([d - radius])
            tau, gain = step(loss, np.ones(1), np.ones(1, bool), scale)
            centre += tau[0] / d * (x - centre)
            ball.updates += 1
            ball.loss += d - radius
            ball.squared_loss += (d - radius) ** 2
            ball.dual_value += gain - tau[0] ** 2 / 2
    ball.radius = float(np.sqrt(radius**2 - centre[-1] ** 2))
    return ball
