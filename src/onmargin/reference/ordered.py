"""Experts for ordered streams, which predict from the last labels or targets."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def label_chain(
    labels: Sequence[int],
    n_classes: int,
    order: int,
    weight: NDArray[np.float64] | None = None,
    most: int | None = None,
) -> Matrix:
    """Return the frequencies of all classes after the last labels, before each label is learned ([MARKOV]).

    Where nothing followed the last `order` labels so far, the last order - 1 count, and so on. If more than `most`
    numbers would be stored, all counts begin again.
    """
    weight = np.ones(len(labels)) if weight is None else weight
    most = (8192 << (order - 1)) // 4 * 3 if most is None else most
    counts: defaultdict[tuple[int, ...], dict[int, float]] = defaultdict(dict)
    scores = np.zeros((len(labels), n_classes))
    for t, label in enumerate(labels):
        contexts = [tuple(labels[t - k : t]) for k in range(min(order, t) + 1)]
        found = next((counts[context] for context in reversed(contexts) if counts[context]), {})
        for c, count in found.items():
            scores[t, c] = count / sum(found.values())
        if sum(1 + len(some) for some in counts.values() if some) + 2 * (order + 1) > most:
            counts.clear()
        for context in contexts:
            counts[context][label] = counts[context].get(label, 0) + weight[t]
    return scores


def lagged(
    X: Matrix, y: NDArray[np.float64], changes: Callable[[Matrix, NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the predictions of a learner of the changes between consecutive targets.

    Its rows are the three changes before, and the features; `changes` returns its predictions for rows and targets, of
    which the first is known to be 0 before anything was learned. The first target changes from 0.
    """
    before = np.concatenate([np.zeros(4), y[:-1]])
    lags = np.diff(before)
    rows = np.column_stack([lags[2:], lags[1:-1], lags[:-2], X])
    return before[3:] + changes(rows, np.diff(before[3:], append=y[-1]))
