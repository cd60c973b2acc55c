"""Votes of several models, weighed by what each has lost."""

from collections.abc import Sequence
from math import inf, log, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onmargin.reference.rounds import Run

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


class Hedged(NamedTuple):
    """What AdaHedge came to: the weights before each round and after the last, its losses and its gap."""

    weights: Matrix
    mixed: float
    gap: float


def adahedge(losses: Matrix, ceiling: float = inf) -> Hedged:
    """Weigh models by their losses, rounds x models: ``mixed <= losses.sum(0).min() + gap + ln(models) / eta``.

    The rate eta is ``ln(models) / gap`` ([ADAHEDGE]), or the ceiling if that is less.
    """
    total, mixed, gap = np.zeros(losses.shape[1]), 0.0, 0.0
    p = np.full(losses.shape[1], 1 / losses.shape[1])
    weights = [p]
    for loss in losses:
        excess = loss - loss[p > 0].min()
        eta = min(ceiling, _rate(losses.shape[1], gap))
        mixed += float(p @ loss)
        gap += max(float(p @ excess) + (log1p(p @ np.expm1(-eta * excess)) / eta if eta < inf else 0.0), 0.0)
        total += loss
        p = _shrunk(min(ceiling, _rate(losses.shape[1], gap)), total - total.min())
        weights.append(p := p / p.sum())
    return Hedged(np.array(weights), mixed, gap)


def tempered(y: Vector, origin: float) -> Vector:
    """Return what experts learn of targets after the first, the origin: outliers are as far as the farthest before.

    An outlier is more than 100 times as far from the origin as those before, and not the third in a row.
    """
    reach, learned = 0.0, []
    far: list[float] = []
    for distance in y - origin:
        size, usual = abs(distance), reach or abs(origin)
        far = [*far, size] if 0 < 100 * usual < size else []
        if len(far) == 3:
            reach = usual = min(far)
            far = [size] if 100 * usual < size else []
        reach = reach if far else max(reach, size)
        learned.append(origin + (np.copysign(usual, distance) if far else distance))
    return np.array(learned)


def units_of_c(squared_norms: Vector, y: Vector | None = None, power: float = 1.0) -> Vector:
    """What ``C="auto"`` is in units of, in each round: ``deviation(y) / mean(squared_norms)^power``, both so far.

    The deviation is of the targets and 0; without y it is 1. A row counts for at most 100 times the mean before it, and
    a target for what is ten deviations off.
    """
    norms: list[float] = []
    targets, units = [0.0], []
    for t, square in enumerate(squared_norms):
        if square > 0:
            norms.append(min(square, 100 * float(np.mean(norms))) if norms else square)
            if y is not None:
                mean, limit = np.mean(targets), 10 * np.std(targets)
                targets.append(float(np.clip(y[t], mean - limit, mean + limit) if limit > 0 else y[t]))
        unit = np.mean(norms) ** -power if norms else 1.0
        units.append(unit * (1.0 if y is None else np.std(targets)))
    return np.array(units)


class Several(NamedTuple):
    """What several models came to together: mistakes of their prediction, mistakes of each, and AdaHedge's weights."""

    mistakes: int
    each: NDArray[np.intp]
    hedged: Hedged


def several(runs: Sequence[Run], y: Matrix, *, hedge: bool, ceiling: float = inf) -> Several:
    """Combine classifiers that learned the same examples, each as if alone: one column for two classes, else K.

    The leader predicts, which has made the fewest mistakes so far, or with `hedge` the vote weighed by `adahedge`.
    """
    scores = np.array([run.scores for run in runs]).swapaxes(0, 1)  # rounds x models x columns
    lost = np.array([[_wrong(own, target) for own in row] for row, target in zip(scores, y, strict=True)])
    hedged, mistakes = adahedge(lost.astype(np.float64), ceiling), 0
    for t, target in enumerate(y):
        votes = scores[t, lost[:t].sum(axis=0).argmin()]
        if hedge:
            votes = sum((p * _ballot(own) for p, own in zip(hedged.weights[t], scores[t], strict=True)), 0 * votes)
        mistakes += _wrong(votes, target)
    return Several(mistakes, lost.sum(axis=0), hedged)


def _wrong(scores: Vector, y: float) -> bool:
    """Whether a margin is zero or less."""
    if len(scores) == 1:
        return bool(y * scores[0] <= 0)
    return bool(scores[int(y)] <= np.delete(scores, int(y)).max())


def _ballot(scores: Vector) -> Vector:
    """One vote for the class predicted, as scores."""
    if len(scores) == 1:
        return np.where(scores >= 0, 1.0, -1.0)
    return np.asarray(np.arange(len(scores)) == scores.argmax(), dtype=np.float64)


def vote(paths: NDArray[np.intp], weights: NDArray[np.float64], labels: int) -> NDArray[np.intp]:
    """Combine the labelings of all models, models x tokens: the label with the most votes per token, or the first."""
    votes = np.zeros((paths.shape[1], labels))
    for path, weight in zip(paths, weights, strict=True):
        votes[np.arange(len(path)), path] += weight
    best: NDArray[np.intp] = votes.argmax(axis=1)
    return best


def _rate(models: int, gap: float) -> float:
    return log(models) / gap if gap > 0 else inf


def _shrunk(eta: float, losses: Matrix) -> Matrix:
    """exp(-eta losses), and 1 for 0 even if eta is infinite."""
    return np.exp(-eta * losses) if eta < inf else (losses == 0).astype(np.float64)
