"""Tables in Weka's ARFF format."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from onmargin.io._reader import Columns, Reader, ReadError, Record, line_reader, parse_number
from onmargin.io._source import DamageError, Place, RecordError, Source
from onmargin.io.format import Head, Recipe
from onmargin.io.table_format import TableFormat

_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+(\S.*)""", re.IGNORECASE)
_NUMBERS = {"numeric", "real", "integer"}
_ESCAPED = re.compile(r"\\(.)")


class Attribute(NamedTuple):
    """A column: its name, whether it is numeric, and its value in sparse rows that omit it."""

    name: str
    number: bool
    default: float | str


def read_arff(path: Source, label: str | int | None = -1, *, weight: str | int | None = None) -> Reader[Record]:
    r"""Read the rows of a file in Weka's ARFF format, dense or sparse, as dicts.

    Values of numeric attributes and of attributes ``{0, 1}`` are numbers, and all other values are strings. Missing
    values ("?") are omitted.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.
    label : str, int or None, default=-1
        Name or index of the label attribute; -1 is the last attribute. If None, rows have no label.
    weight : str, int or None, default=None
        Name or index of the attribute with the row weights. If None, all weights are 1.

    Returns
    -------
    records : Reader of Record
        For each row, a dict of the other attributes, the label and the weight.

    Raises
    ------
    ReadError
        During iteration, if the header or a row is not ARFF, an attribute is missing, or a number is not finite.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_arff
    >>> text = "@relation r\n@attribute size numeric\n@attribute kind {a, b}\n@data\n1.5,a\n?,b\n"
    >>> for record in read_arff(io.StringIO(text)):
    ...     print(record)
    Record(x={'size': 1.5}, y='a', weight=1.0)
    Record(x={}, y='b', weight=1.0)
    """

    def parse(lines: Iterator[str], at: Place) -> Iterator[Record]:
        at.kept = at.kept or _header(lines)
        attributes: list[Attribute] = at.kept
        columns = Columns([one.name for one in attributes], label, weight)
        for line in lines:
            text = line.strip()
            if text and not text.startswith("%"):
                yield columns.record(_row(text, attributes))

    return line_reader(path, parse)


def _header(lines: Iterable[str]) -> list[Attribute]:
    """Read the columns from the lines of a file; those after "@data" are not consumed.

    No row can be read after a problem in the header.
    """
    attributes: list[Attribute] = []
    for line in lines:
        text = line.strip()
        word = text.partition(" ")[0].lower()
        if word == "@data":
            return attributes
        if word.startswith("@attribute"):
            parts = _ATTRIBUTE.fullmatch(text)
            if parts is None:
                raise DamageError(f"an attribute has a name and a type; got {text[:60]!r}")
            attributes.append(_attribute(_unquoted(parts[1]), parts[2].strip()))
        elif text and not text.startswith("%") and word != "@relation":
            raise DamageError(f"the header has @relation, @attribute and @data; got {text[:60]!r}")
    raise DamageError("the file has no @data")


def _attribute(name: str, kind: str) -> Attribute:
    if kind.lower() in _NUMBERS:
        return Attribute(name, True, 0.0)
    if not kind.startswith("{"):
        return Attribute(name, False, "")  # a string, or a date with its format
    values = [_unquoted(value) for value in _split(kind.strip("{}"))]
    if set(values) == {"0", "1"}:
        return Attribute(name, True, 0.0)
    return Attribute(name, False, values[0] if values else "")


def _row(text: str, attributes: list[Attribute]) -> dict[str, Any]:
    if text.startswith("{"):
        given = dict(map(_entry, filter(None, (part.strip() for part in _split(text.strip("{} "))))))
        if given and not 0 <= max(given) < len(attributes):
            raise RecordError(f"there are {len(attributes)} attributes, from 0; got {max(given)}")
        fields: list[Any] = [given.get(k, one.default) for k, one in enumerate(attributes)]
    else:
        fields = _split(text)
        if len(fields) != len(attributes):
            raise RecordError(f"the row has {len(fields)} fields, and there are {len(attributes)} attributes")
    pairs = zip(attributes, fields, strict=True)
    return {one.name: _value(one, field) for one, field in pairs if field not in {"?", ""}}


def _value(attribute: Attribute, field: Any) -> float | str:
    if isinstance(field, float):
        return field
    return parse_number(field, f"attribute {attribute.name!r}") if attribute.number else _unquoted(field)


def _entry(part: str) -> tuple[int, str]:
    place, _, value = part.partition(" ")
    if not place.isdecimal() or not value.strip():
        raise RecordError(f"a sparse row has pairs of an index and a value; got {part[:60]!r}")
    return int(place), _unquoted(value.strip())


def _split(text: str) -> list[str]:
    """Split a row at commas; the quote character is the kind of quote that occurs first in the row."""
    quote = min((mark for mark in "'\"" if mark in text), key=text.index, default='"')
    try:
        rows = csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True, strict=True)
        return [field.strip() for field in next(rows, [])]
    except csv.Error as error:
        raise RecordError(f"the row is not ARFF: {error}") from error


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return _ESCAPED.sub(r"\1", text[1:-1])
    return text


class Arff(TableFormat):
    """Weka's ARFF."""

    name = "arff"
    parses_strings = False

    def matches(self, head: Head) -> bool:
        return re.match(r"(?i)\s*(?:%|@relation\b)", head.filled[0]) is not None

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        return read_arff(source, self.read_label(recipe, labeled), weight=recipe.weight)

    def columns(self, path: str, recipe: Recipe) -> list[str]:
        try:
            return [one.name for one in _header(Head(path, recipe.encoding).lines)]
        except RecordError as problem:
            raise ReadError(str(problem), path, 1) from problem
