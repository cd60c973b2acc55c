"""Settings for reading a file, from its first block and the options on the command line."""

import io as streams
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import click

from onmargin.apps.columns import LABELS, OUTCOMES, classes_in, is_label, is_text, judge
from onmargin.apps.failure import Failure, listed
from onmargin.apps.formats import OPTIONS, TABLES, Settings
from onmargin.apps.label_sets import says_yes_or_no
from onmargin.io import ReadError
from onmargin.io.csv_look import first_row, is_aligned, named
from onmargin.io.guess import first_lines, guess_format, head, plain_name

_COMMENTS = "remove the lines that start with #, such as with grep -v '^#' FILE | onmargin train - --format csv ..."
_SAMPLE = 1000  # maximum number of rows for judging columns


def check_files(paths: tuple[str, ...]) -> None:
    """Raise an error for files that cannot be read, before any file is."""
    missing = [path for path in paths if path != "-" and not os.path.exists(path)]
    if missing:
        raise Failure(f"there is no file {' or '.join(missing)}")
    if paths.count("-") > 1:
        raise click.UsageError("the standard input can be read once: give one '-'")


def guessed(path: str, format: str | None, encoding: str | None) -> str:
    """Return the requested format, or the guessed format of the file."""
    try:
        return format or guess_format(path, encoding or "utf-8")
    except ReadError:
        raise
    except ValueError as error:
        raise Failure(f"{error}{_how_to_read(first_lines(head(path, encoding or 'utf-8')))}") from error


