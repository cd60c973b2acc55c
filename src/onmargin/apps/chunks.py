"""Examples of files, some at a time, and how far one has come."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from onmargin.apps.formats import Settings
from onmargin.io import prefetch
from onmargin.io.grouping import grouped
from onmargin.io.svmlight import SparseRows

CHUNK = 1000  # records of formats that have them one at a time


class Position(NamedTuple):
    """How much is done: whole passes, whole files of the pass after them, and records of the file after those."""

    passes: int = 0
    files: int = 0
    records: int = 0


class Chunk(NamedTuple):
    """Examples: rows of numbers, or a list; `y` and `weights` are None where there are none."""

    X: Any
    y: Any = None
    weights: list[float] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0]) if isinstance(self.X, SparseRows) else len(self.X)

    def part(self, start: int, stop: int) -> "Chunk":
        """Some of the examples."""
        X = self.X.part(start, stop) if isinstance(self.X, SparseRows) else self.X[start:stop]
        return Chunk(
            X,
            None if self.y is None else self.y[start:stop],
            None if self.weights is None else self.weights[start:stop],
        )


@dataclass
class Digest:
    """Tells whether examples have changed since they were learned. How they were cut into chunks makes no difference.

    Of rows of numbers the labels, the lengths, the indices and the values have a checksum each, in their order.
    """

    checksums: tuple[int, ...] = (0, 0, 0, 0)

    def update(self, chunk: Chunk) -> None:
        """Take in more examples."""
        X, y, n = chunk.X, chunk.y, len(chunk)
        if isinstance(X, SparseRows):
            labels: Any = y.data if isinstance(y, np.ndarray) else "".join(map(repr, y)).encode()
            seen: tuple[Any, ...] = labels, np.diff(X.indptr).data, X.indices.data, X.data.data
        else:
            examples = zip(X, y or [None] * n, chunk.weights or [1.0] * n, strict=True)
            seen = ("".join(map(repr, examples)).encode("utf-8", "surrogatepass"), b"", b"", b"")
        self.checksums = tuple(map(crc32, seen, self.checksums))

    def __str__(self) -> str:
        return "".join(f"{checksum:08x}" for checksum in self.checksums)


@dataclass
class Meter:
    """How much of the file that is being read has been read; `size` is 0 if nobody knows."""

    size: int = 0
    file: Any = field(default=None, repr=False)

    @property
    def fraction(self) -> float | None:
        return self.file.tell() / self.size if self.size and self.file is not None else None


def read_chunks(
    path: str, settings: Settings, *, labelled: bool = True, size: int = CHUNK, meter: Meter | None = None
) -> Iterator[Chunk]:
    """The examples of a file; all before a record that is wrong come before its error."""
    meter = meter or Meter()
    with ExitStack() as stack:
        source: Any = path
        meter.file, meter.size = None, 0
        # Arrow's readers jump about in a file, and a folder is none.
        if path != "-" and settings.format not in {"arrow", "folder"}:
            source = meter.file = stack.enter_context(open(path, "rb"))
            meter.size = os.fstat(source.fileno()).st_size
        records = settings.read(source, labelled=labelled)
        if settings.kind == "rows":
            chunks = (Chunk(X, y) for X, y, _ in records)
        else:
            chunks = (_chunk(group, settings) for group in grouped(records, size))
        # A thread that waits for a pipe could not be stopped.
        for chunk in chunks if path == "-" else prefetch(chunks):
            yield from _cut(chunk, size)
        meter.file = None


def _cut(chunk: Chunk, size: int) -> Iterator[Chunk]:
    """A block as it is, unless smaller pieces were asked for."""
    if size >= CHUNK or len(chunk) <= size:
        yield chunk
        return
    for start, stop in pairwise([*range(0, len(chunk), size), len(chunk)]):
        yield chunk.part(start, stop)


def _chunk(group: list[Any], settings: Settings) -> Chunk:
    x, y = list(map(itemgetter(0), group)), list(map(itemgetter(1), group))
    if settings.kind == "sequences":
        return Chunk(x, None if y[0] is None else y)
    weights = list(map(itemgetter(2), group))
    if settings.text is not None:
        x = [record.get(settings.text, "") for record in x]
    return Chunk(x, y, None if set(weights) == {1.0} else weights)
