"""Time of learners with per-weight rates: one pass over a workload by each, compared with PA-I in the same run."""

import argparse

from learners import Estimator
from timing import race
from workloads import WORKLOADS

from onmargin import AROWClassifier, NHERDClassifier, PassiveAggressiveClassifier, SCWClassifier

LEARNERS = {
    "PA-I": PassiveAggressiveClassifier,
    "PA-I, adaptive": lambda: PassiveAggressiveClassifier(geometry="adaptive"),
    "PA-I, normalized": lambda: PassiveAggressiveClassifier(geometry="normalized"),
    "AROW": lambda: AROWClassifier(strategy="joint"),
    "AROW, averaged": lambda: AROWClassifier(strategy="joint", average=True),
    "SCW-I": lambda: SCWClassifier(strategy="joint"),
    "SCW-II": lambda: SCWClassifier(strategy="joint", variant="II"),
    "NHERD": lambda: NHERDClassifier(strategy="joint"),
}


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="A by default; others with classes: B, C, C64")
    parser.add_argument("--repeats", type=int, default=9, help="turns of each learner, of which the best counts")
    arguments = parser.parse_args()
    for name in arguments.workloads or ["A"]:
        work = WORKLOADS[name]()
        runners = {who: Estimator(lambda work, make=make: make(), work) for who, make in LEARNERS.items()}
        seconds = race({who: runner.learn for who, runner in runners.items()}, arguments.repeats)
        print(f"\n{name}: {work.title}\n\n| learner | s | times PA-I | rounds that moved, % | mistakes, % |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for who, runner in runners.items():
            totals = runner.learn().totals_
            moved, wrong = 100 * totals.updates / totals.rounds, 100 * totals.mistakes / totals.rounds
            print(f"| {who} | {seconds[who]:.3f} | {seconds[who] / seconds['PA-I']:.2f} | {moved:.0f} | {wrong:.1f} |")


if __name__ == "__main__":
    main()
