"""Online ridge regression, solved from scratch in each round, and random Fourier features."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class RidgeRun:
    """The predictions of all rounds, the final weights (features x columns), the inverse of their matrix, and the
    penalty of each weight."""

    predictions: Matrix
    weights: Matrix
    inverse: Matrix
    penalties: Vector


def ridge(
    X: Matrix,
    Y: Matrix,
    alpha: float,
    *,
    weight: Vector | None = None,
    forgetting: float = 0.0,
    forecast: bool = False,
) -> RidgeRun:
    """Run ridge regression, ``argmin alpha |u|^2 / 2 + sum weight (y - u.x)^2 / 2`` so far, for each column of Y.

    With `forecast`, a row is added to the matrix with a target of 0 before it is predicted ([PD] sec. 3; [AW]). A round
    has weight ``(1 - forgetting)^s`` after s others, and so do the penalties of features seen so far. After each
    round the smallest penalty is raised to alpha / 100 if it is below.
    """
    n = X.shape[1]
    penalties, met = np.full(n, alpha), np.zeros(n, bool)
    squares, moments = np.zeros((n, n)), np.zeros((n, Y.shape[1]))
    predictions = np.zeros(Y.shape)
    for t, (x, y, c) in enumerate(zip(X, Y, np.ones(len(X)) if weight is None else weight, strict=True)):
        P = np.diag(penalties) + squares + (c * np.outer(x, x) if forecast else 0)
        predictions[t] = x @ np.linalg.solve(P, moments)
        squares, moments = squares + c * np.outer(x, x), moments + c * np.outer(x, y)
        if forgetting:
            squares, moments = (1 - forgetting) * squares, (1 - forgetting) * moments
            met |= x != 0
            penalties[met] *= 1 - forgetting
            least = np.argmin(penalties)
            penalties[least] = max(penalties[least], alpha / 100)
    P = np.diag(penalties) + squares
    weights, inverse = (np.asarray(array, np.float64) for array in (np.linalg.solve(P, moments), np.linalg.inv(P)))
    return RidgeRun(predictions, weights, inverse, penalties)


def ridge_regret_bound(X: Matrix, y: Vector, alpha: float) -> float:
    """Return the bound on the sum of squared errors of the forecasts ([AW])."""
    A = X.T @ X
    best = np.linalg.solve(alpha * np.eye(len(A)) + A, X.T @ y)
    fit = alpha * best @ best + ((y - X @ best) ** 2).sum()
    return float(fit + (y**2).max() * np.log1p(np.linalg.eigvalsh(A) / alpha).sum())


def levels(y: Vector) -> tuple[Vector, Vector]:
    """Return the predictions of two baselines, the previous target and the mean of all before; 0 for the first."""
    means = np.cumsum(y) / np.arange(1, len(y) + 1)
    return np.append(0.0, y[:-1]), np.append(0.0, means[:-1])


def class_levels(y: Vector, columns: int) -> tuple[Matrix, Vector]:
    """Return the scores of the majority class in each round and after the last: ridge regression on 1, alpha = 1.

    With one column the labels are -1 and 1, otherwise columns.
    """
    targets = y[:, np.newaxis] if columns == 1 else (y[:, np.newaxis] == np.arange(columns)).astype(np.float64)
    sums = np.vstack([np.zeros(columns), np.cumsum(targets, axis=0)])
    means = sums / np.arange(1, len(y) + 2)[:, np.newaxis]
    return means[:-1], means[-1]


def fourier(X: Matrix, n_waves: int, gamma: float, seed: int = 0) -> Matrix:
    """Random Fourier features ``sqrt(2 / D) cos(Omega x + b)``, Omega from N(0, 2 gamma) and b uniform ([RFF])."""
    random = np.random.RandomState(seed)
    shifts = 2 * np.pi * random.uniform(size=n_waves)
    frequencies = np.sqrt(2 * gamma) * random.standard_normal((X.shape[1], n_waves))
    return np.asarray(np.sqrt(2 / n_waves) * np.cos(X @ frequencies + shifts), np.float64)
