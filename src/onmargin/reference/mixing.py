"""Iterative parameter mixing ([IPM] sec. 4): train on shards from the same weights, then average the results."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def mixed(start: Vector, ends: Sequence[Vector], counts: Sequence[float]) -> Vector:
    """Return ``w + sum mu_k (w_k - w)`` with mu_k = count_k / sum of counts; w if all counts are 0."""
    total = sum(counts)
    mix = np.array(start)
    for end, count in zip(ends, counts, strict=True):
        mix += (count / total if total else 0) * (end - start)
    return mix


def mixed_gaussians(
    means: Sequence[Vector], variances: Sequence[Vector], counts: Sequence[float]
) -> tuple[Vector, Vector]:
    """Return the Gaussian N that minimizes ``sum mu_k KL(N || N_k)``: mean precision, precision-weighted mean."""
    shares = np.array(counts) / sum(counts)
    weights = [share / variance for share, variance in zip(shares, variances, strict=True)]
    precision: Vector = np.sum(weights, axis=0)
    moments: Vector = np.sum([weight * mean for weight, mean in zip(weights, means, strict=True)], axis=0)
    return moments / precision, 1 / precision


def mix_epochs(
    learn: Callable[[Vector, Any], tuple[Vector, float]], shards: Sequence[Any], start: Vector, epochs: int
) -> Vector:
    """Run epochs of parameter mixing; `learn(weights, shard)` returns the final weights and their mixing count."""
    weights = start
    for _ in range(epochs):
        ends, counts = zip(*(learn(weights, shard) for shard in shards), strict=True)
        weights = mixed(weights, ends, counts)
    return weights
