"""Novelty detection with an enclosing ball ([JMLR] sec. 6), with fixed or learned radius; simplex: [NIPS] Thm. 4."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.additive import Link, bounded, optimal
from onmargin.reference.step import Step, pa
from onmargin.reference.task import HalfSpace

Vector = NDArray[np.float64]


@dataclass
class Ball:
    """The ball after the last round, and totals."""

    center: Vector
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
    """Update a ball on the rows of X, with the given radius or with a learned radius of at most that.

    A learned radius uses a ball of radius B in one additional dimension, whose center starts at height B above all
    rows. Its intersection with the hyperplane of the rows has radius ``sqrt(B^2 - height^2)``.
    """
    lifted = np.column_stack([X, np.zeros(len(X))])
    center = np.zeros(X.shape[1] + 1)
    if start is not None:
        center[:-1] = start
    center[-1] = radius if learn_radius else 0.0
    ball = Ball(center[:-1], radius)
    for x, scale in zip(lifted, np.ones(len(X)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        ball.radius = float(np.sqrt(radius**2 - center[-1] ** 2))
        ball.distance += max(float(np.linalg.norm(x[:-1] - center[:-1])) - ball.radius, 0.0)
        d = float(np.linalg.norm(x - center))
        ball.rounds += 1
        if d > radius:
            loss = np.array([d - radius])
            tau, gain = step(loss, np.ones(1), np.ones(1, bool), scale)
            center += tau[0] / d * (x - center)
            ball.updates += 1
            ball.loss += d - radius
            ball.squared_loss += (d - radius) ** 2
            ball.dual_value += gain - tau[0] ** 2 / 2
    ball.radius = float(np.sqrt(radius**2 - center[-1] ** 2))
    return ball


def simplex_uniclass(X: NDArray[np.float64], radius: float, step: Step = pa, *, weight: Vector | None = None) -> Ball:
    """Update a ball of the given radius on the rows of X, with a center that starts in the middle of the simplex.

    The direction is that of `uniclass`, ``v = (x - w) / |x - w|``, but the center is multiplied by ``exp(tau v)`` and
    normalized. The curvature along v is at most ``(max v - min v)^2 / 4``, so the PA step is
    tau = 4 loss / (max v - min v)^2 (E6).
    """
    log_w = np.full(X.shape[1], -np.log(X.shape[1]))
    ball = Ball(np.exp(log_w), radius)
    for x, scale in zip(X, np.ones(len(X)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        w = np.exp(log_w)
        d = float(np.linalg.norm(x - w))
        ball.rounds += 1
        if d > radius:
            v = (x - w) / d
            q = np.array([np.ptp(v) ** 2 / 4])
            ball.loss += d - radius
            ball.squared_loss += (d - radius) ** 2
            if q[0] > 0:
                tau, gain = step(np.array([d - radius]), q, np.ones(1, bool), scale)
                raised = np.logaddexp.reduce(log_w + tau[0] * v)
                ball.dual_value += gain - (raised - tau[0] * (w @ v))
                log_w += tau[0] * v - raised
                ball.updates += 1
    ball.center, ball.distance = np.exp(log_w), ball.loss
    return ball


def linked_uniclass(
    X: NDArray[np.float64],
    radius: float,
    link: Link,
    *,
    C: float = np.inf,
    search: bool = True,
    start: Vector | None = None,
) -> Ball:
    """Update a ball on the rows of X whose center, relative to `start`, is link(theta) ([NIPS] sec. 6).

    The direction is that of `uniclass`. With `search`, a line search finds the step that leaves no loss, at most
    C; otherwise the step follows from the curvature bound of the link.
    """
    theta, origin = np.zeros(X.shape[1]), np.zeros(X.shape[1]) if start is None else start
    ball = Ball(origin + link.weights(theta), radius)
    for x in X:
        w = link.weights(theta)
        d = float(np.linalg.norm(x - origin - w))
        ball.rounds += 1
        if d > radius:
            v, loss = (x - origin - w) / d, d - radius
            asked = HalfSpace(np.ones(1), loss, True)
            tau = (optimal if search else bounded)(link, theta, v, asked, C)
            rise = link.potential(theta + tau * v) - link.potential(theta)
            ball.dual_value += tau * loss - (rise - tau * float(w @ v))
            theta = theta + tau * v
            ball.updates += 1
            ball.loss += loss
            ball.squared_loss += loss**2
    ball.center, ball.distance = origin + link.weights(theta), ball.loss
    return ball
