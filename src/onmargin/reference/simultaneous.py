"""Simultaneous updates over all half-spaces of a trial: tau with sum(tau) <= C ([SIMPROJ] sec. 5; erratum E9)."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.step import Step, Vector
from onmargin.reference.task import HalfSpace, Task, label_pairs

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


def sopopo_pairs(C: float) -> tuple[Task, Step]:
    """Return the task and the step of SOPOPO for label sets: the exact dual solution over all pairs of labels.

    Relevant label r rises by ``alpha_r = [mu_r - theta]_+`` with ``mu_r = (1 - s_r) / |x|^2``, and any other label q
    falls by ``beta_q = [nu_q + theta]_+`` with ``nu_q = s_q / |x|^2``, where theta makes both sums equal. If they
    exceed C, both are replaced by the projections of mu and nu onto the simplex of size C. The step needs the scores,
    which the task keeps for it; pair (r, q) gets ``alpha_r beta_q / sum(alpha)``.
    """
    pairs = label_pairs()
    above, below, live = np.zeros(0), np.zeros(0), np.zeros(0, bool)

    def task(scores: Vector, y: Vector) -> tuple[list[HalfSpace], bool]:
        nonlocal above, below, live
        halfspaces, mistake = pairs(scores, y)
        relevant = np.isin(np.arange(len(scores)), y)
        above, below = 1 - scores[relevant], scores[~relevant]
        live = np.array([h.loss > 0 for h in halfspaces], bool)
        return halfspaces, mistake

    def step(loss: Vector, q: Vector, mistaken: NDArray[np.bool_], weight: float) -> tuple[Vector, float]:
        mu, nu = 2 * above / q[0], 2 * below / q[0]
        size = min(_exchange(mu, nu), C * weight)
        alpha, beta = onto_simplex(mu, size), onto_simplex(nu, size)
        tau = (np.outer(alpha, beta) / size).ravel()[live]
        return tau, float(tau @ loss)

    return task, step


def _exchange(mu: Vector, nu: Vector) -> float:
    """Return the sum of ``[mu - theta]_+`` for the theta at which it is the sum of ``[nu + theta]_+``."""
    corners = np.sort(np.concatenate([mu, -nu]))  # between which both sums are linear
    rise, fall = (np.maximum(side, 0).sum(axis=1) for side in (mu - corners[:, None], nu + corners[:, None]))
    theta = np.interp(0.0, fall - rise, corners)
    return float(np.maximum(mu - theta, 0).sum())


def onto_simplex(v: Vector, size: float) -> Vector:
    """Return ``[v - level]_+`` with the level at which the sum is `size`."""
    falling = np.sort(v)[::-1]
    level = ((np.cumsum(falling) - size) / np.arange(1, len(v) + 1)).max()
    return np.asarray(np.maximum(v - level, 0))