def _how_to_read(lines: Sequence[str]) -> str:
    """Return what to do with a file whose format is not known."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return ""
    return f": {_COMMENTS}" if filled[0].startswith("#") else ": set --format"


def _format_like(path: str, settings: Settings, encoding: str) -> str:
    """Return the format of a file for a model whose training data had these settings.

    Data from a pipe, and lines that match no format, are assumed to have the same format. So are lines that may be
    texts or a table: a few texts or tokens may happen to have as many words in each line.
    """
    usual = settings.format
    if path == "-":
        return usual
    lines = [] if os.path.isdir(path) or usual not in {"csv", "text", "conll"} else first_lines(head(path, encoding))
    try:
        found = guess_format(path, encoding)
    except ReadError:
        raise
    except ValueError as error:
        if not any(map(str.strip, lines)):
            raise Failure(f"{error}{_how_to_read(first_lines(head(path, encoding)))}") from error
        return usual
    aligned = settings.delimiter == " " if usual == "csv" else is_aligned(lines)
    return usual if found in {"csv", "text"} and aligned else found


class Look(NamedTuple):
    """Settings for reading a file, and what else to say of it.

    These are the ignored columns with the reasons, whether there are texts, and a remark on the label.
    """

    settings: Settings
    left_out: Mapping[str, str] = {}
    has_texts: bool = False
    remark: str = ""

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
            remark = f" ({self.remark})" if self.remark else ""
            parts.append(f"label {listed(settings.labels) if settings.labels else repr(settings.label)}{remark}")
            if settings.texts:
                parts.append(f"text {', '.join(map(repr, settings.texts))}")
        return ", ".join(parts)


_MARKS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "blanks"}


def named_options(given: Mapping[str, Any]) -> list[str]:
    """Return the options that the user has given, including --no-header."""
    return [
        name for name, value in given.items() if value not in (None, (), False) or (value, name) == (False, "header")
    ]


def check_options(given: Mapping[str, Any], format: str) -> None:
    """Raise an error for options that have no effect on files of a format."""
    useless = [name for name in named_options(given) if format not in OPTIONS[name]]
    if useless:
        name = useless[0].replace("_", "-").replace("labels", "label")
        flag = "--header or --no-header" if name == "header" else f"--{name}"
        raise click.UsageError(f"{flag} has no effect on {format} files; it is for {', '.join(OPTIONS[useless[0]])}")


def look_at(path: str, format: str | None, given: Mapping[str, Any], **fixed: Any) -> Look:
    """Return how to read a file of training data; settings not `given` on the command line are guessed from the file.

    `fixed` are other settings, which do not depend on the file.
    """
    encoding = given.get("encoding") or "utf-8"
    format = guessed(path, format, encoding)
    check_options(given, format)
    fixed |= {"weight": given.get("weight"), "zero_based": bool(given.get("zero_based")), "encoding": encoding}
    settings = Settings(format, **fixed)
    if format in TABLES:
        return _look_at_table(path, settings, given)
    settings = replace(settings, label=given.get("label"), templates=list(given.get("template") or ()))
    _check_token_label(format, settings.label)
    if format == "conll":
        return Look(replace(settings, columns=_token_width(path, encoding) - 1))
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
    label, labels, remark = given.get("label"), tuple(given.get("labels") or ()), ""
    texts, ignored, only, crossed = (tuple(given.get(option) or ()) for option in ("text", "ignore", "only", "cross"))
    settings = replace(
        settings, texts=texts, ignored=ignored, labels=labels, label_separator=given.get("label_separator")
    )
    if settings.format == "csv":
        settings = csv_settings(path, settings, given)
    if settings.format in {"json", "jsonl"}:
        settings = replace(settings, flat=_is_flat(path, settings, label), label=label)
        _check_wrapped(path, settings)
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
    if labels:
        _check_label_columns(labels, rows)
    else:
        candidates = [name for name in names if name not in texts]
        label, remark = (label, "") if label else _guess_label(candidates, rows, settings)
    taken = {label, settings.weight, *labels}
    kept = [name for name in only or names if name not in taken and name not in ignored]
    judged = judge(rows, [name for name in kept if name not in texts])
    left_out = {} if only else judged.left_out
    table = [name for name in kept if name not in left_out]
    if not table:
        useless = "".join(f"; {name!r} is left out ({reason})" for name, reason in left_out.items())
        raise Failure(f"{path} has no column to learn from besides the label {listed(labels or [str(label)])}{useless}")
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
    return Look(replace(settings, bare=alone), left_out, has_texts=bool(settings.texts), remark=remark)


def csv_settings(path: str, settings: Settings, given: Mapping[str, Any], *, numbers: bool = True) -> Settings:
    """Return the settings with the dialect of a CSV file; without `numbers`, their marks are not detected."""
    from onmargin.io.csv_look import look_at_csv

    delimiter = given.get("delimiter") or ("\t" if plain_name(path).endswith(".tsv") else None)
    decimal, thousands = given.get("decimal"), given.get("thousands")
    lines = first_lines(head(path, settings.encoding))
    try:
        look = look_at_csv(
            lines,
            delimiter=delimiter,
            header=given.get("header"),
            decimal=decimal,
            thousands=thousands,
            numbers=numbers,
        )
    except ValueError as error:
        raise Failure(f"{path}: {error}: set --decimal , or --thousands ,") from error
    if lines and lines[0].startswith("#"):
        ends = [lines[0], next((line for line in lines if line.strip() and not line.startswith("#")), lines[0])]
        widths = [len(first_row([line], look.delimiter, look.quote)) for line in ends]
        if widths[0] != widths[1] and not look.row_names:
            raise Failure(f"{path} starts with the comment {lines[0]!r:.60}: {_COMMENTS}")
    return replace(
        settings,
        delimiter=look.delimiter,
        header=look.header,
        quote=look.quote,
        decimal=look.decimal,
        thousands=look.thousands,
        row_names=look.row_names,
        strip=look.strip,
    )


def _check_nested(path: str, settings: Settings, given: Mapping[str, Any]) -> list[Any]:
    """Raise an error for names that are not in a JSON file whose features have their own key; return first examples."""
    outer = {name: given.get(name) for name in ("label", "weight")}
    _check_columns(outer, table_columns(path, settings))
    rows = _sample(path, settings)
    features = [row for row in rows if isinstance(row, dict)]
    if features or not given.get("text"):
        _check_columns(given, list(dict.fromkeys(name for row in features for name in row)), but=tuple(outer))
    return rows


def _check_wrapped(path: str, settings: Settings) -> None:
    """Raise an error for a JSON file that is one object with the list of examples under a key."""
    found = re.match(rb'\s*\{\s*"(\w+)"\s*:\s*\[\s*\{', head(path, settings.encoding))
    entries = _entries(path, settings)
    if found and (not entries or (len(entries) == 1 and len(entries[0]) == 1)):
        key = found[1].decode()
        raise Failure(
            f"{path} is one object with the examples under the key {key!r}: extract them, such as with "
            f"jq -c '.{key}[]' {path} > {key}.jsonl"
        )


def _is_flat(path: str, settings: Settings, label: str | None) -> bool:
    """Return whether the first objects of a JSON file have their features next to the label."""
    keys = {key for entry in _entries(path, settings) for key in entry}
    return not keys & {"x", "features"} and not keys <= {"text", "y", "label", "weight", label, settings.weight}


def settings_for(path: str, settings: Settings, format: str | None, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a model for another file, which may have another format and other column names."""
    encoding = given.get("encoding") or settings.encoding
    format = format or _format_like(path, settings, encoding)
    check_options(given, format)
    _check_token_label(format, given.get("label"))
    if settings.labels and given.get("labels") and {*settings.labels} != {*given["labels"]}:
        raise click.UsageError(f"the labels of the model are the columns {listed(settings.labels)}: leave --label out")
    if settings.labels and (given.get("label") or given.get("label_separator")):
        raise click.UsageError(f"the labels of the model are the columns {listed(settings.labels)}: leave --label out")
    if given.get("labels") and not settings.labels:
        raise click.UsageError("the model has learned from one column of labels: give one --label")
    own = replace(
        settings,
        format=format,
        encoding=encoding if format in OPTIONS["encoding"] else "utf-8",
        label=given.get("label") or settings.label,
        label_separator=given.get("label_separator") or settings.label_separator,
    )
    if format == "csv":
        if settings.format == "csv":  # numbers are written as in the training data
            marks: dict[str, Any] = {"decimal": settings.decimal, "thousands": settings.thousands}
            usual = {"header": settings.header, **given}
            # The delimiter is that of the training data if it gives the columns of the model.
            look = csv_settings(path, own, {"delimiter": settings.delimiter, **usual}, numbers=False)
            if not {look.bare} <= {None, *table_columns(path, look)} or missing_columns(path, look):
                look = csv_settings(path, own, usual, numbers=False)
            own = replace(look, header=look.header or _names_without_label(path, look, settings), **marks)
        else:
            own = csv_settings(path, own, given)
    if format == settings.format == "conll" and (width := _token_width(path, encoding)) < settings.columns:
        raise Failure(
            f"the tokens of {path} have {width} column{'s' * (width > 1)}, and the model needs {settings.columns}"
        )
    if format in {"json", "jsonl"}:
        own = replace(own, flat=_is_flat(path, own, own.label))
    if given.get("text"):
        own = _renamed_texts(own, tuple(given["text"]))
    ignored, only = tuple(given.get("ignore") or ()), tuple(given.get("only") or ())
    if format in TABLES and any(given.values()):
        if own.is_table:
            _check_columns(given, table_columns(path, own))
        else:
            _check_nested(path, replace(own, ignored=ignored), given)
    return replace(own, ignored=(*settings.ignored, *ignored), only=only or settings.only)


