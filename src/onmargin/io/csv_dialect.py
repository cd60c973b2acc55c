"""Detection of the CSV dialect: delimiter, header, quotes and number format."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice, takewhile
from typing import NamedTuple

from onmargin._numbers import MISSING, SIGNS, is_number, number_form, without_unit

DELIMITERS = ",\t;|"
_ROWS = 500  # maximum number of rows to look at
_SEVERAL = 10  # minimum number of rows to recognize a table without numbers between its blanks
# Patterns, compiled on use.
_COMMA_GROUPS = r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"
_POINT_GROUPS = r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+"
_DECIMAL_COMMA = r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+)?,\d+(?:[eE][-+]?\d+)?"
_OTHER_GROUPS = r"[-+]?\d{1,3}(?P<mark>[ '\u00a0\u202f])\d{3}(?:(?P=mark)\d{3})*(?P<rest>[.,]\d+)?"
_MARKED = rf"{_COMMA_GROUPS}|{_DECIMAL_COMMA}|{_OTHER_GROUPS}"
_HINT = r'"?sep=."?'
_NAME = r"[^\W\d][\w.\-]{0,40}"


class CsvDialect(NamedTuple):
    """Dialect of a CSV or TSV file.

    Attributes
    ----------
    delimiter : str
        The character between fields; a blank stands for any number of blanks and tabs.
    header : bool
        Whether the first row has the names of the columns.
    quote : str or None
        The character around fields that contain a delimiter. If None, fields are not quoted.
    decimal : str
        The decimal mark of numbers.
    thousands : str or None
        The mark between groups of three digits. If None, there is no such mark.
    row_names : bool
        Whether rows start with a name, for which the header has none.
    strip : bool
        Whether there are blanks around fields that do not belong to them.
    """

    delimiter: str
    header: bool
    quote: str | None = '"'
    decimal: str = "."
    thousands: str | None = None
    row_names: bool = False
    strip: bool = False


def detect_dialect(
    lines: Sequence[str],
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    numbers: bool = True,
) -> CsvDialect:
    """Detect the dialect of a CSV file from its first lines.

    Parameters
    ----------
    lines : sequence of str
        The first lines, without line endings.
    delimiter : str or None, default=None
        The character between fields. If None, it is detected.
    header : bool or None, default=None
        Whether the first row has the names of the columns. If None, it is detected.
    decimal : str or None, default=None
        The decimal mark. If None, it is detected.
    thousands : str or None, default=None
        The mark between groups of three digits. If None, it is detected.
    numbers : bool, default=True
        Whether to detect the marks of numbers. If False, a decimal mark that is not given is a point.

    Returns
    -------
    dialect : CsvDialect
        The dialect.

    Raises
    ------
    ValueError
        If it is ambiguous whether a comma in numbers is a decimal mark.
    """
    lines = [line for line in lines if line.strip()][:_ROWS]
    if delimiter is None:
        aligned = is_aligned(lines)
        delimiter = " " if aligned else max(DELIMITERS, key=lambda mark: _regularity(lines, mark))
    quote = _quote(lines, delimiter)
    rows = _rows(lines, delimiter, quote)
    strip = delimiter != " " and _have_blanks(rows)
    if strip:
        rows = _rows(lines, delimiter, quote, strip=True)
    row_names = header is not False and _have_names(rows)
    if header is None:
        header = row_names or (bool(rows) and is_header(rows[0], rows[1:]))
    if not numbers:
        decimal = decimal or "."
    elif decimal is None and thousands is None:
        decimal, thousands = _marks(rows[header:], delimiter)
    elif decimal is None or thousands is None:
        decimal, thousands = _other_mark(rows[header:], decimal, thousands)
    return CsvDialect(delimiter, header, quote, decimal, thousands, row_names, strip)


def is_aligned(lines: Sequence[str], *, categories: bool = True) -> bool:
    """Guess whether the fields of a table are separated by blanks, as in columns that are aligned.

    Nearly all rows must have the same number of fields, and the fields no other delimiter. Half of the columns must be
    numeric, or there must be several rows, all of that width. Where tabs give a table as well, fields with blanks are
    more likely, unless there are several rows, and numeric columns between blanks but none between tabs.

    Parameters
    ----------
    lines : sequence of str
        The first lines, without line endings.
    categories : bool, default=True
        Whether a table without numbers is accepted.

    Returns
    -------
    aligned : bool
        The guess.
    """
    lines = [line for line in lines if line.strip()][:_ROWS]
    if not lines or len(lines[-1].split(None, 1)) < 2 or not {*";|"}.isdisjoint("".join(lines)):
        return False
    rows = _rows(lines, " ", '"')
    width = len(rows[-1]) if rows else 0
    n_same = sum(len(row) == width for row in rows)
    named = _have_names(rows)
    if width < 2 or not (named or len(rows[0]) == width):
        return False
    below = [row for row in rows[1:] or rows if len(row) == width]
    share = sum(map(_is_numeric, zip(*below, strict=True))) / width
    if "\t" in lines[0] and len({line.count("\t") for line in lines}) == 1:
        columns = zip(*(line.split("\t") for line in lines[1:] or lines), strict=True)
        if len(rows) < _SEVERAL or share < 0.5 or any(map(_is_numeric, columns)):
            return False
    if not all(map(_looks_numeric, [field for row in rows for field in row if "," in field])):
        return False
    if share >= 0.5:
        return n_same >= 0.9 * len(rows) or named
    return categories and len(rows) >= _SEVERAL and (n_same == len(rows) or named)


def _have_names(rows: Sequence[Sequence[str]]) -> bool:
    """Guess whether rows start with a name, for which the header has none, as R and pandas write them.

    A delimiter at the end of each row would add an empty field, too.
    """
    first, *below = rows or [()]
    return (
        {len(row) for row in below} == {len(first) + 1}
        and not any(map(_looks_numeric, first))
        and len({row[0] for row in below}) == len(below)
        and any(row[-1] for row in below)
    )


def _is_numeric(column: Iterable[str]) -> bool:
    """Return whether a column has numbers, and besides them only missing values."""
    filled = (field for field in column if field not in MISSING)
    return _looks_numeric(next(filled, "")) and all(map(_looks_numeric, filled))


def _rows(lines: Sequence[str], delimiter: str, quote: str | None, *, strip: bool = False) -> list[list[str]]:
    """Parse lines into rows, up to a row that is damaged or does not end within the lines."""
    found: list[list[str]] = []
    with suppress(csv.Error):
        found.extend(filter(None, csv_rows([f"{line}\n" for line in lines], delimiter, quote, strip=strip)))
    return found


def table_lines(lines: Iterable[str], skip_rows: int, comment: str | None) -> Iterator[str]:
    """Return an iterator over the lines of a table, without those before it and without comments.

    Parameters
    ----------
    lines : iterable of str
        The lines of a file.
    skip_rows : int
        The number of lines before the table.
    comment : str or None
        How comments start; None if there are none.

    Returns
    -------
    lines : iterator of str
        The lines of the table.
    """
    lines = islice(lines, skip_rows, None) if skip_rows else iter(lines)
    return lines if comment is None else (line for line in lines if not line.startswith(comment))


def count_preamble(lines: Sequence[str]) -> int:
    """Return the number of lines before the first of those that all have as many delimiters as the last line.

    Of several marks that may be delimiters, that of the most lines counts: another one may be within numbers.

    Parameters
    ----------
    lines : sequence of str
        The first lines of a file.

    Returns
    -------
    n : int
        The number of lines; 0 if there is no such delimiter.
    """
    found = []
    for mark in DELIMITERS:
        counts = [line.count(mark) for line in lines]
        if counts and counts[-1]:
            found.append(len(counts) - sum(1 for _ in takewhile(counts[-1].__eq__, reversed(counts))))
    return min(found, default=0)


def csv_rows(lines: Iterable[str], delimiter: str, quote: str | None, *, strip: bool = False) -> Iterator[list[str]]:
    """Return an iterator over the rows of a CSV file; that of a blank line is empty.

    A first line such as "sep=;", which tells a spreadsheet program the delimiter, is skipped.

    Parameters
    ----------
    lines : iterable of str
        The lines, with line endings.
    delimiter : str
        The character between fields; a blank stands for any number of blanks and tabs.
    quote : str or None
        The character around fields.
    strip : bool, default=False
        Whether to remove blanks around fields.

    Returns
    -------
    rows : iterator of lists of str
        The rows.
    """
    lines = iter(lines)
    first = next(lines, None)
    if first is not None and re.fullmatch(_HINT, first.rstrip()) is None:
        lines = chain([first], lines)
    quoting = (
        {"quotechar": quote, "strict": True} if quote is not None else {"quotechar": None, "quoting": csv.QUOTE_NONE}
    )
    if delimiter == " ":
        lines = map(_single_spaced, lines)
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=strip or delimiter == " ", **quoting)
    return ([field.strip() for field in row] for row in rows) if strip else rows


def _single_spaced(line: str) -> str:
    return line.replace("\t", " ").strip() + "\n"


def _quote(lines: Sequence[str], delimiter: str) -> str | None:
    """Return the character around fields: two marks, or one if it is around all fields of the first line."""
    first = lines[0].split(delimiter) if lines else []
    if len(first) > 1 and all(re.fullmatch(r"'[^']*'", field.strip()) for field in first):
        return "'"
    return '"' if delimiter != "\t" or _has_quotes(lines) else None


def _have_blanks(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a blank follows each delimiter, as in "a, b, c"; a field may be empty otherwise."""
    fields = [field for row in rows for field in row[1:] if field]
    return bool(fields) and {field[0] for field in fields} == {" "}


