"""Settings for reading files: the reader, and the columns of labels, weights and texts."""

import io as streams
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any, Literal

import click

from onmargin import io
from onmargin.apps.columns import LABELS, RowFeatures, is_label, is_text, judge
from onmargin.apps.failure import Failure, listed
from onmargin.io import Reader, ReadError
from onmargin.io.csv_look import MISSING, first_row
from onmargin.io.guess import first_lines, guess_format, head, plain_name

_BLOCK = 1 << 22  # bytes of svmlight text to parse at once
_SAMPLE = 1000  # maximum number of rows for judging columns

Kind = Literal["rows", "records", "sequences"]

_TABLES = ("csv", "arrow", "arff", "json", "jsonl")
# The formats that each command-line option applies to. For other formats it would have no effect.
OPTIONS: dict[str, tuple[str, ...]] = {
    "label": (*_TABLES, "mbox", "conll", "conllu"),
    "weight": _TABLES,
    "text": _TABLES,
    "ignore": _TABLES,
    "only": _TABLES,
    "cross": _TABLES,
    "delimiter": ("csv",),
    "header": ("csv",),
    "decimal": ("csv",),
    "thousands": ("csv",),
    "zero_based": ("svmlight",),
    "template": ("conll", "conllu"),
}
# Parameters of a learner that concern texts.
TEXT_PARAMETERS = ("lowercase", "ngrams", "weighting", "normalize", "idf")


@dataclass(frozen=True)
class Settings:
    """Settings for reading files. A model file stores them, so that later files are read in the same way.

    `label` and `weight` are columns of a table. `texts`, `ignored`, `only` and `crossed` control the other columns
    (`RowFeatures`), `text_options` controls how texts are read, and `table` has the columns used in training. `flat` is
    for JSON: whether features are next to the label. `columns` is the number of columns of a token besides its label,
    and `templates` are the templates of its features; if empty, the default ones. `multilabel` means that rows of
    numbers have any number of labels, and `dtype` is the type of such rows. If `hash` is not 0, their indices are
    hashed to this many bits.
    """

    format: str
    label: str | None = None
    weight: str | None = None
    texts: Sequence[str] = ()
    ignored: Sequence[str] = ()
    only: Sequence[str] = ()
    crossed: Sequence[Sequence[str]] = ()
    bare: str | None = None
    text_names: Mapping[str, str] = field(default_factory=dict)  # text columns that have other names in the model
    text_options: Mapping[str, Any] = field(default_factory=dict)
    table: Sequence[str] = ()
    flat: bool = False
    delimiter: str | None = None
    header: bool = True
    quote: str | None = '"'
    decimal: str = "."
    thousands: str | None = None
    zero_based: bool = False
    columns: int = 0
    templates: Sequence[str] = ()
    multilabel: bool = False
    dtype: str = "float32"
    hash: int = 0

    @classmethod
    def from_notes(cls, notes: Mapping[str, Any]) -> "Settings":
        """Return the settings stored in a model file; in version 0.1, a text column is the whole example."""
        notes = dict(notes)
        text = notes.pop("text", None)
        if text is not None:
            notes |= {"texts": [text], "bare": text}
        return cls(**notes)

    def to_notes(self) -> dict[str, Any]:
        notes = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        options = {name: list(v) if isinstance(v, tuple) else v for name, v in self.text_options.items()}
        return notes | {"crossed": [list(pair) for pair in self.crossed], "text_options": options}

    @property
    def kind(self) -> Kind:
        return FORMATS[self.format].kind

    @property
    def is_table(self) -> bool:
        return self.format in _TABLES and (self.flat or self.format not in {"json", "jsonl"})

    def read(self, source: Any, *, labelled: bool = True) -> Reader[Any]:
        """Return a reader of the records of a source; without `labelled`, the source has no labels."""
        return FORMATS[self.format].read(source, self, labelled)

    def row_features(self) -> RowFeatures | None:
        """Return the converter of rows to examples, or None if rows are used unchanged."""
        if not (self.texts or self.ignored or self.only or self.crossed or self.bare):
            return None
        from onmargin.features.records import RecordFeatures

        options = dict(self.text_options)
        if "ngrams" in options:
            options["ngrams"] = tuple(options["ngrams"])
        return RowFeatures(
            frozenset(self.ignored),
            frozenset(self.only),
            {column: self.text_names.get(column, column) for column in self.texts},
            tuple(self.crossed),
            self.bare,
            RecordFeatures(**options).read,
            nested=self.flat or self.format == "arrow",
        )


