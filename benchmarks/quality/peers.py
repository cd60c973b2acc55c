"""AutoClassifier as it comes against Vowpal Wabbit with the best of a grid: progressive error in one pass."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from streams import STREAMS, Stream

from onmargin import AutoClassifier, PassiveAggressiveClassifier

sys.path.append(str(Path(__file__).resolve().parents[1]))
from vowpal_wabbit import VowpalWabbit
from workloads import Workload

LOSSES, RATES = ("hinge", "logistic"), ("0.1", "0.5", "2")
ORDERS = 5  # in which a small stream is learned


def river(name: str) -> Stream:
    """A data set of river's package: numbers alone, in its order."""
    from river import datasets

    rows, labels = zip(*getattr(datasets, name)(), strict=True)
    names = [key for key, value in rows[0].items() if isinstance(value, int | float)]
    return np.array([[float(row[key]) for key in names] for row in rows]), np.array([str(label) for label in labels])


# Those that played a part in the choice of the experts, and those that played none.
SEEN: dict[str, Callable[[], Stream]] = {
    "digits": lambda: load_digits(return_X_y=True),
    "cancer": lambda: load_breast_cancer(return_X_y=True),
}
HELD_OUT: dict[str, Callable[[], Stream]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "Phishing": lambda: river("Phishing"),
    "Bananas": lambda: river("Bananas"),
    "ImageSegments": lambda: river("ImageSegments"),
}


def orders(stream: Stream, small: bool) -> Iterator[Workload]:
    X, y = stream
    classes, codes = np.unique(y, return_inverse=True)
    if issparse(X):  # features that never occur take no room
        X = csr_matrix(X)[:, np.unique(X.indices)]
    for seed in range(ORDERS if small else 1):
        order = np.random.default_rng(seed).permutation(len(y)) if small else np.arange(len(y))
        yield Workload("", X[order], codes[order], np.arange(len(classes)))


def ours(model: PassiveAggressiveClassifier, work: Workload) -> float:
    totals = model.partial_fit(work.X, work.y, classes=work.classes).totals_
    return 100 * totals.mistakes / totals.rounds


def theirs(work: Workload) -> dict[str, float]:
    """The error with each setting of the grid."""
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        wabbit = VowpalWabbit(work, Path(folder))
        plain = wabbit.options
        for loss, rate in product(LOSSES, RATES):
            wabbit.options = [loss if option == "hinge" else option for option in plain] + ["-l", rate]
            errors[f"{loss}, -l {rate}"] = 100 * wabbit.progressive_error()
    return errors


def line(name: str, stream: Stream, small: bool) -> str:
    """A row of the table."""
    auto, leader, sweep, peers = [], [], [], []
    for work in orders(stream, small):
        auto.append(ours(AutoClassifier(), work))
        leader.append(ours(AutoClassifier(combine="leader"), work))
        sweep.append(ours(PassiveAggressiveClassifier(C="auto"), work))
        peers.append(theirs(work))
    mean = {setting: float(np.mean([errors[setting] for errors in peers])) for setting in peers[0]}
    best = min(mean, key=lambda setting: mean[setting])
    own = [float(np.mean(errors)) for errors in (auto, leader, sweep)]
    cells = " | ".join(f"{error:.2f}" for error in own)
    return f"| {name} | {cells} | {mean[best]:.2f} ({best}) | {own[0] / mean[best]:.3f} |"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder with the data sets of streams.py")
    data = parser.parse_args().data
    named = {name: (lambda load=load: load(data)) for name, load in STREAMS.items()} if data else {}
    print("| stream | AutoClassifier | its leader | PA-I, C=auto | Vowpal Wabbit, best of 6 | Auto / Vowpal Wabbit |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for small, streams in ((False, named), (True, SEEN), (True, HELD_OUT)):
        for name, load in streams.items():
            print(line(name, load(), small), flush=True)


if __name__ == "__main__":
    main()
