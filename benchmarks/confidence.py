"""Time of calibrated probabilities: one pass over dense rows of 30 columns, with calibration and without."""

import argparse

import numpy as np
from timing import race

from onmargin import AROWClassifier, AutoClassifier, PassiveAggressiveClassifier

LEARNERS = {
    "PA-I": PassiveAggressiveClassifier,
    "PA-I, averaged": lambda: PassiveAggressiveClassifier(average=True),
    "AROW": AROWClassifier,
    "AutoClassifier": lambda: AutoClassifier(experts="linear"),
}


def stream(n_rows: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 30))
    return X, (X @ rng.standard_normal((30, n_classes)) + rng.gumbel(size=(n_rows, n_classes))).argmax(axis=1)


def learner(name: str, X: np.ndarray, y: np.ndarray, *, calibrated: bool):
    """Return a function that makes a pass over the rows with a learner that has already seen some of them."""
    model = LEARNERS[name]().partial_fit(X[:100], y[:100], classes=np.unique(y))
    if not calibrated:
        model._learner._totals.calibration = None
    return lambda: model.partial_fit(X, y)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=15, help="turns of each, of which the best counts")
    arguments = parser.parse_args()
    print("| learner | classes | ns per round without | with | ratio |\n| --- | ---: | ---: | ---: | ---: |")
    for name in LEARNERS:
        for n_classes in (2, 10):
            n = arguments.rows if name != "AutoClassifier" else arguments.rows // 5
            X, y = stream(n, n_classes)
            runners = {str(on): learner(name, X, y, calibrated=on) for on in (False, True)}
            seconds = race(runners, arguments.repeats)
            off, on = (1e9 * seconds[str(key)] / n for key in (False, True))
            print(f"| {name} | {n_classes} | {off:.0f} | {on:.0f} | {on / off:.3f} |")


if __name__ == "__main__":
    main()