@dataclass(frozen=True)
class Format:
    """A file format: the kind of its records, and its reader."""

    kind: Kind
    read: Callable[[Any, Settings, bool], Reader[Any]]


def _read_svmlight(source: Any, settings: Settings, labelled: bool) -> Reader[Any]:
    # Rows without labels are read as multilabel rows, which may have any number of labels.
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
        text=settings.texts,
        quote=settings.quote,
        decimal=settings.decimal,
        thousands=settings.thousands,
        missing=MISSING,
    )


def _place(column: str | None, settings: Settings) -> str | int | None:
    """Return a column name, or its index if the table has no header."""
    return int(column) if column is not None and not settings.header and column.isdecimal() else column


def _read_json(name: str) -> Callable[[Any, Settings, bool], Reader[Any]]:
    def read(source: Any, settings: Settings, labelled: bool) -> Reader[Any]:
        reader: Reader[Any] = getattr(io, name)(
            source, label=settings.label, weight=settings.weight, flat=settings.flat, ignore=settings.ignored
        )
        return reader

    return read


def _read_conll(source: Any, settings: Settings, labelled: bool) -> Reader[Any]:
    return io.read_conll(source, label=int(settings.label or -1) if labelled else None)


FORMATS: dict[str, Format] = {
    "svmlight": Format("rows", _read_svmlight),
    "csv": Format("records", _read_csv),
    "jsonl": Format("records", _read_json("read_jsonl")),
    "json": Format("records", _read_json("read_json")),
    "arff": Format(
        "records",
        lambda source, settings, labelled: io.read_arff(
            source, settings.label if labelled else None, weight=settings.weight
        ),
    ),
    "vw": Format("records", lambda source, settings, labelled: io.read_vw(source)),
    "text": Format("records", lambda source, settings, labelled: io.read_text(source, label=labelled)),
    "arrow": Format(
        "records",
        lambda source, settings, labelled: io.read_arrow(
            source, settings.label if labelled else None, weight=settings.weight, ignore=settings.ignored
        ),
    ),
    "folder": Format("records", lambda source, settings, labelled: io.read_folder(source, random_state=0)),
    "mbox": Format("records", lambda source, settings, labelled: io.read_mbox(source, label=settings.label)),
    "conll": Format("sequences", _read_conll),
    "conllu": Format(
        "sequences",
        lambda source, settings, labelled: io.read_conllu(source, label=settings.label if labelled else None),
    ),
    "crfsuite": Format("sequences", lambda source, settings, labelled: io.read_crfsuite(source)),
}


def check_files(paths: tuple[str, ...]) -> None:
    """Raise an error for files that cannot be read, before any file is."""
    missing = [path for path in paths if path != "-" and not os.path.exists(path)]
    if missing:
        raise Failure(f"there is no file {' or '.join(missing)}")
    if paths.count("-") > 1:
        raise click.UsageError("the standard input can be read once: give one '-'")


def guessed(path: str, format: str | None) -> str:
    """Return the requested format, or the guessed format of the file."""
    try:
        return format or guess_format(path)
    except ReadError:
        raise
    except ValueError as error:
        raise Failure(f"{error}: set --format") from error


