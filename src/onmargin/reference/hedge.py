"""Votes of several models, weighed by what each has lost."""

from math import inf, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


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
        gap += max(float(p @ excess) + (log(p @ _shrunk(eta, excess)) / eta if eta < inf else 0.0), 0.0)
        total += loss
        p = _shrunk(min(ceiling, _rate(losses.shape[1], gap)), total - total.min())
        weights.append(p := p / p.sum())
    return Hedged(np.array(weights), mixed, gap)


def vote(paths: NDArray[np.intp], weights: NDArray[np.float64], labels: int) -> NDArray[np.intp]:
    """One labelling of those of all models, models x tokens: each token's label of most votes, of several the first."""
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
