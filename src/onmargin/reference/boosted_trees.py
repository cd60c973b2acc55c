"""Boosted trees of the rows that were learned last."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.forest import Draws, change

Matrix = NDArray[np.float64]
TREES, LEAVES, BINS, SAMPLE, FEWEST, TRIED, BUDGET, RATE, TIE = 64, 24, 32, 512, 3, 8, 5000, 0.1, 1 + 1e-9


class Split(NamedTuple):
    """The gain of a split, its feature, and the bins up to which rows go left."""

    gain: float = 0.0
    feature: int = -1
    cut: int = 0


class Grown(NamedTuple):
    """A tree: tests (feature, threshold, first child; feature -1 is a leaf) and values of its nodes."""

    tests: list[tuple[int, float, int]]
    values: dict[int, Matrix]
    examined: int

    def value(self, x: NDArray[np.float32]) -> Matrix:
        k = 0
        while self.tests[k][0] >= 0:
            feature, threshold, child = self.tests[k]
            k = child + int(x[feature] > threshold)
        return self.values[k]


def boosted_trees(
    X: Matrix, targets: Matrix, weight: NDArray[np.float64] | None = None, *, kept: int = 4096
) -> tuple[Matrix, list[int]]:
    """Return the scores of each row before it is learned, rows x columns, and the rows at which the concept changed.

    A round of boosting ([BOOSTING]) starts with the mean target of the last `kept` rows. Every tree is grown from all
    rows kept by then, on the residuals of the sum so far, in a random direction of all columns ([SKETCH]), and adds a
    tenth of the mean residual in each leaf. The sum of the last complete round predicts. Rows and targets are in single
    precision; a change of the concept is that of `forest`.
    """
    weight = np.ones(len(X)) if weight is None else weight
    rows, wanted = X.astype(np.float32), targets.astype(np.float32).astype(np.float64)
    scores, losses, sums, changes = np.zeros(targets.shape), np.zeros(len(X)), np.zeros(targets.shape), []
    first = owed = grown = 0
    cuts: list[NDArray[np.float32]] = []
    built: list[Grown] = []
    predicts: list[Grown] | None = None
    mean = predicts_mean = np.zeros(targets.shape[1])
    for t, x in enumerate(rows):
        used, start = (built, mean) if predicts is None else (predicts, predicts_mean)
        scores[t] = start + sum(tree.value(x) for tree in used)
        losses[t] = np.square(targets[t] - scores[t]).sum()
        since = max(first, t - kept)
        recent = change(losses[since:t]) if t % 32 == 0 else 0
        if recent:
            first, owed, built, predicts = t - recent, 0, [], None
            since = first
            changes.append(t)
        owed = max(owed - BUDGET, 0)
        if owed == 0 and t - since >= 2 * FEWEST:
            own = slice(since, t)
            if len(built) in (0, TREES):
                if built:
                    predicts, predicts_mean, built = built, mean, []
                mean = weight[own] @ wanted[own] / weight[own].sum()
                sums[own] = mean
                cuts = [thresholds(values) for values in rows[own].T]
            grown += 1
            tree = grow(rows[own], wanted[own] - sums[own], weight[own], cuts, Draws(grown))
            built.append(tree)
            sums[own] += np.array([tree.value(one) for one in rows[own]])
            owed = tree.examined
        sums[t] = mean + sum(tree.value(x) for tree in built)
    return scores, changes


def thresholds(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the thresholds of a feature: halfway between quantiles of a sample and the next larger values."""
    taken = min(len(values), SAMPLE)
    sample = np.sort(values[np.arange(taken) * len(values) // taken])
    found: list[np.float32] = []
    for value in sample[np.arange(1, BINS) * taken // BINS]:
        larger = sample[sample > value]
        if len(larger) == 0:
            break
        middle = np.float32((float(value) + float(larger[0])) / 2)
        middle = middle if middle < larger[0] else value
        if not found or middle > found[-1]:
            found.append(middle)
    return np.array(found, np.float32)


def grow(
    rows: NDArray[np.float32],
    residuals: Matrix,
    weight: NDArray[np.float64],
    cuts: list[NDArray[np.float32]],
    draws: Draws,
) -> Grown:
    """Return a tree; of all leaves the one whose best split removes most is split next."""
    n, width = residuals.shape
    varied = [j for j, values in enumerate(cuts) if len(values)]
    tried = min(len(varied), TRIED + int(np.ceil(np.sqrt(len(varied)))))
    for k in range(tried if tried < len(varied) else 0):
        j = k + draws.below(len(varied) - k)
        varied[k], varied[j] = varied[j], varied[k]
    varied = varied[:tried]
    direction = np.array([1.0 if width == 1 else 2.0 * draws.below(2) - 1 for _ in range(width)])
    if width > 1 and abs(direction.sum()) == width:
        direction[0] = -direction[0]
    own = weight * (residuals @ direction)
    bins = np.array([np.searchsorted(cuts[j], rows[:, j]) for j in varied]).reshape(tried, n)
    examined = n * width + tried * (n + BINS)
    tests, members = [(-1, 0.0, 0)], [np.arange(n)]
    splits = [split(bins, weight, own)]
    while len(tests) < 2 * LEAVES - 1:
        best = 0
        for k, found in enumerate(splits):
            if found.gain > splits[best].gain * TIE:
                best = k
        if not splits[best].gain > 0:
            break
        _, j, cut = splits[best]
        above = bins[j, members[best]] > cut
        tests[best] = (varied[j], float(cuts[varied[j]][cut]), len(tests))
        parts = [members[best][~above], members[best][above]]
        splits[best] = Split()
        tests += [(-1, 0.0, 0)] * 2
        members += parts
        if len(tests) < 2 * LEAVES - 1:
            examined += tried * min(map(len, parts)) + tried * BINS * sum(len(part) >= 2 * FEWEST for part in parts)
            splits += [split(bins[:, part], weight[part], own[part]) for part in parts]
        else:
            splits += [Split()] * 2
    leaves = [k for k, test in enumerate(tests) if test[0] < 0]
    values = {k: RATE * (weight[members[k]] @ residuals[members[k]]) / weight[members[k]].sum() for k in leaves}
    return Grown(tests, values, examined)


def split(bins: NDArray[np.int64], weight: NDArray[np.float64], own: NDArray[np.float64]) -> Split:
    """Return the split that reduces the sum of squares of the residuals most; its gain is 0 if there is none."""
    best, n, total, sum_of_all = Split(), bins.shape[1], weight.sum(), own.sum()
    if n < 2 * FEWEST:
        return best
    least = FEWEST * total / n * (1 - 1e-9)
    for j, found in enumerate(bins):
        left = np.cumsum(np.bincount(found, weight, BINS))
        sums = np.cumsum(np.bincount(found, own, BINS))
        for cut in range(BINS - 1):
            if left[cut] >= least and total - left[cut] >= least:
                difference = sums[cut] * total - sum_of_all * left[cut]
                gain = difference**2 / (left[cut] * (total - left[cut]) * total)
                if gain > max(best.gain * TIE, 1e-10 * sum_of_all**2 / total):
                    best = Split(gain, j, cut)
    return best
