"""Chunks of examples from files, and the position in the data."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from onmargin.io import ReadError, prefetch
from onmargin.io.format import Recipe, grouped, is_pipe, number_parser
from onmargin.io.formats import FORMATS
from onmargin.io.svmlight import SparseRows
from onmargin.io.table_format import labels_present, odd_cells, split_labels

_FEW = 64  # texts that are added to a checksum at a time
CHUNK = 1000  # records per chunk, for formats that are read one record at a time


class Position(NamedTuple):
    """Position in the data: complete passes, complete files of the current pass, and records of the current file."""

    passes: int = 0
    files: int = 0
    records: int = 0


class Chunk(NamedTuple):
    """Examples: rows of numbers, or a list; `y` and `weights` are None if there are none.

    For tables, `rows` has the original rows of the examples.
    """

    X: Any
    y: Any = None
    weights: list[float] | None = None
    rows: list[Any] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0]) if isinstance(self.X, SparseRows) else len(self.X)

    def part(self, start: int, stop: int) -> "Chunk":
        """Return the examples from start up to stop."""
        X = self.X.part(start, stop) if isinstance(self.X, SparseRows) else self.X[start:stop]
        rest = (None if values is None else values[start:stop] for values in (self.y, self.weights, self.rows))
        return Chunk(X, *rest)

    def take(self, places: NDArray[np.int64]) -> "Chunk":
        """Return the examples at these indices, in order."""
        X = _rows_at(self.X, places) if isinstance(self.X, SparseRows) else [self.X[k] for k in places]
        y = (
            self.y[places]
            if isinstance(self.y, np.ndarray)
            else None
            if self.y is None
            else [self.y[k] for k in places]
        )
        rest = (None if values is None else [values[k] for k in places] for values in (self.weights, self.rows))
        return Chunk(X, y, *rest)


def _rows_at(X: SparseRows, places: NDArray[np.int64]) -> SparseRows:
    lengths = np.diff(X.indptr)[places]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    values = np.arange(ends[-1]) + np.repeat(X.indptr[places] - ends[:-1], lengths)
    return X._replace(
        data=X.data[values], indices=X.indices[values], indptr=ends.astype(np.int32), shape=(len(places), X.shape[1])
    )


def joined(chunks: list[Chunk]) -> Chunk:
    """Join several chunks into one."""
    if not chunks or not isinstance(chunks[0].X, SparseRows):
        y = None if all(part.y is None for part in chunks) else [label for part in chunks for label in part.y]
        weights = None
        if any(part.weights is not None for part in chunks):
            weights = [weight for part in chunks for weight in part.weights or [1.0] * len(part)]
        return Chunk([x for part in chunks for x in part.X], y, weights)
    parts = [part.X for part in chunks]
    ends = np.cumsum([0, *(len(part.data) for part in parts)])
    X = SparseRows(
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([*(part.indptr[:-1] + end for part, end in zip(parts, ends, strict=False)), ends[-1:]]).astype(
            np.int32
        ),
        (sum(part.shape[0] for part in parts), max(part.shape[1] for part in parts)),
    )
    labels = [part.y for part in chunks]
    several = not isinstance(labels[0], np.ndarray)
    return Chunk(X, [label for part in labels for label in part] if several else np.concatenate(labels))


@dataclass
class Digest:
    """Checksums that detect changed examples, independent of how the examples are divided into chunks.

    For rows of numbers there is one checksum each of the labels, lengths, indices and values, in order; those of the
    indices and values, which are many, are of a kind that is computed faster. For other examples there is one each of
    the texts, the examples that are not texts, the labels and the weights.
    """

    checksums: tuple[int, ...] = (0, 0, 0, 0)

    def update(self, chunk: Chunk) -> None:
        """Add examples."""
        X, y, n = chunk.X, chunk.y, len(chunk)
        if isinstance(X, SparseRows):
            labels: Any = y.data if isinstance(y, np.ndarray) else "".join(map(repr, y)).encode()
            of_labels, of_lengths, *of_features = self.checksums
            self.checksums = (
                crc32(labels, of_labels),
                crc32(np.diff(X.indptr).data, of_lengths),
                *X.checksums(*of_features),
            )
        else:
            # A text is added directly: its repr takes as long as reading it. A few at a time stay in the cache.
            texts = [x for x in X if type(x) is str]
            others = [x for x in X if type(x) is not str] if len(texts) < n else []
            text_sum, *sums = self.checksums
            for k in range(0, len(texts), _FEW):
                text_sum = crc32("\n".join([*texts[k : k + _FEW], ""]).encode("utf-8", "surrogatepass"), text_sum)
            labels = _shown(y) if y else "None" * n
            parts = _shown(others), labels, _shown(chunk.weights) if chunk.weights else "1.0" * n
            seen = (part.encode("utf-8", "surrogatepass") for part in parts)
            self.checksums = text_sum, *map(crc32, seen, sums)

    def __str__(self) -> str:
        return "".join(f"{checksum:08x}" for checksum in self.checksums)


def _shown(values: Sequence[Any]) -> str:
    if set(map(type, values)) == {str}:  # labels, of which there are few
        return "".join(map({value: repr(value) for value in set(values)}.__getitem__, values))
    return "".join(map(repr, values))


@dataclass
class Meter:
    """Progress in the current file; `size` is 0 if it is not known."""

    size: int = 0
    file: Any = field(default=None, repr=False)

    @property
    def fraction(self) -> float | None:
        return self.file.tell() / self.size if self.size and self.file is not None else None


class OddCells:
    """Counts of the cells in columns of numbers that are not numbers. A model treats them as missing values."""

    def __init__(self, recipe: Recipe) -> None:
        features = recipe.features
        self._parse = number_parser(features.get("decimal", "."), features.get("thousands"))
        self._missing = frozenset(features.get("missing", ()))
        self._n = dict.fromkeys(features.get("numbers", ()), 0)
        self._odd: dict[str, tuple[int, str]] = {}  # their number, and the first one

    def add(self, rows: list[Any]) -> None:
        """Count the cells of rows."""
        names = list(self._n)
        with suppress(KeyError, TypeError):  # rows with a number in each column, which a sum tells fastest
            if names:
                sum(map(sum, map(itemgetter(*names, names[0]), rows)))
            self._n = {name: n + len(rows) for name, n in self._n.items()}
            return
        rows = [row for row in rows if type(row) is dict]
        for name in names:
            cells = [row[name] for row in rows if name in row]
            self._n[name] += len(cells)
            words = [cell for cell in cells if type(cell) is str and cell not in self._missing]
            if odd := [cell for cell in words if self._parse(cell) is None]:
                n, first = self._odd.get(name, (0, odd[0]))
                self._odd[name] = n + len(odd), first

    def problems(self, but: Collection[str] = ()) -> list[str]:
        """Return a sentence for each column."""
        return [odd_cells(name, n, self._n[name], first) for name, (n, first) in self._odd.items() if name not in but]


def read_chunks(
    path: str,
    recipe: Recipe,
    *,
    labeled: bool = True,
    size: int = CHUNK,
    meter: Meter | None = None,
    on_error: Callable[[ReadError], None] | None = None,
    odd: OddCells | None = None,
) -> Iterator[Chunk]:
    """Yield the examples of a file; those before a bad record are yielded before its error, or before `on_error`."""
    meter = meter or Meter()
    with ExitStack() as stack:
        source: Any = path
        meter.file, meter.size = None, 0
        format = FORMATS[recipe.format]
        if format.is_stream and not is_pipe(path):
            source = meter.file = stack.enter_context(open(path, "rb"))
            meter.size = os.fstat(source.fileno()).st_size
        records = format.records(source, recipe, labeled=labeled)
        records.on_error = on_error
        if format.kind == "rows":
            chunks = (Chunk(X, y) for X, y, _ in records)
        else:
            make = _sequences if format.kind == "sequences" else _Rows(recipe, labeled, odd)
            chunks = (make(group) for group in grouped(records, size))
        # A thread that waits for a pipe cannot be stopped.
        for chunk in chunks if is_pipe(path) else prefetch(chunks):
            yield from _cut(chunk, size)
        meter.file = None


def _cut(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """Yield a block unchanged, or in smaller pieces if `size` requires it."""
    if size >= CHUNK or len(chunk) <= size:
        yield chunk
        return
    for start, stop in pairwise([*range(0, len(chunk), size), len(chunk)]):
        yield chunk.part(start, stop)


def _sequences(group: list[Any]) -> Chunk:
    x, y = list(map(itemgetter(0), group)), list(map(itemgetter(1), group))
    return Chunk(x, None if y[0] is None else y)


class _Rows:
    """Converter of records to chunks: sets of labels, and the columns of this file that the model has not."""

    def __init__(self, recipe: Recipe, labeled: bool, odd: OddCells | None) -> None:
        self._recipe, self._labelled, self._odd = recipe, labeled, odd
        options = recipe.features
        self._text = options["text"] if isinstance(options.get("text"), str) else None
        self._own = recipe.renamed or recipe.selected

    def __call__(self, group: list[Any]) -> Chunk:
        recipe, x = self._recipe, list(map(itemgetter(0), group))
        y, weights = list(map(itemgetter(1), group)), list(map(itemgetter(2), group))
        if self._odd is not None:
            self._odd.add(x)
        if self._labelled and recipe.labels:
            y = [labels_present(row, recipe.labels) for row in x]
        elif self._labelled and recipe.label_separator is not None:
            cells = (row.get(recipe.label) if label is None else label for row, label in zip(x, y, strict=True))
            y = [split_labels(cell, recipe.label_separator) for cell in cells]
        examples = x
        if self._text is not None:  # the example is the text, whatever the column is called
            examples = [str(row.get(self._text, "")) if isinstance(row, dict) else row for row in x]
        elif self._own:
            examples = list(map(self._select, x))
        return Chunk(examples, y, None if set(weights) == {1.0} else weights, x)

    def _select(self, row: Any) -> Any:
        """Return a row with the columns of the model: some are renamed, and others are left out."""
        if not isinstance(row, dict):
            return row
        renamed, options = self._recipe.renamed, self._recipe.features
        only, ignored = options.get("only"), options.get("ignore", ())
        return {
            renamed.get(name, name): value
            for name, value in row.items()
            if name not in ignored and (not only or name in only or name.partition(":")[0] in only)
        }
