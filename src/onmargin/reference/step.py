"""How far to go: tau for losses and squared lengths q of directions, and sum(tau * loss) less the price of slack."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
# losses (all positive), q, which half-spaces are mistaken, the example's weight -> tau, gain before the move is paid
Step = Callable[[Vector, Vector, NDArray[np.bool_], float], tuple[Vector, float]]


def pa(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
    """Project: ``min 1/2 |w - w_t|^2`` so that the loss is zero."""
    tau = loss / q
    return tau, float(tau @ loss)


def pa1(C: float) -> Step:
    """Project softly: ``min 1/2 |w - w_t|^2 + C xi``."""

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        tau = np.minimum(C * weight, loss / q)
        return tau, float(tau @ loss)

    return step


def pa2(C: float) -> Step:
    """Project softly: ``min 1/2 |w - w_t|^2 + C xi^2``."""

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        damping = 1 / (2 * C * weight)
        tau = loss / (q + damping)
        return tau, float(tau @ loss - damping / 2 * tau @ tau)

    return step


def descent(rate: float) -> Step:
    """Go `rate` times the loss, whatever the curvature: gradient descent on squared losses and on `softmax`."""

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        tau = rate * weight * loss
        return tau, float(tau @ loss)

    return step


def constant(rate: float) -> Step:
    """Go `rate`, whatever the loss: gradient descent on hinge losses."""

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        tau = np.full_like(loss, rate * weight)
        return tau, float(tau @ loss)

    return step


def target_loss(target: float, updates: int) -> Step:
    """Project (PA) in rounds whose loss is above `target`, until so many updates are made ([NIPS], E5)."""
    left = updates

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        nonlocal left
        if loss.sum() <= target or left == 0:
            return np.zeros_like(loss), 0.0
        left -= 1
        return pa(loss, q, mistaken, weight)

    return step
