"""Conversion of examples from one file format to another."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any

import click

from onmargin.apps.chunks import read_chunks
from onmargin.apps.failure import Failure
from onmargin.apps.formats import Settings
from onmargin.apps.looks import check_files, has_labels, look_at
from onmargin.apps.tasks import whole
from onmargin.io.svmlight import SparseRows

Write = Callable[[Any, Any, float], None]


class UnwritableError(Exception):
    """Error for an example that a format cannot represent."""


@dataclass(frozen=True)
class Files:
    """The files to convert, and how to read them."""

    paths: tuple[str, ...]
    format: str | None
    reading: Mapping[str, Any]


def convert(files: Files, *, target: str, out: IO[str], names: IO[str] | None, labels: IO[str] | None) -> None:
    """Write the examples of files to `out`, and names of features and labels replaced by numbers to other files."""
    check_files(files.paths)
    if names is not None and target != "svmlight":
        raise click.UsageError("--names is for svmlight, whose features have numbers: other formats keep their names")
    if labels is not None and target not in {"svmlight", "vw"}:
        raise click.UsageError("--labels is for svmlight and vw, whose labels are numbers: other formats keep names")
    write = _WRITERS[target](out, names, _Labels(labels))
    for path in files.paths:
        settings = look_at(path, files.format, files.reading, dtype="float64").settings
        if settings.kind == "sequences":
            raise Failure(f"{path} is {settings.format}: sequences have no other format to go to")
        if settings.is_table:
            settings = _as_it_is(settings, files.reading)
        labelled = has_labels(settings, path)
        for k, (x, y, weight) in enumerate(_examples(path, settings, labelled=labelled), 1):
            try:
                write(x, y, weight)
            except UnwritableError as error:
                raise Failure(f"{path}, record {k}: {error}") from error


def _as_it_is(settings: Settings, given: Mapping[str, Any]) -> Settings:
    """Return settings that keep all columns except those the user ignores, and treat only requested columns as text."""
    text = tuple(given.get("text") or ())
    bare = text[0] if len(text) == 1 else settings.bare if not text else None
    return replace(settings, ignored=tuple(given.get("ignore") or ()), texts=() if bare is None else (bare,), bare=bare)


class _Labels:
    """Labels as numbers: numeric labels unchanged, others as line numbers in a file of names."""

    def __init__(self, out: IO[str] | None) -> None:
        self._out = out
        self._numbers: dict[Any, int] = {}

    def text(self, y: Any) -> str:
        if isinstance(y, list):
            return ",".join(map(self.text, y))
        if self._out is not None:
            if y not in self._numbers:
                self._numbers[y] = len(self._numbers) + 1
                self._out.write(f"{whole(y)}\n")
            return str(self._numbers[y])
        if isinstance(y, bool) or not isinstance(y, int | float):
            raise UnwritableError(
                f"labels are numbers in this format; got {y!r:.60}. Number them with --labels FILE, which keeps names"
            )
        return repr(whole(y))


def _examples(path: str, settings: Settings, *, labelled: bool) -> Iterator[tuple[Any, Any, float]]:
    for chunk in read_chunks(path, settings, labelled=labelled):
        labels = chunk.y if labelled and chunk.y is not None else [None] * len(chunk)
        if isinstance(chunk.X, SparseRows):
            ends = chunk.X.indptr.tolist()
            names = map(str, (chunk.X.indices + 1).tolist())
            pairs = list(zip(names, chunk.X.data.tolist(), strict=True))
            for k, y in enumerate(labels):
                yield dict(pairs[ends[k] : ends[k + 1]]), list(y) if isinstance(y, tuple) else y, 1.0
        else:
            yield from zip(chunk.X, labels, chunk.weights or [1.0] * len(chunk), strict=True)


def _jsonl(out: IO[str], _: IO[str] | None, __: _Labels) -> Write:
    def write(x: Any, y: Any, weight: float) -> None:
        record = {"text" if isinstance(x, str) else "x": x}
        if y is not None:
            record["y"] = whole(y) if isinstance(y, float) else y
        if weight != 1.0:
            record["weight"] = weight
        out.write(json.dumps(record, ensure_ascii=False) + "\n")

    return write


def _text(out: IO[str], _: IO[str] | None, __: _Labels) -> Write:
    def write(x: Any, y: Any, weight: float) -> None:
        if not isinstance(x, str):
            raise UnwritableError("only a text can be written as text: name the column with --text")
        label = "" if y is None else f"{whole(y)}\t"
        out.write(label + " ".join(x.split()) + "\n")

    return write


def _named(x: Any) -> dict[str, float]:
    """Return features by name: a category is the feature "name=category", and a name alone has value 1."""
    if isinstance(x, str):
        raise UnwritableError("a text has no features until a model makes some: write it as jsonl or text")
    if isinstance(x, list):
        return dict.fromkeys(x, 1.0)
    return {f"{name}={v}" if isinstance(v, str) else name: 1.0 if isinstance(v, str) else v for name, v in x.items()}


def _svmlight(out: IO[str], names: IO[str] | None, labels: _Labels) -> Write:
    """Return a writer of svmlight; features are numbered in order of first occurrence, unless they are numbers."""
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
        pairs = sorted((number(name), value) for name, value in _named(x).items())
        label = "0" if y is None else labels.text(y)
        out.write(" ".join([label, *(f"{k}:{value!r}" for k, value in pairs)]) + "\n")

    return write


def _vw(out: IO[str], _: IO[str] | None, labels: _Labels) -> Write:
    def write(x: Any, y: Any, weight: float) -> None:
        features: dict[str, float] = {}
        for name, value in _named(x).items():
            word = name.translate(_VW_ESCAPES)
            features[word] = features.get(word, 0.0) + value
        label = "" if y is None else labels.text(y)
        head = f"{label} {weight!r}" if label and weight != 1.0 else label
        out.write(f"{head} | {' '.join(f'{name}:{value!r}' for name, value in features.items())}\n".lstrip())

    return write


# Blanks, colons and bars are separators in Vowpal Wabbit's format and cannot be escaped.
_VW_ESCAPES = {ord(c): "_" for c in " \t\n\r:|"}


def _csv(out: IO[str], _: IO[str] | None, __: _Labels) -> Write:
    """Return a writer of CSV; the columns are those of the first example, followed by the label."""
    rows = csv.writer(out, lineterminator="\n")
    columns: list[str] = []

    def write(x: Any, y: Any, weight: float) -> None:
        if isinstance(x, str):
            x = {"text": x}
        if not isinstance(x, dict) or isinstance(y, list) or weight != 1.0:
            raise UnwritableError("a table has a number or a string in each column, one label and no weights")
        if not columns:
            columns.extend(x)
            rows.writerow([*columns, "label"])
        strange = x.keys() - set(columns)
        if strange:
            raise UnwritableError(f"the first example has no column {sorted(strange)[0]!r}: write it as jsonl")
        rows.writerow([*(x.get(name, "") for name in columns), "" if y is None else whole(y)])

    return write


_WRITERS: dict[str, Callable[[IO[str], IO[str] | None, _Labels], Write]] = {
    "jsonl": _jsonl,
    "text": _text,
    "svmlight": _svmlight,
    "vw": _vw,
    "csv": _csv,
}
