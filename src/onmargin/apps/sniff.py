"""How to read a file, from its first block and the options on the command line."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from onmargin.apps.failure import Failure
from onmargin.io import ReadError, guess_format
from onmargin.io.csv_dialect import is_aligned
from onmargin.io.format import BLOCK, FileProfile, Head, OptionError, Recipe, is_pipe, list_names, peek_pipe, pipe_name
from onmargin.io.formats import FORMATS


def check_files(paths: tuple[str, ...]) -> None:
    """Raise an error for files that cannot be read, before any file is."""
    missing = [path for path in paths if path != "-" and not os.path.exists(path)]
    if missing and re.match(r"[a-z][a-z0-9+.-]*://", missing[0]):
        how = f", such as with curl -LO {missing[0]}" if missing[0].startswith(("http", "ftp")) else ""
        raise Failure(f"{missing[0]} is an address, not a file: download it{how}")
    if missing:
        raise Failure(f"there is no file {' or '.join(missing)}")
    for path in paths:
        if paths.count(path) > 1 and is_pipe(path):
            raise click.UsageError(f"{pipe_name(path)} can be read once: give one {path!r}")


def detect_format(path: str, format: str | None, given: Mapping[str, Any]) -> str:
    """Return the requested format, or the detected format of a file of training data."""
    if is_pipe(path):
        peek_pipe(path, BLOCK)  # what is detected does not depend on how fast a pipe delivers
    if given.get("skip_rows") or given.get("comment"):
        return format or "csv"  # the first lines do not tell
    encoding = given.get("encoding") or "utf-8"
    try:
        return format or guess_format(path, encoding)
    except ReadError:
        raise
    except ValueError as error:
        raise Failure(f"{error}{_how_to_read(Head(path, encoding).filled)}") from error


def _how_to_read(filled: Sequence[str]) -> str:
    """Return what to do with a file whose format is not known."""
    if not filled:
        return ""
    from onmargin.io.csv_table import COMMENTS

    return f": {COMMENTS}" if filled[0].startswith("#") else ": set --format"


def _format_like(path: str, recipe: Recipe, encoding: str) -> str:
    """Return the format of a file for a model whose training data were read by this recipe.

    Data from a pipe, and lines that match no format, are assumed to have the same format. So are lines that may be
    texts or a table: a few texts or tokens may happen to have as many words in each line. In a pipe, only JSON objects
    are told from a table, by their first character, since few bytes may have arrived.
    """
    usual, trained = recipe.format, FORMATS[recipe.format]
    if trained.is_text and not (trained.is_stream and is_pipe(path)):
        usual = "text"  # the model has learned from a folder or mailbox, and a file may have lines of text
    if is_pipe(path):
        has_objects = recipe.is_table and Head(path, encoding).first.lstrip().startswith("{")
        return "jsonl" if has_objects else usual
    lines = [] if os.path.isdir(path) or usual not in {"csv", "text", "conll"} else Head(path, encoding).lines
    try:
        found = guess_format(path, encoding)
    except ReadError:
        raise
    except ValueError as error:
        if not any(map(str.strip, lines)):
            raise Failure(f"{error}{_how_to_read(Head(path, encoding).filled)}") from error
        return usual
    aligned = recipe.dialect.get("delimiter") == " " if usual == "csv" else is_aligned(lines)
    return usual if found in {"csv", "text"} and aligned else found


def named_options(given: Mapping[str, Any]) -> list[str]:
    """Return the options that the user has given, including --no-header."""
    return [
        name for name, value in given.items() if value not in (None, (), False) or (value, name) == (False, "header")
    ]


def check_options(given: Mapping[str, Any], format: str) -> None:
    """Raise an error for options that have no effect on files of a format."""
    useless = [name for name in named_options(given) if name not in FORMATS[format].options]
    if useless:
        name = useless[0].replace("_", "-").replace("labels", "label")
        flag = "--header or --no-header" if name == "header" else f"--{name}"
        others = [other for other in FORMATS if useless[0] in FORMATS[other].options]
        raise click.UsageError(f"{flag} has no effect on {format} files; it is for {', '.join(others)}")


def profile_file(path: str, format: str | None, given: Mapping[str, Any], **fixed: Any) -> FileProfile:
    """Return how to read a file of training data; settings not `given` on the command line are detected.

    `fixed` are other options of the format, which do not depend on the file.
    """
    format = detect_format(path, format, given)
    check_options(given, format)
    encoding = given.get("encoding") or "utf-8"
    return FORMATS[format].profile(path, Recipe(format, encoding=encoding), {**given, **fixed})


def describe(profile: FileProfile) -> str:
    """Return a one-line description of how a file is read."""
    recipe, format = profile.recipe, FORMATS[profile.recipe.format]
    parts = [recipe.format, *format.describe(recipe)]
    if format.is_table(recipe):
        remark = f" ({profile.remark})" if profile.remark else ""
        parts.append(f"label {list_names(recipe.labels) if recipe.labels else repr(recipe.label)}{remark}")
        if recipe.text:
            parts.append(f"text {', '.join(map(repr, recipe.text))}")
    return ", ".join(parts)


def adapt_recipe(path: str, trained: Recipe, format: str | None, given: Mapping[str, Any]) -> Recipe:
    """Return how to read another file for a model, which may have another format and other column names."""
    encoding = given.get("encoding") or trained.encoding
    format = format or _format_like(path, trained, encoding)
    check_options(given, format)
    if trained.labels and given.get("labels") and {*trained.labels} != {*given["labels"]}:
        raise OptionError(f"the labels of the model are the columns {list_names(trained.labels)}: leave --label out")
    if trained.labels and (given.get("label") or given.get("label_separator")):
        raise OptionError(f"the labels of the model are the columns {list_names(trained.labels)}: leave --label out")
    if given.get("labels") and not trained.labels:
        raise OptionError("the model has learned from one column of labels: give one --label")
    recipe = replace(
        trained,
        format=format,
        encoding=encoding if "encoding" in FORMATS[format].options else "utf-8",
        label=given.get("label") or trained.label,
        label_separator=given.get("label_separator") or trained.label_separator,
        dialect=trained.dialect if format == trained.format else {},
    )
    return FORMATS[format].adapt(path, recipe, trained, given)
