"""Kernel learning from kernel values alone ([JMLR] sec. 3 and 6), and with a budget of supports."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.step import Step, pa
from onmargin.reference.task import Task

Matrix = NDArray[np.float64]


@dataclass
class Expansion:
    """Coefficients of the rows of the stream (rows x columns), the supports in order of arrival, and totals."""

    coef: Matrix
    supports: list[int] = field(default_factory=list)
    moved: float = 0.0
    room: float = 0.0
    rounds: int = 0
    mistakes: int = 0
    updates: int = 0
    loss: float = 0.0
    squared_loss: float = 0.0
    dual_value: float = 0.0
    max_squared_norm: float = 0.0


# expansion with one support too many, kernel matrix -> index among the supports of the one to remove
Policy = Callable[[Expansion, Matrix], int]


def play_kernel(
    K: Matrix,
    y: Sequence[Any] | Matrix,
    task: Task,
    step: Step = pa,
    *,
    columns: int = 1,
    weight: Matrix | None = None,
    total: Callable[[Iterable[float]], float] = sum,
    budget: int | None = None,
    policy: Policy | None = None,
) -> Expansion:
    """Run `play` with K[i, j] as the inner product of rows i and j; at most `budget` supports, if a policy is given."""
    run = Expansion(np.zeros((len(K), columns)))
    for i, target in enumerate(y):
        scale = 1.0 if weight is None else float(weight[i])
        if scale == 0:
            continue
        scores = (K[i, run.supports, None] * run.coef[run.supports]).sum(axis=0)  # equal columns get equal scores
        halfspaces, mistake = task(scores, target)
        directions = np.array([h.direction for h in halfspaces]).reshape(-1, columns)
        losses = np.array([max(h.loss, 0.0) for h in halfspaces])
        q = K[i, i] * (directions**2).sum(axis=1)
        live = (losses > 0) & (q > 0)  # a row with K(x, x) <= 0 has no direction
        taus = np.zeros(len(losses))
        if live.any():
            mistaken = np.array([h.mistaken for h in halfspaces])
            distances = losses + [h.beyond for h in halfspaces]
            taus[live], gain = step(distances[live], q[live], mistaken[live], scale)
        if taus.any():
            move = (taus[:, None] * directions).sum(axis=0)
            run.coef[i] = move
            run.supports.append(i)
            run.updates += 1
            run.moved += K[i, i] * (move @ move)
            run.room += 15 / 32 * K[i, i] * (move @ move)
            run.dual_value += gain - K[i, i] * (move @ move) / 2
            if policy is not None and len(run.supports) > (budget or 0):
                removed = run.supports.pop(policy(run, K))
                run.coef[removed] = 0
        run.rounds += 1
        run.mistakes += mistake
        run.loss += total([0.0, *losses])
        run.squared_loss += total([0.0, *losses**2])
        run.max_squared_norm = max(run.max_squared_norm, K[i, i])
    return run


def oldest(run: Expansion, K: Matrix) -> int:
    """Remove the oldest support."""
    return 0


def smallest(run: Expansion, K: Matrix) -> int:
    """Remove the support with the smallest ``|c_r|^2 K(x_r, x_r)``, except the newest."""
    return int(np.argmin([run.coef[r] @ run.coef[r] * K[r, r] for r in run.supports[:-1]]))


def projection(run: Expansion, K: Matrix) -> int:
    """Remove the support with the smallest loss when the newest takes over its projection, c_r K(x_r, x) / K(x, x).

    The lost component is orthogonal to the newest row, so the score of that row does not change.
    """
    new = run.supports[-1]
    lost = [run.coef[r] @ run.coef[r] * (K[r, r] - K[r, new] ** 2 / K[new, new]) for r in run.supports[:-1]]
    place = int(np.argmin(lost))
    removed = run.supports[place]
    run.coef[new] += run.coef[removed] * K[removed, new] / K[new, new]
    return place


def forgetron(run: Expansion, K: Matrix) -> int:
    """Shrink all supports by a factor phi and remove the oldest (Dekel, Shalev-Shwartz and Singer, 2008).

    The damage of removing ``phi g`` from ``phi f`` is bounded by ``phi^2 (|g|^2 - 2 <g, f>) + 2 phi |g| rho``, with rho
    the root mean square of all moves. phi is the largest factor for which the total damage stays below 15/32 of the sum
    of squared moves. For a Perceptron on rows of norm 1 this is the Forgetron, with its bound.
    """
    r = run.supports[0]
    length = np.sqrt(run.coef[r] @ run.coef[r] * K[r, r])
    inner = sum(K[r, j] * (run.coef[r] @ run.coef[j]) for j in run.supports)
    square, linear = length**2 - 2 * inner, 2 * length * np.sqrt(run.moved / run.updates)
    phi = 1.0
    if square + linear > run.room:
        phi = run.room / (linear / 2 + np.sqrt(max(linear**2 / 4 + square * run.room, 0)))
    run.room = max(run.room - phi**2 * square - phi * linear, 0)
    run.coef *= phi
    return 0


def uniclass_kernel(
    K: Matrix,
    radius: float,
    step: Step = pa,
    *,
    learn_radius: bool = False,
    start: int | None = None,
    budget: int | None = None,
    policy: Policy | None = None,
) -> tuple[Matrix, float, Matrix]:
    """Run `uniclass` from kernel values, from row `start` or the origin; return coefficients, radius and all losses.

    With a budget and the policy `projection`, the newest support takes over the projection of the removed one. With
    other policies all remaining coefficients are rescaled to keep their sum, so the center stays among its rows.
    """
    run, losses = Expansion(np.zeros((len(K), 1))), np.zeros(len(K))
    coef = run.coef[:, 0]
    height = radius if learn_radius else 0.0
    if start is not None:
        coef[start] = 1
        run.supports.append(start)
    for i in range(0 if start is None else start + 1, len(K)):
        squared = K[i, i] - 2 * K[i] @ coef + coef @ K @ coef + height**2
        d = float(np.sqrt(max(squared, 0.0)))
        if d > radius:
            losses[i] = d - radius
            tau, _ = step(losses[i : i + 1], np.ones(1), np.ones(1, bool), 1.0)
            coef *= 1 - tau[0] / d
            height *= 1 - tau[0] / d
            coef[i] = tau[0] / d
            run.supports.append(i)
            if policy is not None and len(run.supports) > (budget or 0):
                total = coef.sum()
                coef[run.supports.pop(policy(run, K))] = 0
                coef *= 1 if policy is projection else total / coef.sum()
    return coef, float(np.sqrt(radius**2 - height**2)), losses
