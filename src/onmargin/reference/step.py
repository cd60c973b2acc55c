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
