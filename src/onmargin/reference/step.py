"""How far to go: tau for a loss and a squared length q of the direction, and the dual value gained ([JMLR] sec. 3)."""

from collections.abc import Callable

# loss, q, the example's weight -> tau, dual gain
Step = Callable[[float, float, float], tuple[float, float]]


def pa(loss: float, q: float, weight: float) -> tuple[float, float]:
    """Project: ``min 1/2 |w - w_t|^2`` so that the loss is zero."""
    tau = loss / q
    return tau, tau * loss - tau**2 * q / 2


def pa1(C: float) -> Step:
    """Project softly: ``min 1/2 |w - w_t|^2 + C xi``."""

    def step(loss: float, q: float, weight: float) -> tuple[float, float]:
        tau = min(C * weight, loss / q)
        return tau, tau * loss - tau**2 * q / 2

    return step


def pa2(C: float) -> Step:
    """Project softly: ``min 1/2 |w - w_t|^2 + C xi^2``."""

    def step(loss: float, q: float, weight: float) -> tuple[float, float]:
        damping = 1 / (2 * C * weight)
        tau = loss / (q + damping)
        return tau, tau * loss - tau**2 * (q + damping) / 2

    return step
