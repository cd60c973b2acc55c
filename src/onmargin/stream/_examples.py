"""Kinds of examples, and iteration over several of them."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

import numpy as np

from onmargin._core.rows import Rows
from onmargin._frames import is_frame, records_of
from onmargin.learner import as_rows


def is_vector(x: Any) -> bool:
    """Return whether the features of an example are identified by position, not by name."""
    return isinstance(x, Rows) or hasattr(x, "tocsr") or (isinstance(x, np.ndarray) and x.dtype.kind in "biuf")


def is_sparse(x: Any) -> bool:
    """Return whether a vector is sparse."""
    return x.is_sparse() if isinstance(x, Rows) else hasattr(x, "tocsr")


class Vectors:
    """Conversion of vectors to rows, all of length `n_features`, or of any length if it is None."""

    def __init__(self, n_features: int | None, dtype: Any) -> None:
        self.n_features = n_features
        self.dtype = np.dtype(dtype)

    def __call__(self, x: Any) -> Rows:
        """Return one vector as a row."""
        if not is_vector(x):
            raise TypeError(f"this model learns vectors: x must be an array of numbers; got {x!r:.100}")
        rows = x if isinstance(x, Rows) else self.rows(x.reshape(1, -1) if x.ndim == 1 else x, "x")
        if rows.n_rows != 1:
            raise ValueError(f"x must be one vector, got {rows.n_rows} rows; learn_many and predict_many take several")
        if self.n_features is not None and rows.n_features != self.n_features:
            raise ValueError(f"x must have {self.n_features} features, as the first vector had; got {rows.n_features}")
        return rows

    def rows(self, X: Any, name: str) -> Rows:
        """Return the rows of a dense or sparse matrix."""
        if X.ndim != 2:
            raise ValueError(f"{name} must have one or two dimensions, got {X.ndim}")
        X = X.tocsr() if hasattr(X, "tocsr") else np.ascontiguousarray(X)
        X = X.astype(self.dtype, copy=False)
        values = X.data if hasattr(X, "indptr") else X
        with np.errstate(over="ignore", invalid="ignore"):  # a finite sum, which is faster, tells that all are finite
            finite = np.isfinite(values.sum()) or np.isfinite(values).all()
        if not finite:
            wrong = values[~np.isfinite(values)][0]
            raise ValueError(f"{name} must hold finite numbers that fit {self.dtype}; got {wrong}")
        return as_rows(X)


def each(X: Any, vectors: Vectors) -> Iterable[Any]:
    """Return the examples of a list, a matrix or a data frame, one by one."""
    if is_vector(X):
        return _rows(X if isinstance(X, Rows) else vectors.rows(X, "X"))
    if is_frame(X):
        return records_of(X)
    if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
        raise TypeError(f"X must be a list of examples, each a dict, a list of names or a text; got {X!r:.100}")
    return X


def _rows(rows: Rows) -> Iterator[Rows]:
    return (rows.part(i, i + 1) for i in range(rows.n_rows))


def check_lengths(**given: Any) -> None:
    """Refuse lists of different lengths, if their lengths are known."""
    lengths = {name: _length(value) for name, value in given.items() if isinstance(value, Rows | Sized)}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{' and '.join(lengths)} must have the same number of items; got {lengths}")


def _length(value: Any) -> int:
    if isinstance(value, Rows):
        return value.n_rows
    return int(value.shape[0]) if hasattr(value, "shape") else len(value)
