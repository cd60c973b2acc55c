"""Conversion of examples from one file format to another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any

import click

from onmargin.apps.chunks import read_chunks
from onmargin.apps.failure import Failure
from onmargin.apps.sniff import check_files, profile_file
from onmargin.io.format import LabelNumbers, Recipe, UnwritableError, pipe_name
from onmargin.io.formats import FORMATS
from onmargin.io.svmlight import SparseRows


@dataclass(frozen=True)
class Files:
    """The files to convert, and how to read them."""

    paths: tuple[str, ...]
    format: str | None
    reading: Mapping[str, Any]


def convert(files: Files, *, target: str, out: IO[str], names: IO[str] | None, labels: IO[str] | None) -> None:
    """Write the examples of files to `out`, and names of features and labels replaced by numbers to other files."""
    check_files(files.paths)
    written = FORMATS[target]
    if names is not None and not written.numbers_features:
        raise click.UsageError("--names is for svmlight, whose features have numbers: other formats keep their names")
    if labels is not None and not written.numbers_labels:
        raise click.UsageError("--labels is for svmlight and vw, whose labels are numbers: other formats keep names")
    write = written.writer(out, names, LabelNumbers(labels))
    n_examples = 0
    for path in files.paths:
        recipe = profile_file(path, files.format, files.reading, dtype="float64").recipe
        format = FORMATS[recipe.format]
        if format.kind == "sequences":
            raise Failure(f"{path} is {recipe.format}: sequences have no other format to go to")
        if format.is_table(recipe):
            recipe = _as_it_is(recipe, files.reading)
        for k, (x, y, weight) in enumerate(_examples(path, recipe, labeled=format.has_labels(path, recipe)), 1):
            try:
                write(x, y, weight)
            except UnwritableError as error:
                raise Failure(f"{path}, record {k}: {error}") from error
            n_examples += 1
    if not n_examples:
        raise Failure(f"there are no examples in {', '.join(map(pipe_name, files.paths))}")


def _as_it_is(recipe: Recipe, given: Mapping[str, Any]) -> Recipe:
    """Return a recipe that keeps all columns except those the user ignores, and reads only requested texts as such."""
    text, found = tuple(given.get("text") or ()), recipe.features["text"]
    bare = text[0] if len(text) == 1 else found if isinstance(found, str) and not text else ()
    ignored = (*(given.get("ignore") or ()), *recipe.labels, *_separated(recipe))
    return replace(recipe.with_features(text=bare, ignore=ignored), selected=True)


def _separated(recipe: Recipe) -> list[str]:
    """Return the column with several labels, if there is one."""
    return [recipe.label] if recipe.label is not None and recipe.label_separator is not None else []


def _examples(path: str, recipe: Recipe, *, labeled: bool) -> Iterator[tuple[Any, Any, float]]:
    for chunk in read_chunks(path, recipe, labeled=labeled):
        labels = chunk.y if labeled and chunk.y is not None else [None] * len(chunk)
        if isinstance(chunk.X, SparseRows):
            ends = chunk.X.indptr.tolist()
            names = map(str, (chunk.X.indices + 1).tolist())
            pairs = list(zip(names, chunk.X.data.tolist(), strict=True))
            for k, y in enumerate(labels):
                yield dict(pairs[ends[k] : ends[k + 1]]), list(y) if isinstance(y, tuple) else y, 1.0
        else:
            yield from zip(chunk.X, labels, chunk.weights or [1.0] * len(chunk), strict=True)