def column_names(fields: Sequence[str]) -> list[str]:
    """Return the names of the columns of a header; if several are empty, as behind a table, they get numbers.

    Parameters
    ----------
    fields : sequence of str
        The first row.

    Returns
    -------
    names : list of str
        The names.
    """
    several = sum(not field for field in fields) > 1
    return [field or (f"column {k}" if several else "") for k, field in enumerate(fields)]


def _has_quotes(lines: Sequence[str]) -> bool:
    """Return whether tab-separated fields are quoted, rather than texts in which a quote is an ordinary character."""
    fields = [field for line in lines for field in line.split("\t")]
    quoted = [field for field in fields if field.startswith('"')]
    return bool(quoted) and all(len(field) > 1 and field.endswith('"') for field in quoted)


def first_row(lines: Sequence[str], delimiter: str, quote: str | None, *, strip: bool = False) -> list[str]:
    """Return the fields of the first row, which may span several lines.

    Parameters
    ----------
    lines : sequence of str
        The first lines, without line endings.
    delimiter : str
        The character between fields.
    quote : str or None
        The character around fields.
    strip : bool, default=False
        Whether to remove blanks around fields.

    Returns
    -------
    fields : list of str
        The fields; empty if there is no row.
    """
    filled = [f"{line}\n" for line in lines if line.strip()]
    with suppress(csv.Error):
        return next(filter(None, csv_rows(filled, delimiter, quote, strip=strip)), [])
    return []


