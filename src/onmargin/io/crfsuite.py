"""Sequences in CRFsuite's text format."""

import re
from collections.abc import Iterator
from typing import Any

from onmargin.io._reader import Reader, TaggedSequence, line_reader, parse_number, to_blank_line
from onmargin.io._source import Place, RecordError, Source
from onmargin.io.conll import detect_sequences
from onmargin.io.format import Format, Head, Recipe

_ESCAPE = re.compile(r"\\([:\\])")
# The name ends at the first unescaped colon; a backslash before any other character is literal.
_ATTRIBUTE = re.compile(r"((?:[^:\\]|\\[:\\]?)*+)(?::([^:]*))?")


def read_crfsuite(path: Source) -> Reader[TaggedSequence]:
    r"""Read the sequences of a CRFsuite file: one item per line, and blank lines between sequences.

    A line has the label and the item's attributes, separated by tabs. An attribute is a name, optionally followed by a
    colon and a number. In a name, "\:" is a colon and "\\" a backslash.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.

    Returns
    -------
    sequences : Reader of TaggedSequence
        The items of each sequence, each a dict from attributes to values (1 if not given), and their labels.

    Raises
    ------
    ReadError
        During iteration, if a value is not a finite number, or an attribute has two values.

    Notes
    -----
    As in CRFsuite, several consecutive tabs count as one, and the values of an attribute that occurs twice in an item
    are added. Unlike in CRFsuite, a colon in a label is kept whether or not it is escaped; CRFsuite drops an unescaped
    colon and everything after it.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_crfsuite
    >>> text = "B-NP\tw=He\tcapital\nB-VP\tw=said\tlength:4\n\nO\tw=\\:\n"
    >>> for x, y in read_crfsuite(io.StringIO(text)):
    ...     print(x, y)
    [{'w=He': 1.0, 'capital': 1.0}, {'w=said': 1.0, 'length': 4.0}] ['B-NP', 'B-VP']
    [{'w=:': 1.0}] ['O']
    """
    return line_reader(path, _sequences, go_on=to_blank_line)


def _sequences(lines: Iterator[str], _: Place) -> Iterator[TaggedSequence]:
    items: list[dict[str, float]] = []
    labels: list[str] = []
    for line in lines:
        if line:
            label, *attributes = (field for field in line.split("\t") if field) if line.strip("\t") else [""]
            if not label:
                raise RecordError("the line has tabs and no label: leave it empty to end a sequence")
            items.append(_item(attributes))
            labels.append(_ESCAPE.sub(r"\1", label))
        elif items:
            yield TaggedSequence(items, list(labels))
            items, labels = [], []
    if items:
        yield TaggedSequence(items, labels)


def _item(attributes: list[str]) -> dict[str, float]:
    item: dict[str, float] = {}
    for attribute in attributes:
        parts = _ATTRIBUTE.fullmatch(attribute)
        if parts is None:
            raise RecordError(f"attribute {attribute!r} has two colons: write '\\:' for one that is part of the name")
        name = _ESCAPE.sub(r"\1", parts[1])
        value = parse_number(parts[2], f"the value of attribute {name!r}") if parts[2] else 1.0
        item[name] = item.get(name, 0.0) + value
    return item


class Crfsuite(Format):
    """CRFsuite's text format."""

    name = "crfsuite"
    kind = "sequences"

    def matches(self, head: Head) -> bool:
        return detect_sequences(head) == self.name

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        return read_crfsuite(source)
