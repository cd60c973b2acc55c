"""Random ferns: the cells of many random partitions in which a row lies."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def ferns(X: Matrix, n_ferns: int, n_tests: int, seed: int = 0) -> Matrix:
    """Return the rows as indicators of cells, divided by the root of the number of ferns ([FERNS]).

    Fern m tests whether feature j is above a threshold from N(0, 1), `n_tests` times, and the outcomes are the binary
    digits of the cell. Each test has a random order of all features, and takes the first of those that were not zero in
    some earlier row; without any, the cell is the first.
    """
    thresholds = np.random.RandomState(seed).standard_normal((n_tests, n_ferns))
    ranks = np.array([_ranks(j, n_tests * n_ferns, seed) for j in range(X.shape[1])])
    met = np.zeros(X.shape[1], bool)
    indicators = np.zeros((len(X), n_ferns, 2**n_tests))
    for i, x in enumerate(X):
        cells = np.zeros(n_ferns, int)
        if met.any():
            tested = np.flatnonzero(met)[ranks[met].argmin(axis=0)].reshape(n_tests, n_ferns)
            cells = (2 ** np.arange(n_tests)) @ (x[tested] > thresholds)
        indicators[i, np.arange(n_ferns), cells] = 1 / np.sqrt(n_ferns)
        met |= x != 0
    return indicators.reshape(len(X), -1)


def _ranks(feature: int, tests: int, seed: int) -> NDArray[np.uint64]:
    """Return the place of a feature in the order of each test: a random number."""
    with np.errstate(over="ignore"):
        own = mixed(np.array([seed + (feature + 1) * 0x9E3779B97F4A7C15 & 2**64 - 1], np.uint64))
        return mixed(np.add(own, np.arange(tests), dtype=np.uint64, casting="unsafe"))


def mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of splitmix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
