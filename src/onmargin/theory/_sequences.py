"""Losses of a competitor on sequences: the labeling of largest loss, found by dynamic programming."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onmargin._core.tasks.sequence import decode, decode_most_wrong
from onmargin._core.text.reader import Reader
from onmargin.estimators._sequences import read_labels
from onmargin.theory._halfspaces import Columns, HalfSpaces, with_bias
from onmargin.theory.certificate import NoTheorem

Vector = NDArray[np.float64]
Path = NDArray[np.int32]


@dataclass(frozen=True)
class Sequences:
    """True labelings, which must beat all others by the root of their cost; u is emission then transition weights."""

    X: Any  # tokens, CSR, intercept coordinate last
    ends: NDArray[np.intp]
    right: Path  # of all tokens
    cost: Vector
    squared: bool

    @property
    def n_weights(self) -> int:
        return int(len(self.cost) * (self.X.shape[1] + len(self.cost)))

    @property
    def n_rounds(self) -> int:
        return len(self.ends) - 1

    def losses(self, u: Vector) -> Vector:
        return self.rivals(u)[1]

    def rivals(self, u: Vector) -> tuple[Path, Vector]:
        """Return the labelings of largest loss of all sequences, concatenated, and their losses."""
        k, cut = len(self.cost), len(self.cost) * self.X.shape[1]
        emissions = np.ascontiguousarray(self.X @ u[:cut].reshape(k, -1).T)
        transitions = np.ascontiguousarray(u[cut:].reshape(k, k))
        if self.squared:
            rivals = decode(emissions + self.cost[self.right], transitions, self.ends)
        else:
            pieces = [
                decode_most_wrong(emissions[start:stop], transitions, self.right[start:stop])
                for start, stop in pairwise(self.ends)
                if stop > start
            ]
            rivals = np.concatenate([np.zeros(0, np.int32), *pieces])
        gained = self._sums(emissions, transitions, rivals) - self._sums(emissions, transitions, self.right)
        return rivals, np.maximum(gained + self._roots(rivals), 0.0)

    def planes(self, rivals: Path) -> tuple[Any, Vector]:
        """Return the directions from rivals to true labelings, one row per sequence, and the required margins."""
        return self._features(self.right) - self._features(rivals), self._roots(rivals)

    def _roots(self, path: Path) -> Vector:
        costs = self._per_sequence(self.cost[self.right, path])
        return costs if self.squared else np.sqrt(costs)

    def _sums(self, emissions: Vector, transitions: Vector, path: Path) -> Vector:
        tokens = emissions[np.arange(len(path)), path]
        first = np.zeros(len(path), bool)
        first[self.ends[:-1][np.diff(self.ends) > 0]] = True
        steps = np.where(first, 0.0, transitions[np.roll(path, 1), path])
        return self._per_sequence(tokens + steps)

    def _per_sequence(self, numbers: Vector) -> Vector:
        sums = np.append(0.0, np.cumsum(numbers))
        return np.diff(sums[self.ends])

    def _features(self, path: Path) -> Any:
        """Return Phi of every sequence: the sum of the rows of each label, then the count of each label transition."""
        k, d = len(self.cost), self.X.shape[1]
        owner = np.repeat(np.arange(self.n_rounds), np.diff(self.ends))
        tokens = self.X.tocoo()
        emitted = sparse.csr_matrix(
            (tokens.data, (owner[tokens.row], path[tokens.row] * d + tokens.col)), shape=(self.n_rounds, k * d)
        )
        later = np.flatnonzero(owner[1:] == owner[:-1]) + 1
        stepped = sparse.csr_matrix(
            (np.ones(len(later)), (owner[later], path[later - 1] * k + path[later])), shape=(self.n_rounds, k * k)
        )
        return sparse.hstack([emitted, stepped], format="csr")


def stack_planes(planes: list[tuple[Any, Vector]]) -> HalfSpaces:
    """Return the planes found so far as one problem, with one set per sequence; later planes may have more features."""
    n, width = planes[0][0].shape[0], planes[-1][0].shape[1]
    rows = sparse.vstack(
        [sparse.csr_matrix((d.data, d.indices, d.indptr), shape=(n, width)) for d, _ in planes], format="csr"
    )
    up = np.arange(n)[:, None] + n * np.arange(len(planes))
    required = np.stack([roots for _, roots in planes], axis=1)
    return HalfSpaces(Columns(rows, 1), up, np.full(up.shape, -1), required, np.ones(n), np.arange(n), n)


def read_sequences(run: Any, X: Any, y: Any, lengths: Any) -> tuple[Sequences, float]:
    """Return the sequences that a tagger has learned, and the largest cost of a labeling."""
    cost, squared = run._learner.task.cost, run._learner.task.squared
    if not squared and (cost[~np.eye(len(cost), dtype=bool)] != 1).any():
        raise NoTheorem(
            "with cost='hamming' and label_cost the labeling of largest loss cannot be found: use "
            "cost='squared_hamming', or label_cost=None"
        )
    _, ends = run._read(X, lengths, grow=False)
    labels = read_labels(y, ends, flat=run._names is None)
    right = np.array([run._codes[label] for row in labels for label in row], dtype=np.int32)
    if run._names is None:
        matrix = sparse.csr_matrix(X, dtype=np.float64)
    else:
        reader = Reader(run._names, grow=False, dtype=np.float64, separator=run.separator)
        for sequence in X:
            reader.read_all(run._tokens(sequence))
        values, indices, indptr = reader.arrays()
        matrix = sparse.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, len(run._names)))
    matrix = with_bias(matrix, run._learner.geometry.bias, auto=run.intercept_scaling == "auto")
    longest = float(np.diff(ends).max(initial=0)) * float(cost.max(initial=0))
    return Sequences(matrix, ends, right, cost, squared), longest**2 if squared else longest