def _names_without_label(path: str, own: Settings, settings: Settings) -> list[str]:
    """Return the names of the columns of a table without header that has all columns of the model but the label.

    The columns behind that of the label keep their numbers. The list is empty if the file is not such a table.
    """
    labels = {settings.label or "", *settings.labels}
    numbers = [int(name) for name in {*settings.table, *settings.ignored, *labels} if name.isdecimal()]
    names = [name for name in map(str, range(max(numbers, default=-1) + 1)) if name not in labels]
    fits = not settings.header and settings.table and len(table_columns(path, own)) == len(names)
    return names if fits else []


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


def _entries(path: str, settings: Settings) -> list[dict[str, Any]]:
    """Return the first objects of a JSON file; damaged ones are skipped here and reported by the reader."""
    from onmargin.io.jsonl import first_objects

    return first_objects(head(path, settings.encoding), array=settings.format == "json")


def _sample(path: str, settings: Settings) -> list[Any]:
    """Return the first rows of a table."""
    source: Any = path
    if settings.format != "arrow":
        data = head(path, settings.encoding)
        settings = replace(settings, encoding="utf-8")
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
        lines = first_lines(head(path, settings.encoding))
        fields = first_row(lines, settings.delimiter or ",", settings.quote, strip=settings.strip)
        if settings.header is True:
            return [""] * settings.row_names + named(fields)
        return list(settings.header or map(str, range(len(fields))))
    if settings.format == "arff":
        from onmargin.io.arff import attribute_names

        return attribute_names(path, first_lines(head(path, settings.encoding)))
    return list(dict.fromkeys(name for entry in _entries(path, settings) for name in entry))