@dataclass(frozen=True)
class Look:
    """Settings for reading a file, the columns that are ignored with the reasons, and whether there are texts."""

    settings: Settings
    left_out: Mapping[str, str] = field(default_factory=dict)
    has_texts: bool = False

    def __str__(self) -> str:
        """Return a one-line description."""
        settings = self.settings
        parts = [settings.format]
        if settings.format == "csv":
            parts.append(f"{_MARKS.get(settings.delimiter or ',', settings.delimiter)} between fields")
            parts.append("a header" if settings.header else "no header (columns are 0, 1, ...)")
            if settings.decimal != ".":
                parts.append(f"decimal mark {settings.decimal!r}")
            if settings.thousands is not None:
                parts.append(f"thousands mark {settings.thousands!r}")
        if settings.is_table:
            parts.append(f"label {settings.label!r}")
            if settings.texts:
                parts.append(f"text {', '.join(map(repr, settings.texts))}")
        return ", ".join(parts)


_MARKS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}


def named_options(given: Mapping[str, Any]) -> list[str]:
    """Return the options that the user has given, including --no-header."""
    return [
        name for name, value in given.items() if value not in (None, (), False) or (value, name) == (False, "header")
    ]


def check_options(given: Mapping[str, Any], format: str) -> None:
    """Raise an error for options that have no effect on files of a format."""
    useless = [name for name in named_options(given) if format not in OPTIONS[name]]
    if useless:
        name = useless[0].replace("_", "-")
        flag = "--header or --no-header" if name == "header" else f"--{name}"
        raise click.UsageError(f"{flag} has no effect on {format} files; it is for {', '.join(OPTIONS[useless[0]])}")


def look_at(path: str, format: str | None, given: Mapping[str, Any], **fixed: Any) -> Look:
    """Return how to read a file of training data; settings not `given` on the command line are guessed from the file.

    `fixed` are other settings, which do not depend on the file.
    """
    format = guessed(path, format)
    check_options(given, format)
    settings = Settings(format, **fixed, weight=given.get("weight"), zero_based=bool(given.get("zero_based")))
    if format in _TABLES:
        return _look_at_table(path, settings, given)
    settings = replace(settings, label=given.get("label"), templates=list(given.get("template") or ()))
    _check_token_label(format, settings.label)
    if format == "conll":
        return Look(replace(settings, columns=_token_width(path) - 1))
    if format == "conllu":
        return Look(replace(settings, label=settings.label or "upos"))
    if format == "svmlight":
        several = settings.multilabel or re.match(r"\S+,", _first_line(path)) is not None
        return Look(replace(settings, multilabel=several))
    return Look(settings, has_texts=format in {"text", "folder", "mbox"})


def _check_token_label(format: str, label: str | None) -> None:
    """Raise an error for a label that is not a column of tokens."""
    if label is None:
        return
    from onmargin.io.conll import CONLLU

    if format == "conll" and not re.fullmatch(r"-?\d+", label):
        raise click.BadParameter(f"columns of CoNLL files have numbers, from 0; got {label!r}", param_hint="--label")
    if format == "conllu" and label not in CONLLU:
        raise click.BadParameter(f"columns of CoNLL-U are {', '.join(CONLLU)}; got {label!r}", param_hint="--label")


def _look_at_table(path: str, settings: Settings, given: Mapping[str, Any]) -> Look:
    label = given.get("label")
    texts, ignored, only, crossed = (tuple(given.get(option) or ()) for option in ("text", "ignore", "only", "cross"))
    settings = replace(settings, texts=texts, ignored=ignored)
    if settings.format == "csv":
        settings = csv_settings(path, settings, given)
    if settings.format in {"json", "jsonl"}:
        settings = replace(settings, flat=_is_flat(path, settings.format, label, settings.weight), label=label)
    names = table_columns(path, settings)
    if not settings.is_table:
        # The features are a nested object, next to the key of the label.
        rows = _check_nested(path, settings, given)
        has_texts = bool(texts) or any(isinstance(x, str) for x in rows)
        return Look(replace(settings, only=only, crossed=crossed), has_texts=has_texts)
    if not names:
        raise Failure(f"{path} is empty")
    _check_columns(given, names)
    rows = _sample(path, replace(settings, label=None))
    label = label or _guess_label([name for name in names if name not in texts], rows, settings)
    taken = {label, settings.weight}
    kept = [name for name in only or names if name not in taken and name not in ignored]
    judged = judge(rows, [name for name in kept if name not in texts])
    left_out = {} if only else judged.left_out
    table = [name for name in kept if name not in left_out]
    settings = replace(
        settings,
        label=label,
        texts=texts + tuple(name for name in judged.texts if name in table),
        ignored=(*ignored, *left_out),
        only=only,
        crossed=crossed,
        table=tuple(table) if not settings.flat else (),
    )
    for pair in settings.crossed:
        wrong = [name for name in pair if name not in table or name in settings.texts]
        if wrong:
            raise click.UsageError(f"--cross needs columns of numbers or categories that are kept; {wrong[0]!r} is not")
    alone = table[0] if len(table) == 1 and list(settings.texts) == table else None
    return Look(replace(settings, bare=alone), left_out, has_texts=bool(settings.texts))


