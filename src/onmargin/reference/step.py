"""Step sizes tau from losses and squared norms q of directions, and the gain sum(tau * loss) minus slack penalties."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
# losses (all positive), q, mistaken half-spaces, example weight -> tau, gain (before subtracting |move|^2 / 2)
Step = Callable[[Vector, Vector, NDArray[np.bool_], float], tuple[Vector, float]]


def pa(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
    """Return the PA step: ``min 1/2 |w - w_t|^2`` subject to zero loss."""
    tau = loss / q
    return tau, float(tau @ loss)


def pa1(C: float) -> Step:
    """Return the PA-I step: ``min 1/2 |w - w_t|^2 + C xi``."""

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        tau = np.minimum(C * weight, loss / q)
        return tau, float(tau @ loss)

    return step


def pa2(C: float) -> Step:
    """Return the PA-II step: ``min 1/2 |w - w_t|^2 + C xi^2``."""

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        damping = 1 / (2 * C * weight)
        tau = loss / (q + damping)
        return tau, float(tau @ loss - damping / 2 * tau @ tau)

    return step


def descent(rate: float) -> Step:
    """Return the step ``rate * loss``, for any curvature: gradient descent on squared losses and on `softmax`."""

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        tau = rate * weight * loss
        return tau, float(tau @ loss)

    return step


def constant(rate: float) -> Step:
    """Return the constant step `rate`, for any loss: gradient descent on hinge losses."""

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        tau = np.full_like(loss, rate * weight)
        return tau, float(tau @ loss)

    return step


def target_loss(target: float, updates: int) -> Step:
    """Return the PA step for rounds with a loss above `target`, for at most `updates` updates ([NIPS], E5)."""
    left = updates

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        nonlocal left
        if loss.sum() <= target or left == 0:
            return np.zeros_like(loss), 0.0
        left -= 1
        return pa(loss, q, mistaken, weight)

    return step
