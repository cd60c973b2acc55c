"""Tables in text: CSV and TSV."""

import csv
from collections.abc import Iterator, Sequence
from typing import Any

from onmargin.io._fields import Columns
from onmargin.io._reader import Reader, Record, line_reader, parse_number
from onmargin.io._source import Place, RecordError, Source


def read_csv(
    path: Source,
    label: str | int | None = -1,
    *,
    weight: str | int | None = None,
    delimiter: str = ",",
    header: bool | Sequence[str] = True,
    text: Sequence[str] = (),
) -> Reader[Record]:
    r"""Rows of a table in text, as dicts.

    A field that is a number becomes one, an empty field is left out, and anything else stays a string: a category.

    Parameters
    ----------
    path : str, path-like or file
        The file, compressed with gzip, xz or Zstandard or not; "-" is the standard input.
    label : str, int or None, default=-1
        Name or place of the column of the label, from 0, or from -1 at the end; None if there is none. A label is read
        like other fields: a number if it is one.
    weight : str, int or None, default=None
        Name or place of the column with the weight of a row.
    delimiter : str, default=","
        What parts fields; "\t" for TSV.
    header : bool or sequence of str, default=True
        Whether the first row has the names of the columns; without it they are "0", "1" and so on. Or the names.
    text : sequence of str, default=()
        Names of columns that hold strings even where they look like numbers, such as postcodes.

    Returns
    -------
    records : Reader of Record
        A dict of the other columns, the label and the weight of each row.

    Raises
    ------
    ReadError
        In the loop: if a row has more or fewer fields than the first, a column is missing, a label is empty, or a
        number is not finite.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_csv
    >>> for record in read_csv(io.StringIO("colour,size,class\nred,1.5,yes\nblue,,no\n"), label="class"):
    ...     print(record)
    Record(x={'colour': 'red', 'size': 1.5}, y='yes', weight=1.0)
    Record(x={'colour': 'blue'}, y='no', weight=1.0)
    """
    if not isinstance(delimiter, str) or len(delimiter) != 1:
        raise ValueError(f"delimiter must be one character; got {delimiter!r}")
    strings = frozenset(text)

    def parse(lines: Iterator[str], _: Place) -> Iterator[Record]:
        rows = _csv_rows(lines, delimiter)
        first = next(rows, None)
        if first is None:
            return
        names = first if header is True else list(header) if header else [str(k) for k in range(len(first))]
        columns = Columns(names, label, weight)
        if header is not True:
            yield columns.record(_values(names, first, strings))
        for row in rows:
            yield columns.record(_values(names, row, strings))

    return line_reader(path, parse, newline="")


def _csv_rows(lines: Iterator[str], delimiter: str) -> Iterator[list[str]]:
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise RecordError(f"the row is not CSV: {error}") from error
        if row:
            yield row


def _values(names: Sequence[str], row: list[str], strings: frozenset[str]) -> dict[str, Any]:
    if len(row) != len(names):
        raise RecordError(f"the row has {len(row)} fields, and there are {len(names)} columns")
    pairs = zip(names, row, strict=True)
    return {name: field if name in strings else _number_or_string(name, field) for name, field in pairs if field}


def _number_or_string(name: str, field: str) -> float | str:
    try:
        float(field)
    except ValueError:
        return field
    return field if "_" in field else parse_number(field, f"column {name!r}")
