"""Time of several models at once: one pass over a workload or a table, compared with one model in the same run."""

import argparse
from collections.abc import Callable

import numpy as np
from learners import Estimator
from limit import limit_of, limit_of_sweep
from scipy import sparse
from timing import race
from workloads import WORKLOADS, Workload

from onmargin import AutoClassifier, PassiveAggressiveClassifier


def grid(n: int) -> list[float]:
    return np.geomspace(0.01, 10, n).tolist()


def table(n_features: int) -> Workload:
    """Return dense rows of two classes, given by a linear rule with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, n_features))
    y = (X @ rng.normal(size=n_features) + rng.normal(size=len(X)) > 0).astype(int)
    return Workload(f"binary, dense float64, 50,000 x {n_features}", X, y, np.arange(2))


LEARNERS = {
    "PA-I": PassiveAggressiveClassifier,
    "PA-I, ovr": lambda: PassiveAggressiveClassifier(strategy="ovr"),
    "8 values of C, leader": lambda: PassiveAggressiveClassifier(C=grid(8)),
    "8 values of C, hedge": lambda: PassiveAggressiveClassifier(C=grid(8), combine="hedge"),
    "16 values of C, leader": lambda: PassiveAggressiveClassifier(C=grid(16)),
    "16 values of C, hedge": lambda: PassiveAggressiveClassifier(C=grid(16), combine="hedge"),
    "AutoClassifier": AutoClassifier,
}


def limits(work: Workload) -> dict[str, Callable[[], int]]:
    """Return hand-written C for one model and for eight, if there is such a program."""
    found = {}
    if sparse.issparse(work.X) or len(work.classes) > 2:
        found["limit of PA-I"] = limit_of(work.X, work.y, work.classes)
    if sparse.issparse(work.X) and len(work.classes) == 2:
        found["limit of 8 values of C, leader"] = limit_of_sweep(work.X, work.y, grid(8))
    return found


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = "A by default; others with classes: B, C, C64; a number: a table with this number of columns"
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=kinds)
    parser.add_argument("--repeats", type=int, default=9, help="turns of each learner, of which the best counts")
    arguments = parser.parse_args()
    for name in arguments.workloads or ["A"]:
        work = table(int(name)) if name.isdecimal() else WORKLOADS[name]()
        runners = {who: Estimator(lambda work, make=make: make(), work) for who, make in LEARNERS.items()}
        best = limits(work)
        seconds = race({who: runner.learn for who, runner in runners.items()} | best, arguments.repeats)
        print(f"\n{name}: {work.title}\n\n| learner | s | times PA-I | mistakes, % |")
        print("| --- | ---: | ---: | ---: |")
        for who in seconds:
            mistakes = best[who]() if who in best else runners[who].learn().totals_.mistakes
            wrong = 100 * mistakes / len(work.y)
            print(f"| {who} | {seconds[who]:.3f} | {seconds[who] / seconds['PA-I']:.2f} | {wrong:.1f} |")


if __name__ == "__main__":
    main()