def _check_columns(given: Mapping[str, Any], names: Sequence[str], but: Collection[str] = ()) -> None:
    """Raise an error for named columns that do not exist."""
    for option in ("label", "labels", "weight", "text", "ignore", "only", "cross"):
        value = given.get(option)
        if value is None or option in but:
            continue
        wanted = [value] if isinstance(value, str) else [n for v in value for n in ([v] if isinstance(v, str) else v)]
        for name in wanted:
            if name not in names:
                flag = "label" if option == "labels" else option
                raise Failure(f"there is no column {name!r} for --{flag}; the columns are {listed(names)}")


def _check_label_columns(labels: Sequence[str], rows: Sequence[Any]) -> None:
    """Raise an error if one of several label columns does not say whether its label is present."""
    for name in labels:
        for row in rows:
            if name in row and not says_yes_or_no(row[name]):
                raise Failure(
                    f"each of several --label columns says whether an example has the label of that name, with 0 or 1, "
                    f"or yes or no; {name!r} has {row[name]!r:.60}. For other targets train one model per column, and "
                    "leave out the other columns with --ignore"
                )


def _guess_label(names: Sequence[str], rows: Sequence[Any], settings: Settings) -> tuple[str, str]:
    """Guess the label column, and return it with a remark if another column may be it.

    It is the column named like a label, or else the last one. It is the first one if the last one is a text, or if
    columns have no names, only the first one may be classes, and the last one is a quantity.
    """
    for words in (LABELS, OUTCOMES):
        called = [name for name in names if name.casefold() in words and (name not in {"y", "Y"} or not _points(names))]
        if len(called) == 1:
            return called[0], ""
    if settings.flat:
        raise Failure(f"name the --label, one of the keys {listed(names)}")
    values = {name: found for name in names if (found := [row[name] for row in rows if name in row]) or not rows}
    if not values:
        raise Failure("no column is left for the label: name it with --label")
    first, last = next(iter(values)), next(reversed(values))
    if is_text(values[last]) and is_label(values[first]):
        return first, ""
    if not settings.header and (kind := classes_in(values[first])) is not None and first != last:
        others = [classes_in(found) for name, found in values.items() if name != first]
        if others[-1] is None and kind not in others and not isinstance(values[last][0], str):
            return first, f"the first column; the last one would be --label {last}"
        if kind == "names" and kind not in others[:-1] and others[-1] is not None:
            if all(map(says_yes_or_no, values[first])) and not all(map(says_yes_or_no, values[last])):
                return first, f"the first column; the last one would be --label {last}"
            return last, f"the last column; the first one would be --label {first}"
    if (reason := judge(rows, [last]).left_out.get(last)) is not None:
        raise Failure(f"the last column, {last!r}, is hardly the label ({reason}): name it with --label")
    return last, ""


def _points(names: Sequence[str]) -> bool:
    """Return whether there are columns x and y, which are coordinates."""
    return "x" in map(str.casefold, names)


def has_labels(settings: Settings, path: str) -> bool:
    """Return whether a file has labels, from its first line or columns; most formats make it explicit."""
    if settings.labels:
        return {*settings.labels} <= {*table_columns(path, settings)}
    if settings.format in {"arrow", "arff", "csv"}:
        return settings.label in table_columns(path, settings)
    if settings.format == "svmlight":
        return re.match(r"\s|\d+:", _first_line(path)) is None
    if settings.format == "text":
        return "\t" in _first_line(path, settings.encoding)
    if settings.format == "conll":
        return _token_width(path, settings.encoding) > settings.columns
    return True


def _first_line(path: str, encoding: str = "utf-8") -> str:
    return next((line for line in first_lines(head(path, encoding)) if line.strip() and not line.startswith("#")), "")


def _token_width(path: str, encoding: str) -> int:
    """Return the number of columns of the first token."""
    lines = first_lines(head(path, encoding))
    first = next((line for line in lines if line.strip() and not line.startswith("-DOCSTART-")), "")
    return len(first.split("\t" if "\t" in first else None))
