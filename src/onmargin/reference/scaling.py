"""Features in units of their size or deviation so far."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def sizes(X: Matrix, *, largest: bool = False) -> NDArray[np.float64]:
    """Of each feature over all rows: the root of its mean square, or the largest absolute value; 1 if that is 0."""
    size = np.abs(X).max(axis=0) if largest else np.sqrt((X**2).mean(axis=0))
    return np.where(X.any(axis=0), size, 1.0)


def running_scale(X: Matrix, *, largest: bool = False) -> Matrix:
    """Each row in units of the sizes up to and including it."""
    return np.array([X[t] / sizes(X[: t + 1], largest=largest) for t in range(len(X))]).reshape(X.shape)


def running_standardization(X: Matrix) -> Matrix:
    """Each row by the means and deviations of the t rows before it, brought within sqrt(t) of 0."""
    Z = np.zeros_like(X)
    for t in range(1, len(X)):
        means, deviations = X[:t].mean(axis=0), X[:t].std(axis=0)
        alike = (X[:t] == X[0]).all(axis=0)  # by rounding means may miss what all numbers are
        distance = X[t] - np.where(alike, X[0], means)
        far = np.abs(distance) > np.sqrt(t) * np.where(alike, 0.0, deviations)
        Z[t] = np.where(far, np.sqrt(t) * np.sign(distance), distance / np.where(far | alike, 1.0, deviations))
    return Z
