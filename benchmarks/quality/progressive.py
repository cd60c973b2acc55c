"""Progressive error of learners on real streams: each example is predicted before it is learned, in one pass."""

import argparse
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, clone
from streams import STREAMS, Stream

from onmargin import AROWClassifier, NHERDClassifier, PassiveAggressiveClassifier, SCWClassifier

GRID, R_GRID = [1.0, 100.0, 10.0, 0.3, 0.1, 0.03, 0.01, 0.001], [0.1, 0.01, 1.0, 10.0]
# Each with the values of its parameter to try; the first is the fixed setting.
LEARNERS: dict[str, tuple[BaseEstimator, str, list[float]]] = {
    "PA-I, ovr": (PassiveAggressiveClassifier(strategy="ovr"), "C", GRID),
    "PA-I, joint": (PassiveAggressiveClassifier(), "C", GRID),
    "adaptive, ovr": (PassiveAggressiveClassifier(geometry="adaptive", strategy="ovr"), "C", GRID),
    "adaptive, joint": (PassiveAggressiveClassifier(geometry="adaptive"), "C", GRID),
    "normalized, ovr": (PassiveAggressiveClassifier(geometry="normalized", strategy="ovr"), "C", GRID),
    "normalized, joint": (PassiveAggressiveClassifier(geometry="normalized"), "C", GRID),
    "AROW, ovr": (AROWClassifier(), "r", R_GRID),
    "AROW, joint": (AROWClassifier(strategy="joint"), "r", R_GRID),
    "AROW, ovr, forgetting 0.1": (AROWClassifier(forgetting=0.1), "r", R_GRID),
    "SCW-I, ovr": (SCWClassifier(), "C", GRID),
    "SCW-II, ovr": (SCWClassifier(variant="II"), "C", GRID),
    "NHERD, ovr": (NHERDClassifier(), "C", [10.0, 1.0, 0.1, 0.01]),
}


def error(model: BaseEstimator, stream: Stream) -> float:
    """Return the progressive error in %."""
    X, y = stream
    totals = clone(model).partial_fit(X, y, classes=np.unique(y)).totals_
    return 100 * totals.mistakes / totals.rounds


def cell(name: str, stream: Stream) -> str:
    """Return the error of the best value and of the fixed one."""
    model, parameter, values = LEARNERS[name]
    errors = [error(model.set_params(**{parameter: value}), stream) for value in values]
    return f"{min(errors):.2f}/{errors[0]:.2f}"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the data sets")
    parser.add_argument("--streams", nargs="*", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--learners", nargs="*", choices=LEARNERS, default=list(LEARNERS))
    arguments = parser.parse_args()
    columns = []
    for name in arguments.streams:
        stream = STREAMS[name](arguments.data)
        columns.append([cell(learner, stream) for learner in arguments.learners])
    print(f"| learner | {' | '.join(arguments.streams)} |")
    print(f"| --- |{' ---: |' * len(columns)}")
    for learner, *cells in zip(arguments.learners, *columns, strict=True):
        print(f"| {learner} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
