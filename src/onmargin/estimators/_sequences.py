"""Conversion of sequences of tokens and labels to the rows and targets of trials; errors name the sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array

from onmargin._checks import check_sparse
from onmargin._core.rows import Rows
from onmargin._core.text.names import Names
from onmargin._core.text.reader import Reader
from onmargin.features.window import WindowFeatures
from onmargin.learner import Offsets, as_rows

LabelLists = list[list[Any]]
# Maximum size of the table of labels, tokens and errors of one sequence.
MOST_BYTES = 1 << 32


@dataclass(frozen=True)
class TokenRows:
    """Sequences whose features a tagger has looked up, for several calls of its `partial_fit`."""

    rows: Rows
    ends: Offsets
    names: Names  # of the tagger that has read them

    def __len__(self) -> int:
        return len(self.ends) - 1

    @property
    def n_values(self) -> int:
        """Total number of features of all tokens."""
        values, _, _ = self.rows.owners
        return len(values)


def is_matrix(X: Any) -> bool:
    """Return whether X has one row of numbers per token, not one item per sequence."""
    return hasattr(X, "shape") and len(X.shape) == 2 and not (isinstance(X, np.ndarray) and X.dtype.kind in "OU")


def each(value: Any, what: str, parts: str) -> Iterable[Any]:
    """Return a list of anything as an iterable; refuse strings and dicts."""
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        raise TypeError(f"{what} must be a list of {parts}, got {value!r:.100}")
    return value


def items(value: Any, what: str, parts: str) -> list[Any]:
    """Return the parts as a list; those of an array as Python numbers and strings."""
    parted = each(value, what, parts)
    return parted.tolist() if isinstance(parted, np.ndarray) else list(parted)


def read_named(
    X: Iterable[Any],
    names: Names,
    *,
    grow: bool,
    separator: str | None,
    window: WindowFeatures | None = None,
    first: int = 0,
) -> tuple[Rows, Offsets]:
    """Return the tokens as rows, and the offsets of the sequences; with `grow`, new names are added.

    Errors number the sequences from `first`.
    """
    reader = Reader(names, grow=grow, dtype=np.float64, separator=separator)
    ends = [0]
    for i, sequence in enumerate(each(X, "X", "sequences"), first):
        if is_matrix(sequence):
            raise TypeError(
                f"sequence {i} of X is a matrix: stack them with numpy.vstack(X) or scipy.sparse.vstack(X), and pass "
                "lengths=[x.shape[0] for x in X]"
            )
        tokens = each(sequence, f"sequence {i} of X", "tokens")
        try:
            reader.read_all(tokens if window is None else window(tokens))
        except (TypeError, ValueError) as error:
            raise type(error)(f"sequence {i} of X, token {len(reader) - ends[-1]}: {error}") from error
        ends.append(len(reader))
    values, indices, indptr = reader.arrays()
    return Rows(values, len(names), indices, indptr), np.array(ends, dtype=np.intp)


def read_matrix(X: Any, lengths: ArrayLike | None) -> tuple[Rows, Offsets]:
    """Return the rows of a matrix with one row per token, and the offsets of the sequences."""
    n = X.shape[0]
    if lengths is None:
        raise ValueError(
            f"X is a matrix of {n} tokens: pass the number of tokens per sequence as lengths=[...], or pass sequences"
        )
    sizes = np.asarray(lengths)
    if sizes.ndim != 1 or (sizes.size and sizes.dtype.kind not in "iu") or (sizes < 0).any() or sizes.sum() != n:
        raise ValueError(
            f"lengths must be the number of tokens of each sequence, {n} in all, as X has rows; got {lengths!r:.100}"
        )
    X = check_array(
        check_sparse(X, [np.float64]), accept_sparse="csr", dtype=np.float64, ensure_min_samples=0, input_name="X"
    )
    rows = as_rows(X if sparse.issparse(X) else sparse.csr_array(X))
    return rows, np.append(0, np.cumsum(sizes)).astype(np.intp)


def read_labels(y: Any, ends: Offsets, *, flat: bool) -> LabelLists:
    """Return one list of labels per sequence; with `flat`, y may also be one list for all tokens."""
    given = items(y, "y", "label lists")
    labels_only = isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuU"
    if flat and (labels_only or not any(isinstance(item, Iterable) and not isinstance(item, str) for item in given)):
        if len(given) != ends[-1]:
            raise ValueError(f"X has {ends[-1]} tokens, and y has {len(given)} labels")
        given = [given[start:stop] for start, stop in pairwise(ends.tolist())]
    if len(given) != len(ends) - 1:
        raise ValueError(f"X has {len(ends) - 1} sequences, and y has labels for {len(given)}")
    labels = []
    for i, row in enumerate(given):
        labels.append(items(row, f"sequence {i} of y", "labels"))
        tokens = int(ends[i + 1] - ends[i])
        if len(labels[i]) != tokens:
            raise ValueError(f"sequence {i} has {tokens} tokens and {len(labels[i])} labels")
    return labels


def find_ends(X: Any, y: Any) -> Offsets | None:
    """Return the offsets of the sequences if they are lists of tokens with lists of labels; otherwise None."""
    for given in (X, y):
        if not (isinstance(given, list | tuple) and all(isinstance(one, list | tuple) for one in given)):
            return None
    return np.cumsum([0, *map(len, X)], dtype=np.intp)


def check_kinds(labels: Iterable[Any]) -> None:
    """Refuse labels that are not all strings or all integers."""
    kinds = {type(label): label for label in labels}
    others = [label for kind, label in kinds.items() if not issubclass(kind, str)]
    odd = [label for label in others if not isinstance(label, int | np.integer)]
    if odd or 0 < len(others) < len(kinds):
        raise ValueError(
            f"labels must be all strings or all integers, as those known are; got {(odd or others)[0]!r:.100}"
        )


def check_lengths(ends: Offsets, n_labels: int) -> None:
    """Refuse a sequence for which the search for the labeling of largest loss takes too much memory."""
    lengths = np.diff(ends).tolist()
    tokens = max(lengths, default=0)
    size = tokens * (tokens + 1) * n_labels * np.dtype(np.float64).itemsize
    if size > MOST_BYTES:
        raise ValueError(
            f"sequence {lengths.index(tokens)} has {tokens} tokens: update='max_loss' with cost='hamming' would take "
            f"{size / 2**30:.0f} GB for it. Cut it, or use cost='squared_hamming', whose memory grows with the length."
        )


def label_segments(
    labels: LabelLists, known: Iterable[Any], live: Iterable[bool]
) -> Iterator[tuple[int, int, set[Any]]]:
    """Split the sequences where labels are learned for the first time: (start, stop, the labels new at start)."""
    seen = set(known)
    start, new = 0, set[Any]()
    for i, (row, learned) in enumerate(zip(labels, live, strict=True)):
        found = set(row) - seen if learned else set()
        if found:
            if i > start or new:
                yield start, i, new
            start, new = i, found
            seen |= found
    if len(labels) > start:
        yield start, len(labels), new
