"""Examples with any number of labels, given as an indicator matrix or as label sets."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onmargin._checks import check_sparse, plain
from onmargin.learner import Offsets, Vector

ACCEPTED = "Y must be an indicator matrix of shape (n_samples, n_labels) or a list of label sets"

_SETS = (set, frozenset, list, tuple, np.ndarray)


@dataclass(frozen=True)
class LabelSets:
    """The labels of all examples in sequence, ascending within each example, and the offsets of the examples."""

    labels: NDArray[Any]
    offsets: Offsets
    width: int | None = None  # number of columns of the indicator matrix; None for label sets
    single: bool = False  # whether examples have one label each instead of sets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def as_lists(self) -> list[list[Any]]:
        """The labels of each example."""
        return [self.labels[start:stop].tolist() for start, stop in pairwise(self.offsets.tolist())]

    def part(self, start: int, stop: int) -> "LabelSets":
        """Return the label sets of the examples from `start` up to `stop`."""
        offsets = self.offsets[start : stop + 1]
        return replace(self, labels=self.labels[offsets[0] : offsets[-1]], offsets=offsets - offsets[0])

    def changes(self, live: NDArray[np.bool_]) -> list[int]:
        """Return the examples after the first that are the first of their label, if all have one label each."""
        _, first = np.unique(self.labels[live], return_index=True)
        return sorted(np.flatnonzero(live)[first].tolist())[1:]

    def owners(self) -> Offsets:
        """Return the example of each label."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def unknown(self, classes: NDArray[Any]) -> NDArray[np.bool_]:
        """Return a mask of the labels that are not among the sorted classes."""
        if not len(classes) or not len(self.labels):
            return np.ones(len(self.labels), bool)
        return np.asarray(classes[self._places(classes)] != self.labels)

    def codes(self, classes: NDArray[Any]) -> Vector:
        """Return the column of each label; arbitrary for unknown labels, whose examples have weight 0."""
        return self._places(classes).astype(np.float64)

    def matrix(self, classes: NDArray[Any]) -> NDArray[np.intp]:
        """Return the indicator matrix, one column per class; all labels must be known."""
        indicator = np.zeros((len(self), len(classes)), dtype=np.intp)
        indicator[self.owners(), np.searchsorted(classes, self.labels)] = 1
        return indicator

    def segments(self, classes: NDArray[Any], live: NDArray[np.bool_]) -> Iterator[tuple[int, int, NDArray[Any]]]:
        """Cut the stream where new labels appear: yield (start, stop, the new labels).

        Pieces without a learned example are left out.
        """
        owners = self.owners()
        new = self.unknown(classes) & live[owners]
        first = set(owners[new][np.unique(self.labels[new], return_index=True)[1]].tolist())
        for start, stop in pairwise(sorted({0, len(self)} | first)):
            if live[start:stop].any():
                yield start, stop, self.part(start, start + (start in first)).labels

    def _places(self, classes: NDArray[Any]) -> Offsets:
        return np.minimum(np.searchsorted(classes, self.labels), max(len(classes) - 1, 0))


def are_label_sets(y: Any) -> bool:
    """Return whether targets are label sets: an indicator matrix, or a sequence of sets, lists or tuples."""
    if sparse.issparse(y):
        return True
    if isinstance(y, Sequence) and not isinstance(y, str | bytes):
        return len(y) > 0 and isinstance(y[0], _SETS)
    y = np.asarray(y)
    return bool((y.ndim == 2 and y.shape[1] != 1) or (y.ndim == 1 and len(y) and isinstance(y[0], _SETS)))


def one_each(labels: NDArray[Any]) -> LabelSets:
    """Return labels, one per example, as label sets."""
    return LabelSets(labels, np.arange(len(labels) + 1, dtype=np.intp), single=True)


def read_label_sets(Y: Any, n_samples: int) -> LabelSets:
    """Return Y, given in either form with one row or set per example, as label sets; refuse anything else."""
    if Y is None:
        raise ValueError(f"{ACCEPTED}: learning labels requires y to be passed, but the target y is None")
    if hasattr(Y, "__array__") and not sparse.issparse(Y):
        Y = np.asarray(Y)
    if sparse.issparse(Y) or (isinstance(Y, np.ndarray) and (Y.ndim != 1 or Y.dtype.kind != "O")):
        sets = read_indicator(Y)
    elif isinstance(Y, str | bytes | Mapping) or not hasattr(Y, "__len__") or not hasattr(Y, "__iter__"):
        raise ValueError(f"{ACCEPTED}; got {quote(Y)}")
    else:
        sets = _read_sets(list(Y))
    if len(sets) != n_samples:
        raise ValueError(f"X and Y must have the same number of examples; got {n_samples} and {len(sets)}")
    return sets


