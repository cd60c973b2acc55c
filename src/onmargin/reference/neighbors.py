"""Nearest neighbors among the rows that were learned last."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
# What is left of the losses of the windows after a round, and by which factor a shorter window must be better.
DECAY, CLEAR = 1 - 1 / 128, 0.8


def neighbors(
    X: Matrix, targets: Matrix, weight: NDArray[np.float64] | None = None, *, kept: int = 1024, nearest: int = 5
) -> Matrix:
    """Return the scores of each row before it is learned, rows x columns of `targets` ([KNN]).

    They are the weighted means of the targets of its `nearest` rows in a window: the last `kept` rows, or a fourth or a
    sixteenth of them while the discounted squared residuals are clearly smaller with these. With d_i the squared
    distance of neighbor i, and d that of the first row that is none, the weight is 1 - d_i / d, times that of the
    example; if all of these are 0, or there are no more rows, it is that of the example. Rows are in single precision.
    """
    weight = np.ones(len(X)) if weight is None else weight
    rows = X.astype(np.float32).astype(np.float64)
    scores, losses = np.zeros(targets.shape), np.zeros(3)
    for t in range(len(X)):
        distances = np.square(rows[:t] - rows[t]).sum(axis=1)[::-1]  # newer rows come first among equally distant ones
        each = [
            _mean(distances[:window], targets[:t][::-1], weight[:t][::-1], nearest)
            for window in (kept, kept // 4, kept // 16)
        ]
        chosen = 0
        for w in (1, 2):
            chosen = w if losses[w] < CLEAR * losses[chosen] else chosen
        scores[t] = each[chosen]
        losses = DECAY * losses + np.square(np.array(each) - targets[t]).sum(axis=1)
    return scores


def _mean(
    distances: NDArray[np.float64], targets: Matrix, weight: NDArray[np.float64], nearest: int
) -> NDArray[np.float64]:
    """Return the weighted mean of the targets of the nearest rows."""
    if len(distances) == 0:
        return np.zeros(targets.shape[1])
    order = np.argsort(distances, kind="stable")[: nearest + 1]
    found, near = order[:nearest], distances[order]
    counts = weight[found]
    if len(order) > nearest and near[-1] > 0 and (near[:nearest] < near[-1]).any():
        counts = counts * (1 - near[:nearest] / near[-1])
    mean: NDArray[np.float64] = counts @ targets[found] / counts.sum()
    return mean
