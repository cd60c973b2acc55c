"""Time per row in blocks: every update, compared with "max" and with the same round in plain NumPy."""

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np
from timing import race

from onmargin import BlockClassifier, reference

SIZES = 1, 5, 20
C = 0.1


def largest(C: float, loss: np.ndarray, q: np.ndarray, mistaken: np.ndarray) -> np.ndarray:
    """Return the MaxPA step: only the largest loss."""
    tau = np.zeros_like(loss)
    worst = loss.argmax()
    tau[worst] = min(C, loss[worst] / q[worst])
    return tau


SCHEMES = {
    "max": largest,
    "simperc": reference.simperc,
    "conproj": reference.conproj,
    "simproj": reference.simproj,
    "simopt": reference.simopt,
    "conopt": reference.conopt,
}
UPDATES = *SCHEMES, "exact"


def twin_step(update: str) -> reference.trials.TrialStep:
    if update == "exact":
        return reference.joint(C)
    return reference.each_part(reference.simultaneous(SCHEMES[update], C))


def learners(X: np.ndarray, y: np.ndarray, size: int, few: int) -> dict[str, Callable[[], object]]:
    """Return runners of every update over all rows, and of its NumPy reference over the first few."""
    groups = np.arange(len(y)) // size
    learn: dict[str, Callable[[], object]] = {
        update: partial(BlockClassifier(update=update, C=C).partial_fit, X, y, groups, classes=[-1, 1])
        for update in UPDATES
    }
    trials, labels = np.split(X[:few], few // size), np.split(y[:few], few // size)
    for update in UPDATES:
        learn[f"{update} in NumPy"] = partial(
            reference.play_trials, trials, labels, reference.block(), twin_step(update)
        )
    return learn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9, help="turns of each learner")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--few", type=int, default=1_000, help="rows that NumPy learns")
    given = parser.parse_args()
    random = np.random.default_rng(0)
    X = random.standard_normal((given.rows, 100))
    y = np.sign(X @ random.standard_normal(100) + 2 * random.standard_normal(given.rows))
    print("| rows a trial | update | µs a row | times max | NumPy, times this | imperfect, % |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    for size in SIZES:
        seconds = race(learners(X, y, size, given.few), given.repeats)
        for update in UPDATES:
            totals = BlockClassifier(update=update, C=C).partial_fit(X, y, np.arange(len(y)) // size).totals_
            slower = seconds[f"{update} in NumPy"] / given.few / (seconds[update] / given.rows)
            print(
                f"| {size} | {update} | {1e6 * seconds[update] / given.rows:.2f} | "
                f"{seconds[update] / seconds['max']:.2f} | {slower:.0f} | {100 * totals.mistakes / totals.rounds:.1f} |"
            )


if __name__ == "__main__":
    main()
