"""Learning texts with one thread and with two: wall clock, CPU time, and the time that only one thread can take.

The last column is the gain that these times allow on two cores that have nothing else to do: the time with one thread,
divided by half of the CPU time with two, or by the time of the thread that learns if that is longer, and at most 2.

With --stages, it measures records and sequences instead, which are learned with one thread: how long it takes to read
them and to learn them, and the gain if a second thread read ahead of the rounds at no cost.
"""

import argparse
from collections.abc import Callable
from functools import partial
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np
from timing import race

from onmargin import SequenceTagger, stream
from onmargin.features import RecordFeatures, WindowFeatures

WAYS = {
    "names": {},
    "hashed, 2^18": {"n_features": 2**18},
    "hashed, 2^20, pairs of words": {"n_features": 2**20, "ngrams": (1, 2)},
    "names, document frequencies": {"idf": True},
}
MANY = 8  # threads, so that the one that learns makes hardly any features


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


def stages(repeats: int, n: int) -> None:
    """Print the times of reading and of learning."""
    print("| examples | learner | us an example | of it reading | possible gain |\n| --- | --- | ---: | ---: | ---: |")
    for names in (20, 20_000):
        for classes in (2, 20):
            X, y = records(n, names, classes)
            for learner in (stream.PassiveAggressiveClassifier, stream.AROWClassifier):
                title = f"dicts, 20 of {names:,} names, {classes} classes | {learner.__name__}"
                show(title, partial(learned, learner, X, y), partial(read, X), repeats, n)
    X, y = documents(n // 10)
    words = [[(word, word[-1]) for word in text.split()[:20]] for text in X]
    sentences = list(map(WindowFeatures(), words))
    labels = [[label + end for _, end in sentence] for sentence, label in zip(words, y, strict=True)]
    tagger = SequenceTagger().partial_fit(sentences, labels)
    show(
        "sentences, 20 words, 20 labels | SequenceTagger",
        lambda: SequenceTagger().partial_fit(sentences, labels),
        lambda: tagger.read(sentences),
        repeats,
        len(X),
    )


def learned(learner: Any, X: list, y: list) -> None:
    learner().learn_many(X, y)


def read(X: list) -> None:
    RecordFeatures().reader(RecordFeatures().index()).read_all(X)


def show(title: str, learn: Callable[[], object], read: Callable[[], object], repeats: int, n: int) -> None:
    """Print a row of the times of reading and of learning."""
    taken = race({"learn": learn, "read": read}, repeats)
    longer = max(taken["read"], taken["learn"] - taken["read"])
    numbers = f"{taken['learn'] / n * 1e6:.2f} | {taken['read'] / n * 1e6:.2f} | {taken['learn'] / longer:.2f}"
    print(f"| {title} | {numbers} |", flush=True)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--stages", action="store_true", help="measure reading and learning of records and sequences")
    arguments = parser.parse_args()
    if arguments.stages:
        stages(arguments.repeats, arguments.documents)
        return
    X, y = documents(arguments.documents)
    print("| texts | 1 thread, wall s | 2 threads | gain | 1 thread, CPU s | 2 threads | one only | possible gain |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    clocks = (perf_counter, process_time, thread_time)
    for name, options in WAYS.items():
        best = {n: np.full(3, np.inf) for n in (1, 2, MANY)}
        for _ in range(arguments.repeats):
            for n, least in best.items():
                model = stream.PassiveAggressiveClassifier(features=RecordFeatures(n_jobs=n, **options))
                start = np.array([clock() for clock in clocks])
                model.learn_many(X, y)
                best[n] = np.minimum(least, np.array([clock() for clock in clocks]) - start)
        (wall, cpu, _), (wall2, cpu2, _), (_, _, alone) = best.values()
        print(
            f"| {name} | {wall:.3f} | {wall2:.3f} | {wall / wall2:.2f} | {cpu:.3f} | {cpu2:.3f} | {alone:.3f} | "
            f"{min(2, cpu / max(cpu2 / 2, alone)):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
