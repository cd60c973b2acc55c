"""Tables in text: CSV and TSV."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence

from onmargin.io._fields import Columns
from onmargin.io._reader import MAX_RECORD, Reader, Record, line_reader, parse_number
from onmargin.io._source import Place, RecordError, Source
from onmargin.io.csv_look import csv_rows, is_number, named, number_form, without_unit


def read_csv(
    path: Source,
    label: str | int | None = -1,
    *,
    weight: str | int | None = None,
    delimiter: str = ",",
    header: bool | Sequence[str] = True,
    text: Sequence[str] = (),
    quote: str | None = '"',
    decimal: str = ".",
    thousands: str | None = None,
    missing: Sequence[str] = ("",),
    row_names: bool = False,
    strip: bool = False,
) -> Reader[Record]:
    r"""Read the rows of a CSV or TSV file as dicts.

    Numeric fields become numbers, also those with a currency or percent sign ("$5", "3 %"). Empty fields are omitted,
    and all other fields stay strings (categories). A first line such as "sep=;", which some spreadsheet programs write,
    is skipped.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.
    label : str, int or None, default=-1
        Name or index of the label column; -1 is the last column. If None, rows have no label. A numeric label becomes a
        number, like any other field.
    weight : str, int or None, default=None
        Name or index of the column with the row weights. If None, all weights are 1.
    delimiter : str, default=","
        Field separator; "\t" for TSV. A blank stands for any number of blanks and tabs.
    header : bool or sequence of str, default=True
        Whether the first row has the names of the columns. If False, the names are "0", "1" and so on. If a sequence,
        these are the names and the file has no header.
    text : sequence of str, default=()
        Names of columns to keep as strings even if they look like numbers, such as postal codes.
    quote : str or None, default='"'
        The character around fields that contain a delimiter. If None, quotes are ordinary characters.
    decimal : str, default="."
        The decimal mark of numbers.
    thousands : str or None, default=None
        The mark between groups of three digits. If None, there is no such mark.
    missing : sequence of str, default=("",)
        Fields that denote a missing value and are omitted, such as "NA" or "?". A label is missing only if it is empty.
    row_names : bool, default=False
        Whether rows start with a name for which the header has none, as ``write.table`` of R writes them. The name of
        that column is "".
    strip : bool, default=False
        Whether to remove blanks around fields, as in "red, 1.5, yes".

    Returns
    -------
    records : Reader of Record
        For each row, a dict of the other columns, the label and the weight.

    Raises
    ------
    ReadError
        During iteration, if a row has more or fewer fields than the first, a column is missing, a label is empty, or a
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
    marks = {"delimiter": delimiter, "quote": quote, "decimal": decimal, "thousands": thousands}
    for option, mark in marks.items():
        if not (isinstance(mark, str) and len(mark) == 1) and not (mark is None and option in {"quote", "thousands"}):
            raise ValueError(f"{option} must be one character; got {mark!r}")
    if decimal == thousands:
        raise ValueError(f"decimal and thousands must be two marks; both are {decimal!r}")
    parse_field = _plain if decimal == "." and thousands is None else _with_marks(decimal, thousands)
    strings, left_out = frozenset(text), frozenset(missing)

    # at.kept holds the column names, so that parsing can restart after a skipped row.
    def parse(lines: Iterator[str], at: Place) -> Iterator[Record]:
        rows = _csv_rows(lines, delimiter, quote, strip)
        names: Sequence[str] | None = at.kept
        if names is None:
            first = next(rows, None)
            if first is None:
                return
            names = named(first) if header is True else list(header) if header else [str(k) for k in range(len(first))]
            names = ["", *names] if row_names else names
        columns = Columns(names, label, weight)
        given = at.kept is None and header is not True
        at.kept = names

        def record(row: list[str]) -> Record:
            if len(row) != len(names):
                raise RecordError(f"the row has {len(row)} fields, and there are {len(names)} columns")
            pairs = zip(names, row, strict=True)
            return columns.record(
                {
                    name: field if name in strings else parse_field(name, field)
                    for name, field in pairs
                    if field and (field not in left_out or name == columns.label)
                }
            )

        if given:
            yield record(first)  # type: ignore[arg-type]
        for row in rows:
            yield record(row)

    return line_reader(path, parse, newline="")


def _csv_rows(lines: Iterator[str], delimiter: str, quote: str | None, strip: bool) -> Iterator[list[str]]:
    # The record as a whole is limited by the reader; the limit of the csv module applies to all readers in a process.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_RECORD))
    rows = csv_rows(lines, delimiter, quote, strip=strip)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise RecordError(f"the row is not CSV: {error}") from error
        if row:
            yield row


def _plain(name: str, field: str) -> float | str:
    try:
        float(field)
    except ValueError:
        bare = without_unit(field.strip())
        return parse_number(bare, f"column {name!r}") if bare != field and is_number(bare) else field
    return field if "_" in field else parse_number(field, f"column {name!r}")


def _with_marks(decimal: str, thousands: str | None) -> Callable[[str, str], float | str]:
    """Return a parser of fields whose numbers have the given decimal and thousands marks."""
    form = re.compile(number_form(decimal, thousands))

    def parse(name: str, field: str) -> float | str:
        text = without_unit(field.strip())
        if not form.fullmatch(text):
            return _plain(name, field)
        return _plain(name, (text.replace(thousands, "") if thousands else text).replace(decimal, "."))

    return parse
