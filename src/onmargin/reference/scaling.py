"""Online scaling and standardization of features."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def sizes(X: Matrix, *, largest: bool = False) -> NDArray[np.float64]:
    """Return the scale of each feature: its root mean square, or its largest absolute value; 1 if that is 0."""
    size = np.abs(X).max(axis=0) if largest else np.sqrt((X**2).mean(axis=0))
    return np.where(X.any(axis=0), size, 1.0)


def running_scale(X: Matrix, *, largest: bool = False) -> Matrix:
    """Divide each row by the scales of the features up to and including it."""
    return np.array([X[t] / sizes(X[: t + 1], largest=largest) for t in range(len(X))]).reshape(X.shape)


def running_standardization(X: Matrix) -> Matrix:
    """Standardize each row by the means and deviations of the t rows before it, clipped to [-sqrt(t), sqrt(t)]."""
    Z = np.zeros_like(X)
    for t in range(1, len(X)):
        means, deviations = X[:t].mean(axis=0), X[:t].std(axis=0)
        alike = (X[:t] == X[0]).all(axis=0)  # rounding may make the mean of equal numbers differ from them
        distance = X[t] - np.where(alike, X[0], means)
        far = np.abs(distance) > np.sqrt(t) * np.where(alike, 0.0, deviations)
        Z[t] = np.where(far, np.sqrt(t) * np.sign(distance), distance / np.where(far | alike, 1.0, deviations))
    return Z


def standardized_entries(X: Matrix, *, centered: bool = False) -> Matrix:
    """Standardize records with missing values (NaN), each feature by its values in the rows before.

    Missing values become 0, the mean. A feature that so far had a single nonzero value, and not in all rows, is an
    indicator, which is divided by the size of that value; a new feature becomes its sign. With n earlier values,
    results are clipped to [-sqrt(n), sqrt(n)]. If `centered`, indicators are 0 where they are missing, and
    then standardized, but those in less than 1/64 of the rows are not centered, and have the deviation of one in 1/64.
    """
    Z = np.zeros_like(X)
    for t in range(1, len(X)):
        for j in range(X.shape[1]):
            x, before = X[t, j], X[:t, j][~np.isnan(X[:t, j])]
            n = len(before)
            indicates = 0 < n < t and (before == before[0]).all() and before[0] != 0
            if indicates:
                size, p, q = abs(before[0]), n / t, max(n / t, 1 / 64)
                Z[t, j] = np.clip(np.nan_to_num(x) / size, -np.sqrt(n), np.sqrt(n))
                if centered:
                    Z[t, j] = (Z[t, j] - np.sign(before[0]) * p * (p >= 1 / 64)) / np.sqrt(q * (1 - q))
            elif np.isnan(x):
                continue
            elif n == 0:
                Z[t, j] = np.sign(x)
            else:
                Z[t, j] = running_standardization(np.array([*before, x])[:, None])[-1, 0]
    return Z


def log_odds_of_ranks(X: Matrix, *, kept: int = 1023) -> Matrix:
    """Replace each value of a feature by the log odds of its mean rank among the values before it, at most `kept`.

    Of n values, a are less than x and b are at most x: it becomes log((a + b + 1) / (2 n + 1 - a - b)), and the sign of
    x while they are all equal. Missing values (NaN) stay missing. Values are compared in single precision.
    """
    Z, rows = np.full_like(X, np.nan), X.astype(np.float32)
    for t, j in np.argwhere(~np.isnan(X)):
        x, before = rows[t, j], rows[:t, j][~np.isnan(rows[:t, j])][:kept]
        if (before == before[:1]).all():
            Z[t, j] = np.sign(x)
        else:
            twice = (before < x).sum() + (before <= x).sum()
            Z[t, j] = np.log((twice + 1) / (2 * len(before) + 1 - twice))
    return Z
