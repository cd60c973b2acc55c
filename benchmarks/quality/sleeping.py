"""Errors and CPU time of AutoClassifier and AutoRegressor with sleeping experts, and with all experts awake.

Usage: python benchmarks/quality/sleeping.py TABLES [--data DATA]

The first order of each table of collect.py is learned, up to 5,000 rows. DATA is the folder of the streams of
streams.py, of which elec, a9a and w8a are learned whole.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from streams import STREAMS, Stream
from tables import tables

from onmargin import AutoClassifier, AutoRegressor


def cases(folder: Path, data: Path | None) -> Iterator[tuple[str, type, Stream]]:
    for table in tables(folder):
        yield table.name, AutoRegressor if table.kind == "numbers" else AutoClassifier, table.orders[0]
    for name in ("elec", "a9a", "w8a") if data else ():
        yield name, AutoClassifier, STREAMS[name](data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    ratios: dict[type, list[list[float]]] = {AutoClassifier: [], AutoRegressor: []}
    for name, learner, (X, y) in cases(arguments.tables, arguments.data):
        lost, times = [], []
        for sleeping in (True, False):
            start = time.process_time()
            totals = learner(sleeping=sleeping).partial_fit(X, y).totals_
            times.append(time.process_time() - start)
            lost.append(totals.mistakes if learner is AutoClassifier else totals.loss)
        ratios[learner].append([(lost[0] + 1e-9) / (lost[1] + 1e-9), times[0] / times[1]])
        print(f"{name:24} {len(y):6} rows, lost {lost[0]:10.6g} and {lost[1]:10.6g}, time {times[0] / times[1]:.2f}")
    for learner, found in ratios.items():
        mean, worst = np.exp(np.log(found).mean(axis=0)), np.max(found, axis=0)
        print(
            f"{learner.__name__}: {len(found)} tables, lost {mean[0]:.4f}, at most {worst[0]:.4f}; time {mean[1]:.2f}, "
            f"at most {worst[1]:.2f}"
        )


if __name__ == "__main__":
    main()
