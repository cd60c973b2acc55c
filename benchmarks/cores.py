"""Learning with one thread and with two: wall clock, CPU time, and the time that only one thread can take.

The last column is the gain that these times allow on two cores that have nothing else to do. For texts, it is the CPU
time with one thread, divided by half of that with two, or by the time of the thread that learns if that is longer, and
at most 2. For records and sentences, one thread reads and the other runs the rounds: it is the CPU time with one
thread, divided by that of the busier one.
"""

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from time import perf_counter, process_time, thread_time
from typing import Any, NamedTuple

import numpy as np

from onmargin import SequenceTagger, stream
from onmargin.features import RecordFeatures, WindowFeatures

WAYS: dict[str, dict[str, Any]] = {
    "names": {},
    "hashed, 2^18": {"n_features": 2**18},
    "hashed, 2^20, pairs of words": {"n_features": 2**20, "ngrams": (1, 2)},
    "names, document frequencies": {"idf": True},
}
LEARNERS = (stream.PassiveAggressiveClassifier, stream.AROWClassifier)
TAGGERS: dict[str, dict[str, Any]] = {
    "20 words, 20 labels": {},
    '20 words, 20 labels, update="max_loss"': {"update": "max_loss"},
}
MANY = 8  # threads, so that the one that learns makes hardly any features


class Times(NamedTuple):
    """Seconds of a call: wall clock, CPU time of all threads, and CPU time of the thread that calls."""

    wall: float
    cpu: float
    alone: float


def documents(n: int) -> tuple[list[str], list[str]]:
    """Return texts of a hundred words in two classes with different words."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(50_000)])
    labels = rng.integers(2, size=n)
    ranks = np.exp(rng.random((n, 100)) * np.log(len(words) - 1)).astype(int)
    ranks = np.where(rng.random(ranks.shape) < 0.1, (ranks + 1000 * (1 + labels[:, None])) % len(words), ranks)
    return [" ".join(row) for row in words[ranks]], [f"c{label}" for label in labels]


def records(n: int, names: int, classes: int) -> tuple[list[dict[str, float]], list[str]]:
    """Return dicts of twenty numbers, by the same names or by any of many names."""
    rng = np.random.default_rng(0)
    X = [
        {f"f{k}": value for k, value in zip(places, values, strict=True)}
        for places, values in zip(
            np.tile(range(20), (n, 1)) if names == 20 else rng.integers(names, size=(n, 20)),
            rng.standard_normal((n, 20)).tolist(),
            strict=True,
        )
    ]
    return X, [f"c{k}" for k in rng.integers(classes, size=n)]


def measured(make: Callable[[int], Callable[[], object]], threads: Iterable[int], repeats: int) -> list[Times]:
    """Return the best times with these numbers of threads, measured in turn; `make` prepares what is measured."""
    clocks = (perf_counter, process_time, thread_time)
    best = {n: np.full(3, np.inf) for n in threads}
    for _ in range(repeats):
        for n, least in best.items():
            learn = make(n)
            start = np.array([clock() for clock in clocks])
            learn()
            best[n] = np.minimum(least, np.array([clock() for clock in clocks]) - start)
    return [Times(*times) for times in best.values()]


def learning(learner: Any, X: list[Any], y: list[Any], options: dict[str, Any], n_jobs: int) -> Callable[[], object]:
    model = learner(features=RecordFeatures(n_jobs=n_jobs, **options))
    return partial(model.learn_many, X, y)


def show(title: str, one: Times, two: Times, longest: float) -> None:
    """Print a row; `longest` is the time of the busier thread if two share the work as well as they can."""
    numbers = f"{one.wall:.3f} | {two.wall:.3f} | {one.wall / two.wall:.2f} | {one.cpu:.3f} | {two.cpu:.3f}"
    print(f"| {title} | {numbers} | {two.alone:.3f} | {min(2, one.cpu / longest):.2f} |", flush=True)


def header(examples: str, last: str) -> None:
    columns = ("1 thread, wall s", "2 threads", "gain", "1 thread, CPU s", "2 threads", last, "possible gain")
    print(f"\n| {examples} | {' | '.join(columns)} |")
    print("| --- |" + " ---: |" * len(columns))


def tagging(X: list[Any], y: list[Any], options: dict[str, Any], n_jobs: int) -> Callable[[], object]:
    return partial(SequenceTagger(n_jobs=n_jobs, **options).partial_fit, X, y)


def main() -> None:
    """Print Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--examples", type=int, default=20_000)
    arguments = parser.parse_args()
    repeats, n = arguments.repeats, arguments.examples
    X, y = documents(n)
    header("texts", "one only")
    for name, options in WAYS.items():
        make = partial(learning, stream.PassiveAggressiveClassifier, X, y, options)
        one, two, many = measured(make, (1, 2, MANY), repeats)
        show(name, one, two._replace(alone=many.alone), max(two.cpu / 2, many.alone))
    header("records", "of it reading")
    for names, classes, learner in product((20, 20_000), (2, 20), LEARNERS):
        make = partial(learning, learner, *records(n, names, classes), {})
        title = f"20 of {names:,} names, {classes} classes, {learner.__name__}"
        one, two = measured(make, (1, 2), repeats)
        show(title, one, two, max(two.alone, two.cpu - two.alone))
    header("sentences", "of it reading")
    words = [[(word, word[-1]) for word in text.split()[:20]] for text in X[: n // 5]]
    labels = [[label + end for _, end in sentence] for sentence, label in zip(words, y, strict=False)]
    for name, options in TAGGERS.items():
        one, two = measured(partial(tagging, list(map(WindowFeatures(), words)), labels, options), (1, 2), repeats)
        show(name, one, two, max(two.alone, two.cpu - two.alone))


if __name__ == "__main__":
    main()