def _regularity(lines: Sequence[str], delimiter: str) -> tuple[float, bool, bool, float, int]:
    """Return how well a delimiter fits the lines, as a tuple of criteria to compare.

    The criteria are, in this order: the share of lines with the most common width, whether the first row has that width
    (a header has no decimal commas), whether the delimiter is not a comma (which may be the decimal mark of a column),
    the share of numeric fields, and the width.
    """
    rows = _rows(lines, delimiter, '"' if delimiter != "\t" or _has_quotes(lines) else None)
    if not rows:
        return 0.0, False, False, 0.0, 0
    (width, n_rows), *_ = Counter(map(len, rows)).most_common(1)
    if width == 1:
        return 0.0, False, False, 0.0, 1
    fields = [field for row in rows for field in row]
    share = sum(map(_looks_numeric, fields)) / len(fields)
    return round(n_rows / len(lines), 1), len(rows[0]) == width, delimiter != ",", share, width


_is_number = lru_cache(1 << 12)(is_number)


@lru_cache(1 << 12)
def _looks_numeric(field: str) -> bool:
    if _is_number(field):
        return True
    if not any(map(str.isdigit, field)):
        return False
    bare = without_unit(field.strip())
    return _is_number(bare) or re.fullmatch(_MARKED, bare) is not None


