"""Survey of the features and labels of the shards, so that all are learned with the same ones from the start."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin.io.sharding import Batch
from onmargin.io.svmlight import SparseRows


@dataclass
class Findings:
    """Features and labels of one or several shards.

    `firsts` are single examples: the first that has a feature, and each with a label that no earlier example has. A
    model that learns them has seen all labels.
    """

    n_examples: int = 0
    n_features: int = 0  # if features are identified by index
    names: list[str] | None = None  # in order of first occurrence; None if features are identified by index
    firsts: list[Batch] = field(default_factory=list)
    labels: dict[Any, str] = field(default_factory=dict)  # place of the first occurrence of each label
    begun: bool = False  # whether an example had a feature

    def note(self, batch: Batch, labels: Any, place: str) -> None:
        """Record a batch; `labels` are those of its examples, or None if they have none."""
        self.n_examples += _length(batch.X)
        if hasattr(batch.X, "indptr"):
            self.n_features = max(self.n_features, batch.X.shape[1])
        live = np.arange(_length(batch.X)) if batch.weights is None else np.flatnonzero(np.asarray(batch.weights))
        wanted: set[int] = set()
        if not self.begun:
            lively = set(live.tolist())
            wanted.update(islice((i for i in _find_filled(batch.X) if i in lively), 1))
            self.begun = bool(wanted)
        for i, some in [] if labels is None else _newcomers(labels, live, self.labels):
            self.labels.update((label, place) for label in some if label not in self.labels)
            wanted.add(i)
        self.firsts += [Batch(_one(batch.X, i), batch.y[i : i + 1]) for i in sorted(wanted)]

    def merge(self, other: "Findings") -> None:
        """Add the findings of the next shard."""
        self.n_examples += other.n_examples
        self.n_features = max(self.n_features, other.n_features)
        if other.names is not None:
            self.names = list(dict.fromkeys([*(self.names or ()), *other.names]))
        if not self.begun or other.labels.keys() - self.labels.keys():
            self.firsts += other.firsts
        self.begun |= other.begun
        self.labels = other.labels | self.labels
        kinds = {isinstance(label, str): label for label in self.labels}
        if len(kinds) > 1:
            text, number = kinds[True], kinds[False]
            raise ValueError(
                f"labels must be all strings or all numbers: {self.labels[text]} has {text!r}, and "
                f"{self.labels[number]} has {number!r}"
            )


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _one(X: Any, i: int) -> Any:
    """Return one example as a batch."""
    return X.part(i, i + 1) if isinstance(X, SparseRows) else X[i : i + 1]


def _find_filled(X: Any) -> Iterable[int]:
    """Return the indices of the examples that have a feature."""
    if hasattr(X, "indptr"):
        return np.flatnonzero(np.diff(X.indptr) > 0).tolist()
    return (i for i, x in enumerate(X) if len(x))


def _newcomers(labels: Any, live: NDArray[np.intp], known: Iterable[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Yield the live examples that have labels not seen before, with their labels."""
    if isinstance(labels, np.ndarray):
        found, first = np.unique(labels[live], return_index=True)
        new = [(int(live[i]), [label]) for label, i in zip(found.tolist(), first, strict=True) if label not in known]
        yield from sorted(new)
        return
    seen = set(known)
    for i in live.tolist():
        some = list(labels[i]) if isinstance(labels[i], list | tuple | set | frozenset) else [labels[i]]
        if not seen.issuperset(some):
            seen.update(some)
            yield i, some
