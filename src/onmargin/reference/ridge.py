"""Online ridge regression, solved from scratch in each round, and random Fourier features."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class RidgeRun:
    """The predictions of all rounds, the weights after them (features x columns) and the inverse of their matrix."""

    predictions: Matrix
    weights: Matrix
    inverse: Matrix


def ridge(
    X: Matrix,
    Y: Matrix,
    alpha: float,
    *,
    weight: Vector | None = None,
    forgetting: float = 0.0,
    forecast: bool = False,
) -> RidgeRun:
    """``w = argmin alpha |u|^2 / 2 + sum weight (y - u.x)^2 / 2`` over the rounds so far, for each column of Y.

    With `forecast` a row is predicted with itself in the matrix, and a target of 0 ([PD] sec. 3; Vovk; Azoury,
    Warmuth). A round counts ``(1 - forgetting)^s`` after s others, and so does alpha, but no number on the diagonal of
    the inverse grows beyond 1 / alpha.
    """
    n = X.shape[1]
    P, moments = alpha * np.eye(n), np.zeros((n, Y.shape[1]))
    predictions = np.zeros(Y.shape)
    for t, (x, y, c) in enumerate(zip(X, Y, np.ones(len(X)) if weight is None else weight, strict=True)):
        if forecast:
            predictions[t] = x @ np.linalg.solve(P + c * np.outer(x, x), moments)
        else:
            predictions[t] = x @ np.linalg.solve(P, moments)
        P, moments = P + c * np.outer(x, x), moments + c * np.outer(x, y)
        if forgetting:
            kept = np.sqrt(np.clip(np.diag(np.linalg.inv(P)) * alpha, 1 - forgetting, 1))
            w = np.linalg.solve(P, moments)
            P = P * np.outer(kept, kept)
            moments = P @ w
    weights, inverse = (np.asarray(array, np.float64) for array in (np.linalg.solve(P, moments), np.linalg.inv(P)))
    return RidgeRun(predictions, weights, inverse)


def ridge_regret_bound(X: Matrix, y: Vector, alpha: float) -> float:
    """The most that the sum of squares of the forecasts can be (ALGORITHMS 16.7; Vovk; Azoury, Warmuth)."""
    A = X.T @ X
    best = np.linalg.solve(alpha * np.eye(len(A)) + A, X.T @ y)
    fit = alpha * best @ best + ((y - X @ best) ** 2).sum()
    return float(fit + (y**2).max() * np.log1p(np.linalg.eigvalsh(A) / alpha).sum())


def levels(y: Vector) -> tuple[Vector, Vector]:
    """What the last target and the mean of those before predict; of the first, 0."""
    means = np.cumsum(y) / np.arange(1, len(y) + 1)
    return np.append(0.0, y[:-1]), np.append(0.0, means[:-1])


def fourier(X: Matrix, n_waves: int, gamma: float, seed: int = 0) -> Matrix:
    """``sqrt(2 / D) cos(Omega x + b)`` with Omega drawn from N(0, 2 gamma) and b uniform ([RFF])."""
    random = np.random.RandomState(seed)
    shifts = 2 * np.pi * random.uniform(size=n_waves)
    frequencies = np.sqrt(2 * gamma) * random.standard_normal((X.shape[1], n_waves))
    return np.asarray(np.sqrt(2 / n_waves) * np.cos(X @ frequencies + shifts), np.float64)