def read_indicator(Y: Any) -> LabelSets:
    """Return the label sets of rows of zeros and ones, dense or sparse."""
    if sparse.issparse(Y):
        return _read_sparse(Y)
    Y = np.asarray(Y)
    if Y.ndim != 2:
        raise ValueError(
            f"{ACCEPTED}; got an array of shape {Y.shape}. For one label per example write [{{label}} for label in y], "
            "or learn with PassiveAggressiveClassifier."
        )
    if Y.dtype.kind == "O":  # such as columns of a frame that may have missing values
        try:
            Y = Y.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{ACCEPTED}; got an array of objects, {error}. For label sets give a list.") from error
    if Y.dtype.kind not in "biufc":
        raise ValueError(f"{ACCEPTED}; got an array of {Y.dtype}. For label sets give a list, such as Y.tolist().")
    if Y.dtype.kind != "b":
        _refuse_other_than_0_and_1(Y)
    rows, columns = np.nonzero(Y)
    return _indicate(columns, np.bincount(rows, minlength=len(Y)), Y.shape[1])


def _read_sparse(Y: Any) -> LabelSets:
    if len(Y.shape) != 2:
        raise ValueError(f"{ACCEPTED}; got a sparse array of shape {Y.shape}")
    Y = sparse.csr_matrix(check_sparse(Y, name="Y"), copy=True)
    Y.sum_duplicates()
    _refuse_other_than_0_and_1(Y.data)
    Y.eliminate_zeros()
    return _indicate(Y.indices, np.diff(Y.indptr), Y.shape[1])


def _refuse_other_than_0_and_1(values: NDArray[Any]) -> None:
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        raise ValueError(
            f"Y must hold 0 and 1 only, as an indicator matrix; got {values[wrong][0].item()!r}. To make one of "
            "numbers write Y > threshold, and of labels give a list of label sets."
        )


def _indicate(columns: NDArray[Any], counts: NDArray[Any], width: int) -> LabelSets:
    if not width:
        raise ValueError("Y has no columns: an indicator matrix has one per label")
    return LabelSets(columns.astype(np.int64), _offsets(counts), width)


def _read_sets(Y: Sequence[Any]) -> LabelSets:
    for i, labels in enumerate(Y):
        if isinstance(labels, str | bytes):
            raise ValueError(
                f"Y[{i}] is the string {quote(labels)}, not a set of labels: write {{{labels!r}}} for one label"
            )
        if (
            isinstance(labels, Mapping)
            or not hasattr(labels, "__len__")
            or not hasattr(labels, "__iter__")
            or getattr(labels, "ndim", 1) != 1
        ):
            raise ValueError(
                f"Y[{i}] is {quote(labels)}, not a set of labels: write a set, list or tuple, such as {{0, 2}} or []"
            )
    offsets = _offsets(np.fromiter(map(len, Y), dtype=np.intp, count=len(Y)))

    def place(k: int) -> str:
        return f"Y[{np.searchsorted(offsets, k, side='right') - 1}]"

    labels = read_labels(list(chain.from_iterable(Y)), place)
    sets = LabelSets(labels, offsets)
    owners = sets.owners()
    order = np.lexsort((np.unique(labels, return_inverse=True)[1], owners))
    labels = labels[order]
    again = (labels[1:] == labels[:-1]) & (owners[1:] == owners[:-1])
    if again.any():
        k = int(again.argmax())
        raise ValueError(
            f"{place(k)} names label {labels[k].item()!r} twice; a list is read as label sets. For an indicator matrix "
            "give an array: np.asarray(Y)"
        )
    return LabelSets(labels, offsets)


def read_labels(labels: Sequence[Any], place: Callable[[int], str]) -> NDArray[Any]:
    """Return labels as an array of strings or of integers; `place` names the k-th one in errors."""
    kinds = {kind: _kind(kind) for kind in set(map(type, labels))}
    if None in kinds.values():
        k = next(k for k, label in enumerate(labels) if kinds[type(label)] is None)
        raise ValueError(f"{place(k)} has the label {quote(labels[k])}; labels must be strings or integers")
    if len(set(kinds.values())) > 1:
        k = next(k for k, label in enumerate(labels) if kinds[type(label)] is not kinds[type(labels[0])])
        raise ValueError(
            f"labels must be all strings or all integers: {place(0)} has {quote(labels[0])}, and {place(k)} "
            f"{quote(labels[k])}. Convert them with str."
        )
    try:
        return np.array(labels, dtype=next(iter(kinds.values()), np.int64))
    except OverflowError as error:
        raise ValueError(f"{place(0)}: integer labels must fit 64 bits. Convert them with str.") from error


def _kind(kind: type) -> type | None:
    """Return the type of an array of such labels; None if it is not a label."""
    if kind is bool:
        return None
    return str if issubclass(kind, str) else np.int64 if issubclass(kind, Integral) else None


def _offsets(counts: NDArray[Any]) -> Offsets:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)


def quote(value: Any) -> str:
    """Return a value as shown in errors."""
    words = repr(plain(value))
    return words if len(words) <= 60 else f"{words[:57]}..."
