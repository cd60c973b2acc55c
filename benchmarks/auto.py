"""Time of `AutoClassifier` on dense rows, as a multiple of one PA-I model and of Vowpal Wabbit in the same run."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from learners import Estimator
from sweep import table
from timing import race
from vowpal_wabbit import VowpalWabbit
from workloads import WORKLOADS

from onmargin import AutoClassifier, PassiveAggressiveClassifier

LEARNERS = {
    "PA-I": PassiveAggressiveClassifier,
    "linear experts": lambda: AutoClassifier(experts="linear"),
    "linear experts, none sleeps": lambda: AutoClassifier(experts="linear", sleeping=False),
    "all experts": AutoClassifier,
}


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = "8, 30 and 100 by default; a number: a table of two classes with this number of columns; C: workload C"
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=kinds)
    parser.add_argument("--repeats", type=int, default=9, help="turns of each learner, of which the best counts")
    arguments = parser.parse_args()
    print("| workload | learner | us per row | times PA-I |\n| --- | --- | ---: | ---: |")
    for name in arguments.workloads or ["8", "30", "100"]:
        work = table(int(name)) if name.isdecimal() else WORKLOADS[name]()
        with TemporaryDirectory() as folder:
            runners = {
                who: Estimator(lambda work, make=make: make(), work).learn
                for who, make in LEARNERS.items()
                if name.isdecimal() or who != "all experts"  # with many columns, these are the linear ones
            }
            if not name.isdecimal():
                runners["Vowpal Wabbit"] = VowpalWabbit(work, Path(folder)).learn
            seconds = race(runners, arguments.repeats)
        for who, taken in seconds.items():
            per_row = 1e6 * taken / len(work.y)
            print(f"| {work.title} | {who} | {per_row:.2f} | {taken / seconds['PA-I']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
