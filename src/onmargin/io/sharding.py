"""Data in parts: files that are learned in parallel, each in its own order."""

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, overload

from onmargin.io import prefetch
from onmargin.io.grouping import grouped
from onmargin.io.guess import FORMATS, guess_format

_BATCH = 1000  # records of formats that have them one at a time


class Batch(NamedTuple):
    """Some examples of a shard, one after the other.

    Attributes
    ----------
    X : csr_matrix or list
        Rows of numbers; or dicts, lists of names, texts, or sequences of tokens.
    y : ndarray, list or None
        The label or target of each; None if there are none.
    weights : list of float or None, default=None
        How much each counts; None: as much as any other.
    """

    X: Any
    y: Any = None
    weights: Sequence[float] | None = None


class Shard(Protocol):
    """A part of the data, which another process may read: it is sent there, and must be one that pickle can send."""

    @property
    def name(self) -> str:
        """What errors and reports call it."""

    def batches(self) -> Iterator[Batch]:
        """Its examples in their order, the same each time."""


@dataclass(frozen=True)
class _FileShard:
    """The examples of some files, one file after the other."""

    paths: tuple[str, ...]
    format: str
    features: Callable[[Any], Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        more = len(self.paths) - 1
        return self.paths[0] + (f" and {more} more" if more else "")

    def batches(self) -> Iterator[Batch]:
        read = getattr(import_module("onmargin.io"), f"read_{self.format}")
        for path in self.paths:
            records = read(path, **self.options)
            if self.format == "svmlight":
                for X, y, _ in prefetch(records):
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
    """Parts of the data in a fixed order, for :func:`onmargin.scale.fit`.

    Parameters
    ----------
    parts : iterable of shards
        Objects with a `name` and `batches()`, such as those that :func:`shards` makes of files.
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
    r"""Files as shards: parts of the data that are learned in parallel and mixed.

    The order of the shards is that of the files, and with it what is learned is fixed, however many workers there are.
    Examples within a shard are learned in their order: shuffle them when the files are written, and spread them so that
    each file has something of everything.

    Parameters
    ----------
    files : str, path-like or iterable of them
        A pattern such as "data/\*.parquet", whose files are taken by name; or the files, in the order to take them.
    n_shards : int or None, default=None
        How many shards to make, each of about as many files, one after the other. None: one a file. A shard costs a
        copy of the weights an epoch, so that many small files are better put together.
    format : str or None, default=None
        That of all files, as :func:`guess_format` names them. None: guessed.
    features : callable or None, default=None
        Makes of what is read of an example what a model learns, such as :class:`onmargin.features.WindowFeatures` of
        the tokens of a sentence. Workers are sent it. None: examples are learned as they are read.
    **options : dict
        What the reader ``read_...`` of the format is to be told, such as ``label="spam"``.

    Returns
    -------
    shards : Shards
        For ``model.fit(shards, ...)`` and :func:`onmargin.scale.fit`. Files are read when it learns from them, on the
        machine that does: every worker must see them under these names.

    Raises
    ------
    ValueError
        If there is no such file, or their formats differ.

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
    if features is not None and format == "svmlight":
        raise ValueError(
            "features= is for examples that are read one at a time, and those of svmlight are rows of numbers"
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
    """The one that all files have; those that are empty have any."""
    filled = [path for path in paths if os.path.isdir(path) or os.path.getsize(path)]
    if not filled:
        raise ValueError(f"{paths[0]} is empty{' and so are the others' if len(paths) > 1 else ''}")
    formats = {path: guess_format(path) for path in filled}
    first = filled[0]
    for path, format in formats.items():
        if format != formats[first]:
            raise ValueError(f"{first} is {formats[first]} and {path} is {format}: shards have one format")
    return formats[first]
