"""One pass of `partial_fit` over each workload: onmargin, scikit-learn, Vowpal Wabbit and hand-written C."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from learners import Estimator, onmargin_model, sklearn_model, sklearn_model_in_order
from limit import limit_of
from timing import race, ratios
from vowpal_wabbit import VowpalWabbit
from workloads import WORKLOADS

# Target ratio of scikit-learn's time to onmargin's.
TARGETS = {"A": 2.2, "B": 8, "C": 12, "C64": 12, "D": 3}


def table_row(name: str, repeats: int) -> str:
    """Measure one workload."""
    work = WORKLOADS[name]()
    with TemporaryDirectory() as folder:
        learners = {
            "onmargin": Estimator(onmargin_model, work),
            "scikit-learn": Estimator(sklearn_model, work),
            "in order": Estimator(sklearn_model_in_order, work),
            "vw": VowpalWabbit(work, Path(folder)),
        }
        runners = {who: learner.learn for who, learner in learners.items()}
        seconds = race(runners | {"limit": limit_of(work.X, work.y, work.classes)}, repeats)
        slower = ratios(seconds, to="onmargin")
        errors = {who: learner.progressive_error() for who, learner in learners.items()}
    cells = (
        f"{name}: {work.title}",
        f"{seconds['onmargin']:.3f}",
        f"{1 / slower['limit']:.2f}",
        f"{slower['scikit-learn']:.1f}",
        f"{TARGETS[name]:g}",
        f"{slower['in order']:.1f}",
        f"{slower['vw']:.1f}",
        " / ".join(f"{error:.3f}" for error in errors.values()),
        f"`{' '.join(learners['vw'].options)}`",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; all by default")
    parser.add_argument("--repeats", type=int, default=7, help="turns of each learner, of which the best counts")
    arguments = parser.parse_args()

    head = (
        "workload",
        "onmargin, s",
        "onmargin / limit",
        "scikit-learn / onmargin",
        "target",
        "the same in order",
        "vw / onmargin",
        "progressive error: onmargin / scikit-learn / in order / vw",
        "options of vw",
    )
    print(f"| {' | '.join(head)} |")
    print(f"| --- |{' ---: |' * 6} --- | --- |")
    for name in arguments.workloads or WORKLOADS:
        print(table_row(name, arguments.repeats), flush=True)


if __name__ == "__main__":
    main()
