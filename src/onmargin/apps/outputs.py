"""Output files, checked before anything is learned or written."""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, overload

import click

from onmargin.apps.failure import Failure

# Formats of outputs by the ending of the file name, and endings of formats that are not written.
OUTPUTS = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".conll": "conll"}
_NOT_WRITTEN = {
    *(".gz", ".bz2", ".xz", ".zst", ".zip", ".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".parquet", ".arrow"),
    *(".feather", ".json", ".html", ".htm", ".xml", ".yaml", ".yml", ".md", ".pdf", ".docx", ".db", ".sqlite"),
    *(".h5", ".hdf5", ".npy", ".npz", ".pkl", ".pickle", ".orc", ".avro", ".dta", ".sav", ".rds", ".sas7bdat"),
    *(".arff", ".mbox", ".conllu", ".crfsuite", ".crf", ".iob", ".bio"),
}


def output_format(path: str) -> str | None:
    """Return the format that the ending of a file name demands; None for lines of text."""
    ending = os.path.splitext(path)[1].lower()
    if ending in _NOT_WRITTEN:
        raise click.UsageError(f"{', '.join(OUTPUTS)} files and lines of text are written; got {ending!r}")
    return OUTPUTS.get(ending)


def check_output(out: str, inputs: Iterable[str], *, ours: Callable[[str], bool], force: bool) -> None:
    """Raise an error if an output is also an input, under any name, or would overwrite another file.

    An existing file may be replaced if it is empty, if it is `ours`, or with `force`.
    """
    if not os.path.isdir(folder := os.path.dirname(os.path.realpath(out))):
        raise Failure(f"there is no folder {folder} for {out}")
    try:
        found = os.stat(out)
    except FileNotFoundError:
        return
    for path in inputs:
        if _is(path, found):
            raise Failure(f"{out} is an input, {path}: give another file with -o")
    if not stat.S_ISREG(found.st_mode):
        raise Failure(f"{out} is not a regular file: give another one with -o")
    if found.st_size and not force and not ours(out):
        raise Failure(f"{out} is there already: give another file with -o, or --force to replace it")


def _is(path: str, found: os.stat_result) -> bool:
    """Return whether an input file, or the file behind standard input, is the file `found`."""
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path), found)
    except (OSError, ValueError):  # no such file, or standard input is not a file
        return False


@overload
@contextmanager
def written(path: str) -> Iterator[IO[str]]: ...


@overload
@contextmanager
def written(path: None) -> Iterator[None]: ...


@contextmanager
def written(path: str | None) -> Iterator[IO[str] | None]:
    """Open a text file for writing, or "-" for standard output. If anything fails, an existing file is unchanged."""
    if path is None or path == "-":
        yield None if path is None else sys.stdout
        return
    target = os.path.realpath(path)
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            yield file
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise
