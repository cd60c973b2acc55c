"""Time of updates that move several rivals, compared with the plain update: one pass over 50 classes (workload B)."""

import argparse
from functools import partial

from timing import race
from workloads import WORKLOADS

from onmargin import PassiveAggressiveClassifier

UPDATES = "max", "simperc", "conproj", "simproj", "simopt", "conopt", "exact", "perceptron", "mira"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9, help="turns of each update")
    repeats = parser.parse_args().repeats
    work = WORKLOADS["B"]()

    def learn(update: str) -> PassiveAggressiveClassifier:
        return PassiveAggressiveClassifier(update=update).partial_fit(work.X, work.y, classes=work.classes)

    seconds = race({update: partial(learn, update) for update in UPDATES}, repeats)
    print("| update | s | times the plain update | mistakes, % |\n| --- | ---: | ---: | ---: |")
    for update in UPDATES:
        totals = learn(update).totals_
        error = 100 * totals.mistakes / totals.rounds
        print(f"| {update} | {seconds[update]:.3f} | {seconds[update] / seconds['max']:.2f} | {error:.1f} |")


if __name__ == "__main__":
    main()
