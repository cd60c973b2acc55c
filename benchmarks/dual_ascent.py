"""Time of dual ascent over a window of examples, compared with PA-I: one pass over sparse rows of 75 non-zeros."""

import argparse
from functools import partial

import numpy as np
from geometries import N_NONZEROS, N_ROWS, stream
from sklearn.base import clone
from timing import race

from onmargin import DualAscentClassifier, PassiveAggressiveClassifier

N_FEATURES, N_CLASSES = 2**18, 10
PA = "PA-I"
LEARNERS = {
    PA: PassiveAggressiveClassifier(C=0.1, fit_intercept=False),
    **{f"window={k}": DualAscentClassifier(C=0.1, window=k) for k in (1, 2, 4, 8, 16)},
    **{f"window=8, sweeps={m}": DualAscentClassifier(C=0.1, window=8, sweeps=m) for m in (1, 2)},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9, help="turns of each learner")
    repeats = parser.parse_args().repeats
    X, two = stream(N_FEATURES)
    target = np.zeros((N_FEATURES, N_CLASSES))
    target[:40] = np.random.default_rng(1).standard_normal((40, N_CLASSES))
    several = (X @ target).argmax(axis=1)
    for y in two, several:
        classes = np.unique(y)

        def learn(name: str, y: np.ndarray = y, classes: np.ndarray = classes) -> object:
            return clone(LEARNERS[name]).partial_fit(X, y, classes=classes)

        seconds = race({name: partial(learn, name) for name in LEARNERS}, repeats)
        print(f"\n{len(classes)} classes, 2^{N_FEATURES.bit_length() - 1} features, {N_NONZEROS} non-zeros a row\n")
        print("| learner | µs a round | times PA-I | mistakes, % |")
        print("| --- | ---: | ---: | ---: |")
        for name, taken in seconds.items():
            wrong = 100 * learn(name).totals_.mistakes / N_ROWS
            print(f"| {name} | {1e6 * taken / N_ROWS:.2f} | {taken / seconds[PA]:.1f} | {wrong:.1f} |")


if __name__ == "__main__":
    main()
