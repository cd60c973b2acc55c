"""Time per round of the ball, which depends on the non-zeros of a row (50 here), not on the number of features."""

import argparse
from functools import partial

import numpy as np
from scipy import sparse
from timing import race

from onmargin import PassiveAggressiveRegressor, PassiveAggressiveUniclass

ROWS, NON_ZEROS = 50_000, 50


def rows(n_features: int) -> sparse.csr_array:
    """Return unit rows with features spread over the whole range."""
    random = np.random.default_rng(0)
    indices = np.sort(random.integers(0, n_features // NON_ZEROS, (ROWS, NON_ZEROS)), axis=1)
    indices += np.arange(NON_ZEROS) * (n_features // NON_ZEROS)
    values = random.standard_normal((ROWS, NON_ZEROS))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    ends = np.arange(ROWS + 1) * NON_ZEROS
    return sparse.csr_array((values.ravel(), indices.ravel().astype(np.int32), ends), shape=(ROWS, n_features))


def _learn(kind: type, X: sparse.csr_array, y: np.ndarray | None) -> None:
    kind(C=0.1).partial_fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="turns of each learner")
    repeats = parser.parse_args().repeats
    print("| features | ball, us a row | regression, us a row |\n| ---: | ---: | ---: |")
    for n_features in (2**12, 2**14, 2**16, 2**18, 2**20):
        X, y = rows(n_features), np.ones(ROWS)
        learners = {
            "ball": partial(_learn, PassiveAggressiveUniclass, X, None),
            "regression": partial(_learn, PassiveAggressiveRegressor, X, y),
        }
        seconds = race(learners, repeats)
        print(f"| {n_features:,} | {1e6 * seconds['ball'] / ROWS:.2f} | {1e6 * seconds['regression'] / ROWS:.2f} |")


if __name__ == "__main__":
    main()