def csv_settings(path: str, settings: Settings, given: Mapping[str, Any]) -> Settings:
    """Return the settings with the dialect of a CSV file."""
    from onmargin.io.csv_look import look_at_csv

    delimiter = given.get("delimiter") or ("\t" if plain_name(path).endswith(".tsv") else None)
    decimal, thousands = given.get("decimal"), given.get("thousands")
    try:
        look = look_at_csv(
            first_lines(head(path)),
            delimiter=delimiter,
            header=given.get("header"),
            decimal=decimal,
            thousands=thousands,
        )
    except ValueError as error:
        raise Failure(f"{path}: {error}: set --decimal , or --thousands ,") from error
    return replace(settings, **asdict(look))


def _check_nested(path: str, settings: Settings, given: Mapping[str, Any]) -> list[Any]:
    """Raise an error for names that are not in a JSON file whose features have their own key; return first examples."""
    outer = {name: given.get(name) for name in ("label", "weight")}
    _check_columns(outer, table_columns(path, settings))
    rows = _sample(path, settings)
    features = [row for row in rows if isinstance(row, dict)]
    if features or not given.get("text"):
        _check_columns(given, list(dict.fromkeys(name for row in features for name in row)), but=tuple(outer))
    return rows


def _is_flat(path: str, format: str, label: str | None, weight: str | None) -> bool:
    """Return whether the first objects of a JSON file have their features next to the label."""
    keys = {key for entry in _entries(path, format) for key in entry}
    return not keys & {"x", "features"} and not keys <= {"text", "y", "label", "weight", label, weight}