def is_header(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Guess whether the first row of a table has the names of the columns.

    A row with a number is not a header. Otherwise, it is a header if any column below it is numeric. Otherwise, it is a
    header if its fields are different and none occurs again in its column, and either other values repeat within a
    column or all its fields look like identifiers.

    Parameters
    ----------
    first : sequence of str
        The first row.
    rows : sequence of sequences of str
        Rows that follow.

    Returns
    -------
    header : bool
        The guess.
    """
    if any(map(_looks_numeric, first)):
        return len(first) > 2 and list(first) == [str(k) for k in range(len(first))]
    columns = [[row[k] for row in rows if len(row) == len(first) and row[k] not in MISSING] for k in range(len(first))]
    if any(sum(map(_looks_numeric, column)) > 0.9 * len(column) for column in columns):
        return True
    if len(set(first)) < len(first) or any(name in column for name, column in zip(first, columns, strict=True)):
        return False
    repeated = any(len(set(column)) < len(column) for column in columns)
    return repeated or all(re.fullmatch(_NAME, name) for name in first)


def _marks(rows: Sequence[Sequence[str]], delimiter: str) -> tuple[str, str | None]:
    """Return the decimal mark and the thousands mark of the numeric columns."""
    fields = [field for column in _numeric_columns(rows) for field in column]
    marked = [field for field in fields if not _is_number(field)]
    if not marked:
        return ".", None
    for field in marked:
        if (found := re.fullmatch(_OTHER_GROUPS, field)) is not None:
            rest = next((m["rest"] for f in marked if (m := re.fullmatch(_OTHER_GROUPS, f)) and m["rest"]), ".")
            decimal = "," if any(_is_decimal(field) for field in marked) else rest[0]
            return decimal, found["mark"]
    decimals, groups = any(map(_is_decimal, marked)), any(map(_is_grouped, marked))
    if decimals == groups and not (delimiter == "," and not decimals):
        raise ValueError(f"a comma in numbers such as {marked[0]!r} may be a decimal mark or a thousands separator")
    if decimals:
        # A few numbers such as "1.234,5" do not make a group of thousands of the fraction of each "0.125" and "1.5".
        grouped = sum("." in field for field in marked)
        points = sum(_is_number(field) and "." in field and not re.fullmatch(_POINT_GROUPS, field) for field in fields)
        return ",", "." if grouped > points else None
    return ".", ","


def _numeric_columns(rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Yield the numbers of each column that mostly has numbers, without units."""
    width = max(map(len, rows), default=0)
    for k in range(width):
        filled = [field for row in rows if k < len(row) and (field := row[k].strip()) not in MISSING]
        numbers = [field for field in filled if _looks_numeric(field)]
        if 2 * len(numbers) > len(filled):
            yield [field if SIGNS.isdisjoint(field) else without_unit(field) for field in numbers]


def _other_mark(rows: Sequence[Sequence[str]], decimal: str | None, thousands: str | None) -> tuple[str, str | None]:
    """Return the decimal and the thousands mark if one is given: those that make the most fields numbers."""
    decimals = (".", ",") if decimal is None else (decimal,)
    groups = (None, ".", ",", "'", " ", "\u00a0", "\u202f") if thousands is None else (thousands,)
    fields = [field for column in _numeric_columns(rows) for field in column]

    def n_numbers(marks: tuple[str, str | None]) -> int:
        form = re.compile(number_form(*marks))
        return sum(form.fullmatch(field) is not None for field in fields)

    return max(((d, t) for d in decimals for t in groups if d != t), key=n_numbers)


def _is_decimal(field: str) -> bool:
    return bool(re.fullmatch(_DECIMAL_COMMA, field)) and not re.fullmatch(_COMMA_GROUPS, field)


def _is_grouped(field: str) -> bool:
    return bool(re.fullmatch(_COMMA_GROUPS, field)) and not re.fullmatch(_DECIMAL_COMMA, field)
