"""The round, as the papers tell it."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.step import Step, pa
from onmargin.reference.task import Task

Matrix = NDArray[np.float64]


@dataclass
class Run:
    """The weights after the last round (features x columns), their mean over all rounds, all moves, and totals."""

    weights: Matrix
    mean: Matrix
    taus: list[list[float]] = field(default_factory=list)
    rounds: int = 0
    mistakes: int = 0
    updates: int = 0
    loss: float = 0.0
    squared_loss: float = 0.0
    dual_value: float = 0.0
    max_squared_norm: float = 0.0


def play(X: Matrix, y: Matrix, task: Task, step: Step = pa, *, columns: int = 1, weight: Matrix | None = None) -> Run:
    """Learn the rows of X in their order; `weight` scales C row by row, and 0 skips a row."""
    W = np.zeros((X.shape[1], columns))
    run = Run(weights=W, mean=np.zeros_like(W))
    for x, target, scale in zip(X, y, np.ones(len(X)) if weight is None else weight, strict=True):
        if scale == 0:
            continue
        halfspaces, mistake = task(x @ W, target)  # predict, receive the target
        taus, gains = [], 0.0
        for direction, loss in halfspaces:
            q = (x @ x) * (direction @ direction)
            tau, gain = step(loss, q, scale) if loss > 0 and q > 0 else (0.0, 0.0)  # passive, or aggressive
            W += np.outer(x, tau * direction)
            taus.append(tau)
            gains += gain
        run.rounds += 1
        run.mistakes += mistake
        run.updates += any(tau > 0 for tau in taus)
        run.loss += sum(max(loss, 0.0) for _, loss in halfspaces)
        run.squared_loss += sum(max(loss, 0.0) ** 2 for _, loss in halfspaces)
        run.dual_value += gains
        run.max_squared_norm = max(run.max_squared_norm, x @ x)
        run.mean += (W - run.mean) / run.rounds
        run.taus.append(taus)
    return run


def with_intercept(X: Matrix, scaling: float | None = None) -> Matrix:
    """X with a feature for the intercept; None: 0.3 times the norm of the first non-zero row, and 0 before it."""
    norms = np.linalg.norm(X, axis=1)
    column = np.zeros(len(X)) if scaling is None else np.full(len(X), scaling)
    if scaling is None and norms.any():
        first = int(np.flatnonzero(norms)[0])
        column[first:] = 0.3 * norms[first]
    return np.column_stack([X, column])
