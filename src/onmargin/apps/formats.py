"""How files are read: by which reader, and where in them labels are."""

import csv
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import click

from onmargin import io
from onmargin.apps.failure import Failure
from onmargin.io import Reader, ReadError
from onmargin.io.guess import first_lines, guess_format, head

_BLOCK = 1 << 22  # bytes of svmlight text that are parsed at once
_DELIMITERS = ",\t;"

Kind = Literal["rows", "records", "sequences"]


@dataclass(frozen=True)
class Settings:
    """How files are read. A model file keeps it, so that later files are read alike.

    `label`, `weight` and `text` name columns of a table; `columns` is how many a token has beside its label, and
    `templates` make its features, the usual ones if there are none; `multilabel` says that rows of numbers have any
    number of labels, and `dtype` is theirs. If `hash` is not 0, the indices of such rows are hashed to so many bits.
    """

    format: str
    label: str | None = None
    weight: str | None = None
    text: str | None = None
    delimiter: str | None = None
    header: bool = True
    zero_based: bool = False
    columns: int = 0
    templates: Sequence[str] = ()
    multilabel: bool = False
    dtype: str = "float32"
    hash: int = 0

    def to_notes(self) -> dict[str, Any]:
        return asdict(self) | {"templates": list(self.templates)}

    @property
    def kind(self) -> Kind:
        return FORMATS[self.format].kind

    def read(self, source: Any, *, labelled: bool = True) -> Reader[Any]:
        """The records of a source; one that is not `labelled` has no labels."""
        return FORMATS[self.format].read(source, self, labelled)


@dataclass(frozen=True)
class Format:
    """What the records of a kind of file are, and what reads it."""

    kind: Kind
    read: Callable[[Any, Settings, bool], Reader[Any]]


def _read_svmlight(source: Any, settings: Settings, labelled: bool) -> Reader[Any]:
    # A row without a label is one of a file where rows have any number of them.
    from onmargin.io.svmlight import read_rows

    several = settings.multilabel or not labelled
    return read_rows(
        source,
        n_features=2**settings.hash if settings.hash else None,
        hashed=settings.hash > 0,
        zero_based=settings.zero_based,
        multilabel=several,
        dtype=settings.dtype,
        block=_BLOCK,
    )


def _read_csv(source: Any, settings: Settings, labelled: bool) -> Reader[Any]:
    return io.read_csv(
        source,
        _place(settings.label, settings) if labelled else None,
        weight=_place(settings.weight, settings),
        delimiter=settings.delimiter or ",",
        header=settings.header,
        text=() if settings.text is None else (settings.text,),
    )


def _place(column: str | None, settings: Settings) -> str | int | None:
    """Columns without a header are numbered."""
    return int(column) if column is not None and not settings.header else column


FORMATS: dict[str, Format] = {
    "svmlight": Format("rows", _read_svmlight),
    "csv": Format("records", _read_csv),
    "jsonl": Format("records", lambda source, settings, labelled: io.read_jsonl(source)),
    "vw": Format("records", lambda source, settings, labelled: io.read_vw(source)),
    "text": Format("records", lambda source, settings, labelled: io.read_text(source, label=labelled)),
    "arrow": Format(
        "records",
        lambda source, settings, labelled: io.read_arrow(
            source, settings.label if labelled else None, weight=settings.weight
        ),
    ),
    "folder": Format("records", lambda source, settings, labelled: io.read_folder(source, random_state=0)),
    "mbox": Format("records", lambda source, settings, labelled: io.read_mbox(source, label=settings.label)),
    "conll": Format(
        "sequences", lambda source, settings, labelled: io.read_conll(source, label=-1 if labelled else None)
    ),
    "conllu": Format(
        "sequences",
        lambda source, settings, labelled: io.read_conllu(source, label=settings.label if labelled else None),
    ),
    "crfsuite": Format("sequences", lambda source, settings, labelled: io.read_crfsuite(source)),
}


def check_files(paths: tuple[str, ...]) -> None:
    """Refuse what cannot be read before anything is."""
    missing = [path for path in paths if path != "-" and not os.path.exists(path)]
    if missing:
        raise Failure(f"there is no file {' or '.join(missing)}")
    if paths.count("-") > 1:
        raise click.UsageError("the standard input can be read once: give one '-'")


def guessed(path: str, format: str | None) -> str:
    """The format that was asked for, or the one that the file seems to have."""
    try:
        return format or guess_format(path)
    except ReadError:
        raise
    except ValueError as error:
        raise Failure(f"{error}: say its --format") from error


def complete(settings: Settings, path: str) -> Settings:
    """Settings with what a file of the training data says itself: its columns, and which is the label."""
    if settings.format == "csv":
        first = _first_line(path)
        delimiter = settings.delimiter or max(_DELIMITERS, key=first.count)
        settings = replace(settings, delimiter=delimiter)
        return replace(settings, label=_label(settings.label, _csv_columns(first, settings)))
    if settings.format == "arrow":
        return replace(settings, label=_label(settings.label, _arrow_columns(path)))
    if settings.format == "conll":
        return replace(settings, columns=_token_width(path) - 1)
    if settings.format == "conllu":
        return replace(settings, label=settings.label or "upos")
    if settings.format == "svmlight":
        return replace(settings, multilabel=settings.multilabel or re.match(r"\S+,", _first_line(path)) is not None)
    return settings


def has_labels(settings: Settings, path: str) -> bool:
    """Whether a file has labels, by its first line or its columns; most formats say so themselves."""
    if settings.format == "arrow":
        return settings.label in _arrow_columns(path)
    if settings.format == "csv":
        return settings.label in _csv_columns(_first_line(path), settings)
    if settings.format == "svmlight":
        return re.match(r"\s|\d+:", _first_line(path)) is None
    if settings.format == "text":
        return "\t" in _first_line(path)
    if settings.format == "conll":
        return _token_width(path) > settings.columns
    return True


def _first_line(path: str) -> str:
    return next((line for line in first_lines(head(path)) if line.strip() and not line.startswith("#")), "")


def _token_width(path: str) -> int:
    """Columns of the first token."""
    lines = first_lines(head(path))
    first = next((line for line in lines if line.strip() and not line.startswith("-DOCSTART-")), "")
    return len(first.split("\t" if "\t" in first else None))


def _arrow_columns(path: str) -> list[str]:
    from onmargin.io.arrow import column_names

    return column_names(path)


def _csv_columns(first: str, settings: Settings) -> list[str]:
    names = next(csv.reader([first], delimiter=settings.delimiter or ","), [])
    return names if settings.header else [str(k) for k in range(len(names))]


def _label(label: str | None, names: list[str]) -> str:
    """The column of the label: the one asked for, or the last one."""
    if not names:
        raise Failure("the table has no columns")
    if label is not None and label not in names:
        raise Failure(f"there is no column {label!r} for the label; the columns are {', '.join(map(repr, names))}")
    return label or names[-1]
