"""Shards: parts of the data for parallel training, each read in its own order."""

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, overload

from onmargin import io
from onmargin.io._reader import grouped
from onmargin.io.formats import FORMATS, guess_format

_BATCH = 1000  # records per batch, for formats that are read one record at a time


class Batch(NamedTuple):
    """A batch of consecutive examples of a shard.

    Attributes
    ----------
    X : csr_matrix or list
        Rows of numbers; or dicts, lists of names, texts, or sequences of tokens.
    y : ndarray, list or None
        The label or target of each example. None if there are none.
    weights : list of float or None, default=None
        The weight of each example. If None, all have the same weight.
    """

    X: Any
    y: Any = None
    weights: Sequence[float] | None = None


class Shard(Protocol):
    """A part of the data. It must be picklable, since it is sent to the worker process that reads it."""

    @property
    def name(self) -> str:
        """Return the name of the shard in errors and reports."""

    def batches(self) -> Iterator[Batch]:
        """Yield the examples in order; the order must be the same each time."""


@dataclass(frozen=True)
class _FileShard:
    """Shard with the examples of some files, one file after the other."""

    paths: tuple[str, ...]
    format: str
    features: Callable[[Any], Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        more = len(self.paths) - 1
        return self.paths[0] + (f" and {more} more" if more else "")

    def batches(self) -> Iterator[Batch]:
        read = getattr(io, f"read_{self.format}")
        for path in self.paths:
            records = read(path, **self.options)
            if FORMATS[self.format].kind == "rows":
                for X, y, _ in io.prefetch(records):
                    yield Batch(X, y)
            else:
                for group in grouped(records, _BATCH):
                    yield _batch(group, self.features)


def _batch(records: list[Any], features: Callable[[Any], Any] | None) -> Batch:
    columns = [list(column) for column in zip(*records, strict=True)]
    x, y = columns[:2]
    if features is not None:
        x = [features(example) for example in x]
    weights = columns[2] if len(columns) > 2 and set(columns[2]) != {1.0} else None
    return Batch(x, None if all(label is None for label in y) else y, weights)


class Shards(Sequence[Shard]):
    """Sequence of shards in a fixed order, for :func:`onmargin.scale.fit`.

    Parameters
    ----------
    parts : iterable of shards
        Objects with a `name` and `batches()`, such as those that :func:`shards` creates from files.
    """

    def __init__(self, parts: Iterable[Shard]) -> None:
        self._parts = tuple(parts)
        if not self._parts:
            raise ValueError("shards must be at least one part of the data; got none")

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, place: int) -> Shard: ...

    @overload
    def __getitem__(self, place: slice) -> "Shards": ...

    def __getitem__(self, place: int | slice) -> "Shard | Shards":
        return Shards(self._parts[place]) if isinstance(place, slice) else self._parts[place]

    def __repr__(self) -> str:
        return f"<{len(self)} shards, {self[0].name} first>"


def shards(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    n_shards: int | None = None,
    format: str | None = None,
    features: Callable[[Any], Any] | None = None,
    **options: Any,
) -> Shards:
    r"""Split files into shards for parallel training with averaged weights.

    The shards are in the order of the files. The result depends on this order, not on the number of workers. Examples
    within a shard are learned in their order: shuffle the data when you write the files, so that each file is a sample
    of all of it.

    Parameters
    ----------
    files : str, path-like or iterable of them
        A pattern such as "data/\*.parquet", whose files are sorted by name; or the files in the order to use.
    n_shards : int or None, default=None
        Number of shards, each with about the same number of consecutive files. If None, one shard per file. Each shard
        costs one copy of the weights per epoch, so combine many small files into fewer shards.
    format : str or None, default=None
        Format of all files, as named by :func:`guess_format`. If None, it is guessed.
    features : callable or None, default=None
        Function from an example as read to the input of the model, such as :class:`onmargin.features.WindowFeatures`
        for the tokens of a sentence. It is sent to the workers. If None, examples are used as they are read.
    **options : dict
        Options of the reader ``read_...`` of the format, such as ``label="spam"``.

    Returns
    -------
    shards : Shards
        The shards, for ``model.fit(shards, ...)`` and :func:`onmargin.scale.fit`. Files are read during training on the
        machine of the worker: every worker must be able to open them under these names.

    Raises
    ------
    ValueError
        If there is no such file, or the formats of the files differ.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from onmargin import PassiveAggressiveClassifier
    >>> from onmargin.io import shards
    >>> folder = tempfile.TemporaryDirectory()
    >>> for k in range(4):
    ...     text = "1 1:0.5 3:1\n-1 2:1\n" * 100
    ...     _ = pathlib.Path(folder.name, f"part{k}.svm").write_text(text)
    >>> model = PassiveAggressiveClassifier().fit(shards(f"{folder.name}/*.svm"), workers=1, epochs=2)
    >>> model.totals_.rounds, model.totals_.updates
    (1600, 72)
    >>> folder.cleanup()
    """
    paths = _listed(files)
    format = format or _common_format(paths)
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    if features is not None and FORMATS[format].kind == "rows":
        raise ValueError(
            f"features= is for examples that are read one at a time, and those of {format} are rows of numbers"
        )
    n = len(paths) if n_shards is None else n_shards
    if not 1 <= n <= len(paths):
        raise ValueError(f"n_shards must be from 1 to {len(paths)}, as many as there are files; got {n_shards!r}")
    bounds = [k * len(paths) // n for k in range(n + 1)]
    return Shards(_FileShard(tuple(paths[start:stop]), format, features, options) for start, stop in pairwise(bounds))


def _listed(files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    if isinstance(files, str | os.PathLike):
        pattern = os.fspath(files)
        paths = [pattern] if os.path.exists(pattern) else sorted(glob.glob(pattern, recursive=True))
        if not paths:
            raise ValueError(f"there is no file {pattern}")
        return paths
    paths = [os.fspath(path) for path in files]
    missing = [path for path in paths if not os.path.exists(path)]
    if missing or not paths:
        raise ValueError(f"there is no file {missing[0]}" if missing else "files must name at least one; got none")
    return paths


def _common_format(paths: list[str]) -> str:
    """Return the format of all files; empty files match any format."""
    filled = [path for path in paths if os.path.isdir(path) or os.path.getsize(path)]
    if not filled:
        raise ValueError(f"{paths[0]} is empty{' and so are the others' if len(paths) > 1 else ''}")
    formats = {path: guess_format(path) for path in filled}
    first = filled[0]
    for path, format in formats.items():
        if format != formats[first]:
            raise ValueError(f"{first} is {formats[first]} and {path} is {format}: shards have one format")
    return formats[first]
