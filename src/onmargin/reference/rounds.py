"""The round of online learning, as in the papers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.step import Step, Vector, pa
from onmargin.reference.task import Task

Matrix = NDArray[np.float64]


@dataclass
class Run:
    """Weights after the last round (features x columns), their mean over all rounds, all step sizes, and totals.

    `scores` are the scores of each round before its update.
    """

    weights: Matrix
    mean: Matrix
    taus: list[list[float]] = field(default_factory=list)
    scores: list[Vector] = field(default_factory=list)
    rounds: int = 0
    mistakes: int = 0
    updates: int = 0
    loss: float = 0.0
    squared_loss: float = 0.0
    dual_value: float = 0.0
    max_squared_norm: float = 0.0
    cost: float = 0.0


def play(
    X: Matrix,
    y: Sequence[Any] | Matrix,
    task: Task,
    step: Step = pa,
    *,
    columns: int = 1,
    weight: Matrix | None = None,
    total: Callable[[Iterable[float]], float] = sum,
    cost: Matrix | None = None,
    charge: Callable[[Vector, Any], float] | None = None,
    start: Matrix | None = None,
) -> Run:
    """Learn the rows of X in order; `weight` scales C per row, and a weight of 0 skips the row.

    The first weights are `start`, or zero; learning after `fit` starts from the mean of the rounds of `fit`.

    The loss of a round is `charge` of the scores and the target if given, otherwise the `total` of the losses of its
    half-spaces: their sum, or their max if they are one trial. Its cost, if `cost` is given, is cost[y, prediction].
    """
    W = np.zeros((X.shape[1], columns)) if start is None else start.copy()
    run = Run(weights=W, mean=np.zeros_like(W))
    for x, target, scale in zip(X, y, np.ones(len(X)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        scores = (W.T * x).sum(axis=1)  # predict; summed so that equal prototypes get bitwise equal scores
        halfspaces, mistake = task(scores, target)  # receive the target
        directions = np.array([h.direction for h in halfspaces]).reshape(-1, columns)
        losses = np.array([max(h.loss, 0.0) for h in halfspaces])
        q = (x @ x) * (directions**2).sum(axis=1)
        taus, live = np.zeros(len(losses)), (losses > 0) & (q > 0)
        if live.any():  # aggressive; otherwise passive
            mistaken = np.array([h.mistaken for h in halfspaces])
            distances = losses + [h.beyond for h in halfspaces]
            taus[live], gain = step(distances[live], q[live], mistaken[live], scale)
            move = np.outer(x, (taus[:, None] * directions).sum(axis=0))  # in order: equal columns stay equal
            W += move
            run.dual_value += gain - (move**2).sum() / 2
        run.rounds += 1
        run.mistakes += mistake
        run.cost += 0.0 if cost is None else cost[int(target), scores.argmax()]
        run.updates += bool(taus.any())
        run.loss += total([0.0, *losses]) if charge is None else charge(scores, target)
        run.squared_loss += total([0.0, *losses**2]) if charge is None else charge(scores, target) ** 2
        run.max_squared_norm = max(run.max_squared_norm, x @ x)
        run.mean += (W - run.mean) / run.rounds
        run.taus.append(taus.tolist())
        run.scores.append(scores)
    return run


def with_intercept(X: Matrix, scaling: float | None = None) -> Matrix:
    """Append an intercept feature to X, equal to `scaling`.

    If None, it is 0.3 times the norm of the first nonzero row, and 0 before that row.
    """
    norms = np.linalg.norm(X, axis=1)
    column = np.zeros(len(X)) if scaling is None else np.full(len(X), scaling)
    if scaling is None and norms.any():
        first = int(np.flatnonzero(norms)[0])
        column[first:] = 0.3 * norms[first]
    return np.column_stack([X, column])
