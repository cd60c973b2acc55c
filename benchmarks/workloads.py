"""The four workloads: seeded synthetic data that a linear rule explains, up to noise."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array


@dataclass(frozen=True)
class Workload:
    """One data set to pass over; `classes` is None for regression."""

    title: str
    X: np.ndarray | csr_array
    y: np.ndarray
    classes: np.ndarray | None = None


def binary_sparse() -> Workload:
    """Return hashed text: a few features are in almost every row, most are rare."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200_000)
    X = _power_law_rows(rng, y, n_features=2**18, n_nonzeros=75, topical=0.06)
    return Workload("binary, CSR float32, 200,000 x 2^18, 75 non-zeros a row", X, _mislabel(rng, y), np.arange(2))


def multiclass_sparse() -> Workload:
    """Return the same kind of rows in many classes."""
    rng = np.random.default_rng(1)
    y = rng.integers(50, size=100_000)
    X = _power_law_rows(rng, y, n_features=2**17, n_nonzeros=60, topical=0.15)
    return Workload("50 classes, CSR float32, 100,000 x 2^17, 60 non-zeros a row", X, _mislabel(rng, y), np.arange(50))


def multiclass_dense(dtype: type[np.floating] = np.float32) -> Workload:
    """Return as many rows, pixels and classes as MNIST."""
    rng = np.random.default_rng(2)
    y = rng.integers(10, size=60_000)
    centers = rng.normal(scale=0.15, size=(10, 784)).astype(dtype)
    X = centers[y]
    X += rng.standard_normal(X.shape, dtype=dtype)
    return Workload(f"10 classes, dense {np.dtype(dtype)}, 60,000 x 784", X, _mislabel(rng, y), np.arange(10))


def regression_dense() -> Workload:
    """Return many short rows, for which the cost per row matters as much as the cost per feature."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((500_000, 30))
    y = X @ rng.standard_normal(30) + rng.normal(scale=0.5, size=len(X))
    return Workload("regression, dense float64, 500,000 x 30", X, y)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "A": binary_sparse,
    "B": multiclass_sparse,
    "C": multiclass_dense,
    "C64": lambda: multiclass_dense(np.float64),
    "D": regression_dense,
}


def _power_law_rows(
    rng: np.random.Generator, y: np.ndarray, *, n_features: int, n_nonzeros: int, topical: float
) -> csr_array:
    """Return unit rows of distinct features; the feature of rank r is drawn with probability about 1 / r.

    In a fraction `topical` of the draws, each class starts its ranks at a different feature, which is the signal.
    """
    first = np.arange(1, y.max() + 2) * (n_features // (y.max() + 2))

    def draw(classes: np.ndarray) -> np.ndarray:
        rank = np.exp(rng.random(classes.shape) * np.log(n_features)).astype(np.int32) - 1
        return np.where(rng.random(classes.shape) < topical, (rank + first[classes]) % n_features, rank)

    drawn = np.sort(draw(np.repeat(y[:, None], n_nonzeros, axis=1)))
    crowded = np.arange(len(y))
    while len(crowded):
        rows = drawn[crowded]
        repeated = np.diff(rows, prepend=-1) == 0
        rows[repeated] = draw(np.repeat(y[crowded], repeated.sum(axis=1)))
        drawn[crowded] = np.sort(rows)
        crowded = crowded[repeated.any(axis=1)]

    # Hashing spreads frequent features over the whole index range, and so over the whole memory of the weights.
    indices = np.sort(rng.permutation(n_features).astype(np.int32)[drawn])
    values = rng.uniform(0.5, 1.5, indices.shape).astype(np.float32)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    indptr = np.arange(len(y) + 1, dtype=np.int32) * n_nonzeros
    return csr_array((values.ravel(), indices.ravel(), indptr), shape=(len(y), n_features))


def _mislabel(rng: np.random.Generator, y: np.ndarray) -> np.ndarray:
    """Return labels of which one in twenty is replaced by another row's."""
    return np.where(rng.random(len(y)) < 0.05, rng.permutation(y), y)
