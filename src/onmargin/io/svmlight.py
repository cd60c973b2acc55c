"""Sparse rows in SVMlight and LIBSVM format, parsed in blocks by compiled code."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from onmargin._core.files.checksum import add_words
from onmargin._core.files.svmlight import Parser
from onmargin.io._reader import Reader, byte_reader
from onmargin.io._source import Place, RecordError, Source
from onmargin.io.format import (
    FileProfile,
    Format,
    Head,
    LabelNumbers,
    Options,
    Recipe,
    UnwritableError,
    Write,
    named_values,
)

if TYPE_CHECKING:
    from scipy import sparse

# A decimal number, and a line; nothing in them is tried twice, so that the time is linear in the length of a line.
NUMBER = r"[-+]?+(?>\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?+\d++)?+"
_LINE = rf"#|(?:{NUMBER}(?:,{NUMBER})*+(?=[\s#]|$))?+\s*+(?:qid:\d++\s++)?+(?:\d++:{NUMBER}(?:\s++|$))*+(?:#|$)"
_END_OF_LINE = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LARGE = 1 << 24  # bytes of a block that is read as one piece
_PIECE = 1 << 18  # bytes that are read at once, few enough to stay in the cache until they are parsed
# Largest index accepted if n_features is not given: a model with one column of weights takes 8 bytes per feature.
MAX_FEATURES = 1 << 26


class Block(NamedTuple):
    """A block of consecutive rows.

    Attributes
    ----------
    X : csr_matrix of shape (n_rows, n_features)
        The rows.
    y : ndarray of shape (n_rows,), or list of tuples of int
        The label of each row, or its labels if ``multilabel=True``.
    qid : ndarray of shape (n_rows,) or None
        The group of each row. None if rows have no groups.
    """

    X: "sparse.csr_matrix"
    y: NDArray[np.float64] | list[tuple[int, ...]]
    qid: NDArray[np.int64] | None


def read_svmlight(
    path: Source,
    *,
    n_features: int | None = None,
    hashed: bool = False,
    zero_based: bool = False,
    multilabel: bool = False,
    dtype: DTypeLike = np.float64,
    block: int = 1 << 22,
) -> Reader[Block]:
    r"""Read a file in SVMlight or LIBSVM format in blocks of sparse rows.

    A line has a label and features as pairs of an index and a value: ``1 3:0.5 8:2 # comment``. A group may follow the
    label: ``qid:7``. Several labels are separated by commas.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.
    n_features : int or None, default=None
        Number of columns. A larger index is an error. If None, each block is as wide as the rows so far require, which
        is enough to inspect a file; a model needs the same number of columns in every block. An index beyond 2**26 is
        then an error, since a single index would determine the size of a model.
    hashed : bool, default=False
        Whether indices of any size are hashed to ``n_features`` columns, a power of two. Values in the same column are
        added.
    zero_based : bool, default=False
        Whether the first feature has index 0. It is 1 in most files, and 0 in files written by scikit-learn with its
        default settings.
    multilabel : bool, default=False
        Whether rows may have any number of labels, which must be integers.
    dtype : dtype, default=numpy.float64
        Type of the values: float64 or float32.
    block : int, default=2**22
        Minimum number of characters of text per block; a block ends with a complete row. It bounds the memory use.

    Returns
    -------
    blocks : Reader of Block
        Rows, labels and groups. How a file is divided into blocks makes no difference to an online learner.

    Raises
    ------
    ReadError
        During iteration, after a block with the rows before the error: if a line is malformed, a number is not finite,
        or the indices of a row do not increase.

    See Also
    --------
    prefetch : Parse the next blocks while a model learns from the current one.
    sklearn.datasets.load_svmlight_file : Read a whole file into memory.

    Notes
    -----
    The parser releases the global interpreter lock. Values are correctly rounded and equal those of Python's ``float``.

    Examples
    --------
    >>> import io
    >>> from onmargin import PassiveAggressiveClassifier
    >>> from onmargin.io import read_svmlight
    >>> text = "1 1:0.5 3:1\n-1 2:1\n" * 1000
    >>> model = PassiveAggressiveClassifier()
    >>> for X, y, qid in read_svmlight(io.StringIO(text), n_features=3, block=5000):
    ...     model = model.partial_fit(X, y, classes=[-1, 1])
    >>> model.totals_.rounds
    2000
    """
    plain = read_rows(
        path,
        n_features=n_features,
        hashed=hashed,
        zero_based=zero_based,
        multilabel=multilabel,
        dtype=dtype,
        block=block,
    )

    def blocks(at: Place) -> Iterator[Block]:
        from scipy import sparse

        for rows, y, qid in plain.records(at):
            X = sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)
            X.has_canonical_format = True  # the parser accepts only increasing indices
            yield Block(X, y, qid)

    return Reader(plain.path, blocks)


class SparseRows(NamedTuple):
    """Minimal CSR matrix for learning without scipy, which takes a quarter of a second to import.

    The indices of each row increase and are within the columns, so that nobody needs to check them.
    """

    data: NDArray[Any]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int32]
    shape: tuple[int, int]

    @property
    def is_canonical(self) -> bool:
        return True

    @property
    def ndim(self) -> int:
        return 2

    def tocsr(self) -> Self:
        return self

    def astype(self, dtype: DTypeLike, copy: bool = True) -> Self:
        return self._replace(data=self.data.astype(dtype, copy=copy))

    def part(self, start: int, stop: int) -> Self:
        """Return the rows from start up to stop."""
        first, last = self.indptr[start], self.indptr[stop]
        ends = self.indptr[start : stop + 1] - first
        return self._replace(
            data=self.data[first:last],
            indices=self.indices[first:last],
            indptr=ends,
            shape=(stop - start, self.shape[1]),
        )

    def checksums(self, of_indices: int, of_values: int) -> tuple[int, int]:
        """Return the checksums of the indices and of the values, continued from those of earlier rows."""
        return add_words(self.indices, of_indices), add_words(self.data, of_values)

    def hashed(self, n_features: int) -> Self:
        """Return the rows with indices hashed to `n_features`, a power of two."""
        mixed = self.indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(33)
        places = mixed.astype(np.int64) >> (32 - n_features.bit_length())
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        kept, of = np.unique(rows * n_features + places, return_inverse=True)
        with np.errstate(over="ignore"):
            data = np.bincount(of, self.data, len(kept)).astype(self.data.dtype)
        if not np.isfinite(data).all():
            raise RecordError("the values of features that are hashed to one column must have a finite sum")
        ends = np.searchsorted(kept, np.arange(self.shape[0] + 1) * n_features).astype(np.int32)
        return self._replace(
            data=data, indices=(kept % n_features).astype(np.int32), indptr=ends, shape=(self.shape[0], n_features)
        )

    def fitted(self, n_features: int) -> Self:
        """Return the rows with `n_features` columns; features beyond are dropped."""
        if self.shape[1] <= n_features:
            return self._replace(shape=(self.shape[0], n_features))
        kept = self.indices < n_features
        ends = np.concatenate([[0], np.cumsum(kept)])[self.indptr].astype(np.int32)
        return self._replace(
            data=self.data[kept], indices=self.indices[kept], indptr=ends, shape=(self.shape[0], n_features)
        )


def read_rows(
    path: Source,
    *,
    n_features: int | None = None,
    hashed: bool = False,
    zero_based: bool = False,
    multilabel: bool = False,
    dtype: DTypeLike = np.float64,
    block: int = 1 << 22,
) -> Reader[tuple[SparseRows, Any, NDArray[np.int64] | None]]:
    """Read the same as `read_svmlight`, but as arrays."""
    for name, value, least in (("block", block, 1), ("n_features", n_features, 1)):
        if value is not None and value < least:
            raise ValueError(f"{name} must be at least {least}; got {value!r}")
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64; got {dtype!r}")
    if hashed and (n_features is None or n_features.bit_count() != 1 or n_features > 2**31):
        raise ValueError(f"hashed=True needs n_features, a power of two up to 2**31; got n_features={n_features!r}")
    limit = -1 if hashed else n_features or MAX_FEATURES

    def blocks(stream: BinaryIO, at: Place) -> Iterator[tuple[SparseRows, Any, NDArray[np.int64] | None]]:
        # Room for a large block is made when its text is there.
        piece, capacity = (min(block, _PIECE), block + _PIECE) if block <= _LARGE else (block, 0)
        parser = Parser(zero_based, multilabel, limit, dtype, capacity)
        at.max_record += block + piece  # read ahead
        at.record = 1

        def collected() -> Iterator[tuple[SparseRows, Any, NDArray[np.int64] | None]]:
            labels, label_ends, indptr, indices, values, qid, n_lines = parser.take_rows()
            n_rows = len(indptr) - 1
            at.record = (at.record or 0) + n_rows
            at.line += n_lines
            if n_rows:
                X = SparseRows(values, indices, indptr, (n_rows, n_features or parser.width))
                X = X.hashed(n_features) if hashed and n_features is not None else X
                yield X, _label_sets(labels, label_ends) if multilabel else labels, qid

        try:
            for piece_text, piece_stop in _texts(stream, piece):
                text, stop = piece_text, piece_stop
                if parser.n_characters and parser.n_characters + stop > parser.capacity:
                    yield from collected()
                while stop and (problem := parser.parse(text, stop)):
                    yield from collected()
                    at.line += 1
                    if "beyond n_features" in problem and n_features is None:
                        problem += f". Indices go up to {limit}: set n_features to more, or hashed=True (--hash)"
                    if at.skip is None:
                        raise RecordError(problem)
                    at.skip(RecordError(problem))
                    at.record += 1
                    # Continue after the skipped line.
                    start = next(_END_OF_LINE.finditer(text, parser.line_start, stop)).end()
                    text, stop = text[start:stop], stop - start
                if parser.n_characters >= block:
                    yield from collected()
        except RecordError:
            if parser.n_characters:
                yield from collected()
            raise
        if parser.n_characters:
            yield from collected()

    return byte_reader(path, blocks)


def _texts(stream: BinaryIO, size: int) -> Iterator[tuple[bytearray, int]]:
    """Yield pieces of about `size` bytes and the end of their last complete line, also those before damaged data.

    All pieces share one buffer: allocating new memory costs as much as reading into it.
    """
    text, used = bytearray(size + len(_BYTE_ORDER_MARK)), 0
    damage, more, started = None, True, False
    while more:
        try:
            n = stream.readinto1(memoryview(text)[used:])  # type: ignore[attr-defined]
        except RecordError as error:
            n, damage = 0, error
        used, more = used + n, n > 0
        if more and used < max(size, len(_BYTE_ORDER_MARK)):
            continue
        if not started and text.startswith(_BYTE_ORDER_MARK, 0, used):
            used -= len(_BYTE_ORDER_MARK)
            text[:used] = text[len(_BYTE_ORDER_MARK) : len(_BYTE_ORDER_MARK) + used]
        started = True
        if not more and damage is None and used:
            text[used:] = b"\n"
            used += 1
        stop = _end_of_lines(text, used)
        if stop:
            yield text, stop
            text[: used - stop] = text[stop:used]
            used -= stop
        if more and used == len(text):  # a line is longer than the buffer
            text.extend(bytes(used))
    if damage is not None:
        raise damage


def _end_of_lines(text: bytearray, used: int) -> int:
    r"""Return the end of the last complete line; a final \r may be half of a \r\n."""
    return text.rfind(b"\n", 0, used) + 1 or text.rfind(b"\r", 0, used - 1) + 1


def _label_sets(labels: NDArray[np.float64], ends: NDArray[np.int32]) -> list[tuple[int, ...]]:
    whole = labels.astype(np.int64).tolist()
    return [tuple(whole[start:stop]) for start, stop in pairwise(ends.tolist())]


class Svmlight(Format):
    """SVMlight and LIBSVM text."""

    name = "svmlight"
    kind = "rows"
    options = frozenset({"zero_based"})
    numbers_labels = numbers_features = True

    def matches(self, head: Head) -> bool:
        return head.mostly(_LINE) and any(":" in line for line in head.filled)

    def profile(self, path: str, recipe: Recipe, given: Options) -> FileProfile:
        bits = given.get("hash")
        several = given.get("multilabel") or re.match(r"\S+,", Head(path).first) is not None
        dialect = {
            "zero_based": bool(given.get("zero_based")),
            "multilabel": bool(several),
            "dtype": given.get("dtype") or "float32",
            "hashed": bits is not None,
            "n_features": None if bits is None else 2**bits,
        }
        return FileProfile(recipe.with_dialect(**dialect))

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        # Rows without labels are read as multilabel rows, which may have any number of labels.
        several = recipe.dialect["multilabel"] or not labeled
        return read_rows(source, **{**recipe.dialect, "multilabel": several})

    def has_labels(self, path: str, recipe: Recipe) -> bool:
        return re.match(r"\s|\d+:", Head(path).first) is None

    def writer(self, out: IO[str], names: IO[str] | None, labels: LabelNumbers) -> Write:
        """Return a writer; features are numbered in order of first occurrence, unless they are numbers."""
        numbers: dict[str, int] = {}

        def number(name: str) -> int:
            if names is None:
                if not (name.isascii() and name.isdigit()) or int(name) < 1:
                    raise UnwritableError(
                        f"features are numbered in svmlight, and {name!r} has a name: keep them with --names FILE"
                    )
                return int(name)
            if name not in numbers:
                numbers[name] = len(numbers) + 1
                names.write(f"{name}\n")
            return numbers[name]

        def write(x: Any, y: Any, weight: float) -> None:
            if weight != 1.0:
                raise UnwritableError("svmlight has no weights")
            pairs = sorted((number(name), value) for name, value in named_values(x).items())
            label = "0" if y is None else labels.text(y)
            out.write(" ".join([label, *(f"{k}:{value!r}" for k, value in pairs)]) + "\n")

        return write
