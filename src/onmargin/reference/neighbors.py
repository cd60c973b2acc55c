"""Nearest neighbors among the rows that were learned last."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def neighbors(
    X: Matrix, targets: Matrix, weight: NDArray[np.float64] | None = None, *, kept: int = 1024, nearest: int = 5
) -> Matrix:
    """Return the scores of each row before it is learned, rows x columns of `targets` ([KNN]).

    They are the weighted means of the targets of its `nearest` rows among the last `kept`. With d_i the squared
    distance of neighbor i, and d that of the first row that is none, the weight is 1 - d_i / d, times that of the
    example; if all of these are 0, or there are no more rows, it is that of the example. Rows are in single precision.
    """
    weight = np.ones(len(X)) if weight is None else weight
    rows = X.astype(np.float32).astype(np.float64)
    scores = np.zeros(targets.shape)
    for t, x in enumerate(rows):
        window = np.arange(max(t - kept, 0), t)
        if len(window):
            distances = np.square(rows[window] - x).sum(axis=1)
            order = np.lexsort((window % kept, distances))[: nearest + 1]
            found, near = window[order[:nearest]], distances[order]
            counts = weight[found]
            if len(order) > nearest and near[-1] > 0 and (near[:nearest] < near[-1]).any():
                counts = counts * (1 - near[:nearest] / near[-1])
            scores[t] = counts @ targets[found] / counts.sum()
    return scores
