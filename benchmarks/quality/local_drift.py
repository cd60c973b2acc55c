"""Mistakes of AutoClassifier in % on streams whose classes move or change places: local_drift.py [SEED ...].

The first five streams resemble those on which nearest neighbors with a short memory do best; the others are river's.
"""

import sys
from collections.abc import Callable
from functools import partial
from itertools import islice

import numpy as np
from river.datasets import synth

from onmargin import AutoClassifier

ROWS = 6000
Stream = tuple[np.ndarray, np.ndarray]


def moving_squares(random: np.random.Generator) -> Stream:
    """Four squares in a row, which move along it and back."""
    y, way = random.integers(0, 4, ROWS), np.arange(ROWS) * 0.01 % 8
    X = random.uniform(size=(ROWS, 2))
    X[:, 0] += y + np.minimum(way, 8 - way)
    return X, y


def changing_places(random: np.random.Generator) -> Stream:
    """Eight clouds whose classes change places every 400 rows."""
    centers, y = random.uniform(0, 10, (8, 2)), random.integers(0, 8, ROWS)
    places = np.repeat([random.permutation(8) for _ in range(ROWS // 400)], 400, axis=0)
    return centers[places[np.arange(ROWS), y]] + random.normal(scale=0.5, size=(ROWS, 2)), y


def chessboards(random: np.random.Generator) -> Stream:
    """Squares of a board with random classes, others every 500 rows."""
    boards, X = random.integers(0, 2, (ROWS // 500, 8, 8)), random.uniform(0, 8, (ROWS, 2))
    places = X.astype(int)
    return X, boards[np.arange(ROWS) // 500, places[:, 0], places[:, 1]]


def moving_clouds(random: np.random.Generator) -> Stream:
    """Ten clouds of three classes, each of which moves straight on and is reflected at the walls."""
    centers, labels, cloud = random.uniform(size=(10, 4)), random.integers(0, 3, 10), random.integers(0, 10, ROWS)
    ways = random.normal(size=(10, 4))
    ways *= 0.02 / np.linalg.norm(ways, axis=1, keepdims=True)
    way = (centers[cloud] + (1 + np.arange(ROWS))[:, None] * ways[cloud]) % 2
    return np.minimum(way, 2 - way) + random.normal(scale=0.05, size=(ROWS, 4)), labels[cloud]


def rotating_line(random: np.random.Generator) -> Stream:
    """A line between two classes that turns once in 2,000 rows."""
    X, angle = random.normal(size=(ROWS, 5)), np.arange(ROWS) * np.pi / 1000
    return X, (X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle) > 0).astype(int)


def random_rbf(speed: float, random: np.random.Generator) -> Stream:
    seed = int(random.integers(1000))
    examples = synth.RandomRBFDrift(
        seed, seed, n_classes=4, n_features=6, n_centroids=20, change_speed=speed, n_drift_centroids=20
    )
    rows, y = zip(*islice(examples, ROWS), strict=True)
    return np.array([list(row.values()) for row in rows]), np.array(y)


STREAMS: dict[str, Callable[[np.random.Generator], Stream]] = {
    "moving squares": moving_squares,
    "classes that change places": changing_places,
    "chessboards": chessboards,
    "moving clouds": moving_clouds,
    "rotating line": rotating_line,
    **{f"RandomRBF, speed {speed}": partial(random_rbf, speed) for speed in (0.01, 0.02, 0.05)},
}


def main() -> None:
    seeds = list(map(int, sys.argv[1:])) or [0, 1]
    for name, make in STREAMS.items():
        streams = [make(np.random.default_rng(seed)) for seed in seeds]
        wrong = [AutoClassifier().partial_fit(X, y, classes=np.unique(y)).totals_.mistakes for X, y in streams]
        print(f"{name} | {100 * np.mean(wrong) / ROWS:.2f}", flush=True)


if __name__ == "__main__":
    main()
