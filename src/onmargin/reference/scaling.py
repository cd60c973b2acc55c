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
    """Return each row by the means and deviations of the t rows before it, brought within sqrt(t) of 0."""
    Z = np.zeros_like(X)
    for t in range(1, len(X)):
        means, deviations = X[:t].mean(axis=0), X[:t].std(axis=0)
        alike = (X[:t] == X[0]).all(axis=0)  # by rounding means may miss what all numbers are
        distance = X[t] - np.where(alike, X[0], means)
        far = np.abs(distance) > np.sqrt(t) * np.where(alike, 0.0, deviations)
        Z[t] = np.where(far, np.sqrt(t) * np.sign(distance), distance / np.where(far | alike, 1.0, deviations))
    return Z


def standardized_entries(X: Matrix) -> Matrix:
    """Return records, in which NaN is missing, each standardized by the values of a feature in the rows before it.

    What is missing is 0, as the mean is. A feature that has had one value only, and not in all rows, is in units of it;
    a new one has the sign of its value. With n values before, none is further from 0 than sqrt(n).
    """
    Z = np.zeros_like(X)
    for t in range(1, len(X)):
        for j in np.flatnonzero(~np.isnan(X[t])):
            x, before = X[t, j], X[:t, j][~np.isnan(X[:t, j])]
            n = len(before)
            if n == 0:
                Z[t, j] = np.sign(x)
            elif (before == before[0]).all() and n < t and before[0] != 0:
                Z[t, j] = np.clip(x / abs(before[0]), -np.sqrt(n), np.sqrt(n))
            else:
                Z[t, j] = running_standardization(np.array([*before, x])[:, None])[-1, 0]
    return Z