def settings_for(path: str, settings: Settings, format: str | None, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a model for another file, which may have another format and other column names."""
    # Data from a pipe is assumed to have the format of the training data.
    format = guessed(path, format or (settings.format if path == "-" else None))
    check_options(given, format)
    _check_token_label(format, given.get("label"))
    own = replace(settings, format=format, label=given.get("label") or settings.label)
    if format == "csv":
        if settings.format == "csv":  # numbers are written as in the training data
            marks: dict[str, Any] = {"decimal": settings.decimal, "thousands": settings.thousands}
            own = replace(csv_settings(path, own, {"header": settings.header, **marks, **given}), **marks)
        else:
            own = csv_settings(path, own, given)
    if format in {"json", "jsonl"}:
        own = replace(own, flat=_is_flat(path, format, own.label, own.weight))
    if given.get("text"):
        own = _renamed_texts(own, tuple(given["text"]))
    ignored, only = tuple(given.get("ignore") or ()), tuple(given.get("only") or ())
    if format in _TABLES and any(given.values()):
        if own.is_table:
            _check_columns(given, table_columns(path, own))
        else:
            _check_nested(path, replace(own, ignored=ignored), given)
    return replace(own, ignored=(*settings.ignored, *ignored), only=only or settings.only)


def _renamed_texts(settings: Settings, names: tuple[str, ...]) -> Settings:
    """Return the settings for a file whose text columns have these names."""
    if settings.bare is not None or not settings.table:
        if len(names) > 1:
            raise click.UsageError(
                f"the model has learned from one text: name one column with --text, not {len(names)}"
            )
        return replace(settings, bare=names[0], texts=names)
    if len(names) != len(settings.texts):
        known = ", ".join(map(repr, settings.texts)) or "no text"
        raise click.UsageError(f"the model has learned from {known}: name as many columns with --text, in this order")
    return replace(settings, texts=names, text_names=dict(zip(names, settings.texts, strict=True)))


def missing_columns(path: str, settings: Settings) -> list[str]:
    """Return the columns used in training that a file lacks."""
    if not settings.table or settings.format not in {"csv", "arrow", "arff"}:
        return []
    there = {settings.text_names.get(name, name) for name in table_columns(path, settings)}
    return [name for name in settings.table if name not in there] if settings.bare is None else []


def _entries(path: str, format: str) -> list[dict[str, Any]]:
    """Return the first objects of a JSON file; damaged ones are skipped here and reported by the reader."""
    from onmargin.io.jsonl import first_objects

    return first_objects(head(path), array=format == "json")


def _sample(path: str, settings: Settings) -> list[Any]:
    """Return the first rows of a table."""
    source: Any = path
    if settings.format != "arrow":
        data = head(path)
        if len(lines := first_lines(data)) > 1 and settings.format != "json":
            data = ("\n".join(lines) + "\n").encode("utf-8", "replace")
        source = streams.BytesIO(data)
    rows: list[Any] = []
    try:
        for record in islice(settings.read(source, labelled=settings.label is not None), _SAMPLE):
            rows.append(record.x)  # noqa: PERF401  rows before an error are kept
    except ReadError:
        pass  # training reports the error
    return rows


def table_columns(path: str, settings: Settings) -> list[str]:
    """Return the names of the columns of a table."""
    if settings.format == "arrow":
        from onmargin.io.arrow import column_names

        return column_names(path)
    if settings.format == "csv":
        fields = first_row(first_lines(head(path)), settings.delimiter or ",", settings.quote)
        return fields if settings.header else [str(k) for k in range(len(fields))]
    if settings.format == "arff":
        from onmargin.io.arff import attribute_names

        return attribute_names(path, first_lines(head(path)))
    return list(dict.fromkeys(name for entry in _entries(path, settings.format) for name in entry))


def _check_columns(given: Mapping[str, Any], names: Sequence[str], but: Collection[str] = ()) -> None:
    """Raise an error for named columns that do not exist."""
    for option in ("label", "weight", "text", "ignore", "only", "cross"):
        value = given.get(option)
        if value is None or option in but:
            continue
        wanted = [value] if isinstance(value, str) else [n for v in value for n in ([v] if isinstance(v, str) else v)]
        for name in wanted:
            if name not in names:
                raise Failure(f"there is no column {name!r} for --{option}; the columns are {listed(names)}")


def _guess_label(names: Sequence[str], rows: Sequence[Any], settings: Settings) -> str:
    """Guess the label column: the one named like a label, or the last one unless it is a text."""
    called = [name for name in names if name.casefold() in (*LABELS, *(("y",) if settings.flat else ()))]
    if len(called) == 1:
        return called[0]
    if settings.flat:
        raise Failure(f"name the --label, one of the keys {listed(names)}")
    values = {name: found for name in names if (found := [row[name] for row in rows if name in row]) or not rows}
    if not values:
        raise Failure("no column is left for the label: name it with --label")
    first, last = next(iter(values)), next(reversed(values))
    if is_text(values[last]) and is_label(values[first]):
        return first
    if (reason := judge(rows, [last]).left_out.get(last)) is not None:
        raise Failure(f"the last column, {last!r}, is hardly the label ({reason}): name it with --label")
    return last


def has_labels(settings: Settings, path: str) -> bool:
    """Return whether a file has labels, from its first line or columns; most formats make it explicit."""
    if settings.format in {"arrow", "arff", "csv"}:
        return settings.label in table_columns(path, settings)
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
    """Return the number of columns of the first token."""
    lines = first_lines(head(path))
    first = next((line for line in lines if line.strip() and not line.startswith("-DOCSTART-")), "")
    return len(first.split("\t" if "\t" in first else None))
