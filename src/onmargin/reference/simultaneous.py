"""Simultaneous updates over all half-spaces of a trial: tau with sum(tau) <= C ([SIMPROJ] sec. 5; erratum E9)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.step import Step, Vector

# C, losses, q, mistaken half-spaces -> tau
Scheme = Callable[[float, Vector, Vector, NDArray[np.bool_]], Vector]


def simultaneous(scheme: Scheme, C: float) -> Step:
    """Return a step that applies the scheme."""

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        tau = scheme(C * weight, loss, q, mistaken)
        return tau, float(tau @ loss)

    return step


def simperc(C: float, loss: Vector, q: Vector, mistaken: NDArray[np.bool_]) -> Vector:
    """SimPerc: a fixed step, divided equally among the mistaken half-spaces."""
    return np.asarray(C * mistaken / max(mistaken.sum(), 1))


def conproj(C: float, loss: Vector, q: Vector, mistaken: NDArray[np.bool_]) -> Vector:
    """ConProj: the mean of the projections onto the mistaken half-spaces."""
    return np.asarray(np.minimum(C, loss / q) * mistaken / max(mistaken.sum(), 1))


def simproj(C: float, loss: Vector, q: Vector, mistaken: NDArray[np.bool_]) -> Vector:
    """SimProj: the mean of all projections. It has no mistake bound."""
    return np.asarray(np.minimum(C, loss / q) / len(loss))


def simopt(C: float, loss: Vector, q: Vector, mistaken: NDArray[np.bool_]) -> Vector:
    """SimOpt: ``max sum tau loss - tau^2 q / 2``, the dual without its cross terms. It has no mistake bound (E9)."""
    if (loss / q).sum() <= C:
        return loss / q
    order = np.argsort(-loss)
    theta = (np.cumsum(loss[order] / q[order]) - C) / np.cumsum(1 / q[order])
    return np.asarray(np.maximum(loss - theta.max(), 0) / q)


def conopt(C: float, loss: Vector, q: Vector, mistaken: NDArray[np.bool_]) -> Vector:
    """ConOpt: SimOpt on the mistaken half-spaces. It has a mistake bound for C below 2 / max(q)."""
    tau = np.zeros_like(loss)
    tau[mistaken] = simopt(C, loss[mistaken], q[mistaken], mistaken[mistaken])
    return tau


def sopopo(C: float, loss: Vector, q: Vector, mistaken: NDArray[np.bool_]) -> Vector:
    """SOPOPO: the exact dual solution, for half-spaces that share one prototype (q = 2 ``|x|^2``).

    Rival r moves by ``[d_r - rho]_+`` with d = 2 loss / q, and the true prototype by their sum, which is min(rho, C).
    """
    d = np.sort(2 * loss / q)[::-1]
    n = np.arange(1, len(d) + 1)
    rho = (np.cumsum(d) / (n + 1)).max()
    if rho > C:
        rho = ((np.cumsum(d) - C) / n).max()
    return np.asarray(np.maximum(2 * loss / q - rho, 0))
