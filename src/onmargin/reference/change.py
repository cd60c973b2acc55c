"""Change detection with an adaptive window that is stored in full ([ADWIN])."""

from collections.abc import Sequence
from math import log

import numpy as np


def best_cut(losses: Sequence[float], cuts: Sequence[int], delta: float) -> tuple[int, float]:
    """Return the most significant cut W = W0 W1, and mean(W1) - mean(W0); or (0, 0) if no cut is significant.

    A cut is significant if the means differ by more than ``sqrt(2/m var(W) ln(2/d)) + 2/(3m) ln(2/d)``, where
    1/m = 1/|W0| + 1/|W1| and d = delta / max(1, ln |W|).
    """
    if not len(cuts):
        return 0, 0.0
    n, n0, sums = len(losses), np.asarray(cuts), np.cumsum(losses)
    sure, inverse = log(2 * max(1, log(n)) / delta), 1 / n0 + 1 / (n - n0)
    change = (sums[-1] - sums[n0 - 1]) / (n - n0) - sums[n0 - 1] / n0
    factor = abs(change) / (np.sqrt(2 * inverse * np.var(losses) * sure) + 2 * inverse * sure / 3)
    best = int(factor.argmax())
    return (int(n0[best]), float(change[best])) if factor[best] > 1 else (0, 0.0)


def adaptive_window(
    losses: Sequence[float], delta: float, buckets: int | None = None
) -> tuple[list[float], list[list[float]]]:
    """Return, for each loss, the detected change of the mean (0 if none) and the remaining window.

    If `buckets` is None, cuts can be anywhere; otherwise they lie between buckets of 1, 2, 4, ... losses, with at most
    `buckets` buckets of each size.
    """
    window: list[float] = []
    sizes: list[int] = []  # bucket sizes, oldest first
    changes, windows = [], []
    for loss in losses:
        window, sizes = [*window, loss], [*sizes, 1]
        while buckets is not None and (many := [size for size in set(sizes) if sizes.count(size) > buckets]):
            oldest = sizes.index(min(many))
            sizes[oldest : oldest + 2] = [2 * min(many)]
        cut, change = best_cut(window, np.cumsum(sizes)[:-1].tolist(), delta)
        changes.append(change)
        while cut:
            window, sizes = window[cut:], sizes[np.cumsum(sizes).tolist().index(cut) + 1 :]
            cut, _ = best_cut(window, np.cumsum(sizes)[:-1].tolist(), delta)
        windows.append(window)
    return changes, windows
