"""Learning texts with one thread and with two: wall clock, CPU time, and the time that only one thread can take.

The last column is the gain that these times allow on two cores that have nothing else to do: the time with one thread,
divided by half of the CPU time with two, or by the time of the thread that learns if that is longer, and at most 2.
"""

import argparse
from time import perf_counter, process_time, thread_time

import numpy as np

from onmargin import stream
from onmargin.features import RecordFeatures

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


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--documents", type=int, default=20_000)
    arguments = parser.parse_args()
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
