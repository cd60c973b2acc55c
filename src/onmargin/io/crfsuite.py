"""Sequences in CRFsuite's format of items with attributes."""

import re
from collections.abc import Iterator

from onmargin.io._reader import Reader, TaggedSequence, line_reader, parse_number, to_blank_line
from onmargin.io._source import Place, RecordError, Source

_ESCAPE = re.compile(r"\\([:\\])")
# The name runs to the first colon that no backslash escapes; a backslash before anything else is itself.
_ATTRIBUTE = re.compile(r"((?:[^:\\]|\\[:\\]?)*+)(?::([^:]*))?")


def read_crfsuite(path: Source) -> Reader[TaggedSequence]:
    r"""Sequences of a file of CRFsuite: one item a line, with blank lines between sequences.

    A line has the label, then the item's attributes, with tabs between them. An attribute is a name, or a name, a colon
    and a number; in a name, "\:" is a colon and "\\" a backslash.

    Parameters
    ----------
    path : str, path-like or file
        The file, compressed with gzip, xz or Zstandard or not; "-" is the standard input.

    Returns
    -------
    sequences : Reader of TaggedSequence
        The items of each sequence, each a dict of attributes and their values, 1 where there is none; and their labels.

    Raises
    ------
    ReadError
        In the loop: if a value is not a finite number, or an attribute has two.

    Notes
    -----
    As CRFsuite reads it: several tabs are as good as one, the values of an attribute that an item has twice add up. A
    colon in a label is kept, escaped or not: CRFsuite drops one that is not, and all that follows it.

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
