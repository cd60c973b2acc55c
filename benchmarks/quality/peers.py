"""Peers for classification: linear ones with the best setting of a grid in hindsight, curved ones with defaults."""

from collections.abc import Sequence

import numpy as np
from peer import Best, Peer
from peer_capymoa import CAPYMOA_CLASSIFIERS
from peer_curved import RIVER_CLASSIFIERS
from peer_river import river
from peer_scikit_learn import descent, passive_aggressive, perceptron
from peer_vowpal_wabbit import vowpal_wabbit
from scipy.sparse import issparse
from streams import Stream
from tables import FIRST
from workloads import Workload

LINEAR: dict[str, Peer] = {
    "Vowpal Wabbit": vowpal_wabbit,
    "SGD": descent,
    "PA-I": passive_aggressive,
    "Perceptron": perceptron,
    "river": river,
}
CURVED: dict[str, Peer] = CAPYMOA_CLASSIFIERS | RIVER_CLASSIFIERS
FEW = 100  # columns of a table, which may have units; images and texts have more


def standardized(X: np.ndarray) -> np.ndarray:
    """Return rows minus the mean and divided by the deviation of all rows so far, including themselves."""
    count = np.arange(1, len(X) + 1)[:, None]
    centered = X - X[0]
    mean = np.cumsum(centered, axis=0) / count
    variance = np.maximum(np.cumsum(centered**2, axis=0) / count - mean**2, 0)
    return np.divide(centered - mean, np.sqrt(variance), out=np.zeros_like(centered), where=variance > 1e-12)


def raw_and_standardized(streams: Sequence[Stream]) -> dict[str, list[Stream]]:
    """Return the orders of a stream, raw and, for a table, standardized, by a suffix of the setting's name."""
    if issparse(streams[0][0]) or streams[0][0].shape[1] > FEW:
        return {"": list(streams)}
    return {"": list(streams), ", standardized": [(standardized(X), y) for X, y in streams]}


def workload(stream: Stream) -> Workload:
    X, y = stream
    classes, codes = np.unique(y, return_inverse=True)
    return Workload("", X, codes, np.arange(len(classes)))


def linear_peer(name: str, streams: Sequence[Stream]) -> Best | None:
    """Return the best setting of a linear peer on raw or standardized rows."""
    found = []
    for version, rows in raw_and_standardized(streams).items():
        best = LINEAR[name]([workload(stream) for stream in rows])
        if best is None:
            return None
        found.append(best._replace(setting=best.setting + version))
    return min(found, key=lambda best: best.error)


def curved_peer(name: str, streams: Sequence[Stream]) -> Best | None:
    """Return the result of a curved peer on the first rows of the first order."""
    X, y = streams[0]
    return CURVED[name]([workload((X[:FIRST], y[:FIRST]))])
