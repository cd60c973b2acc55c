"""Tables in text: CSV and TSV."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import inf
from typing import IO, Any, ClassVar

from onmargin._numbers import MISSING, SIGNS, is_number, number_form, plain_numbers
from onmargin.io._reader import MAX_RECORD, Columns, Reader, Record, line_reader, parse_number
from onmargin.io._source import Place, RecordError, Source
from onmargin.io.csv_dialect import (
    CsvDialect,
    column_names,
    count_preamble,
    csv_rows,
    detect_dialect,
    first_row,
    table_lines,
)
from onmargin.io.format import (
    FileProfile,
    FormatError,
    Head,
    LabelNumbers,
    Options,
    Recipe,
    UnwritableError,
    Write,
    as_integer,
    pipe_name,
)
from onmargin.io.table_format import TableFormat

_DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars", " ": "whitespace"}
COMMENTS = "use --comment '#' if it is a table with comments"


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
    skip_rows: int = 0,
    comment: str | None = None,
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
    skip_rows : int, default=0
        Number of lines before the table to skip, such as those of a title.
    comment : str or None, default=None
        Lines that start with this string are skipped. If None, no line is a comment.

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
    parse_field = _field_parser(decimal, thousands)
    strings, left_out = frozenset(text), frozenset(missing)

    # at.kept holds the column names, so that parsing can restart after a skipped row.
    def parse(lines: Iterator[str], at: Place) -> Iterator[Record]:
        names: Sequence[str] | None = at.kept
        # The reader limits a record as a whole; the limit of the csv module applies to all readers of a process.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_RECORD))
        lines = table_lines(lines, skip_rows if names is None else 0, comment)
        rows = filter(None, csv_rows(lines, delimiter, quote, strip=strip))
        again: list[list[str]] = []
        try:
            if names is None:
                first = next(rows, None)
                if first is None:
                    return
                names = column_names(first) if header is True else list(header or map(str, range(len(first))))
                names = ["", *names] if row_names else names
                again = [] if header is True else [first]
            columns = Columns(names, label, weight)
            at.kept = names
            for row in chain(again, rows):
                if len(row) != len(names):
                    raise RecordError(f"the row has {len(row)} fields, and there are {len(names)} columns")
                if header is True and row == names and len(names) > 1:
                    raise RecordError("the row repeats the header, as where files were joined: remove it")
                values: dict[str, float | str] = {}
                for name, field in zip(names, row, strict=True):
                    if field and (field not in left_out or name == columns.label):
                        values[name] = field if name in strings else parse_field(name, field)
                yield columns.record(values)
        except csv.Error as error:
            raise RecordError(f"the row is not CSV: {error}") from error

    return line_reader(path, parse, newline="")


def _field_parser(decimal: str, thousands: str | None) -> Callable[[str, str], float | str]:
    """Return a function that parses the field of a column: a number, or else the field itself."""
    plain, is_usual = plain_numbers(decimal, thousands), decimal == "." and thousands is None

    def parse(name: str, field: str) -> float | str:
        try:
            number = float(field)
            if is_usual and -inf < number < inf and "_" not in field:
                return number
        except ValueError:
            if is_usual and SIGNS.isdisjoint(field):  # a category
                return field
        text = plain(field)
        return parse_number(text, f"column {name!r}") if is_number(text) else field

    return parse


class Csv(TableFormat):
    """CSV, TSV, and tables whose columns are separated by whitespace."""

    name = "csv"
    options: ClassVar[frozenset[str]] = TableFormat.options | {
        *("delimiter", "header", "decimal", "thousands", "skip_rows", "comment")
    }
    missing = MISSING
    parses_strings = False  # the reader does

    def matches(self, head: Head) -> bool:
        return head.is_table

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        header = recipe.dialect["header"]
        label, weight = (
            int(name) if name is not None and not header and name.isdecimal() else name
            for name in (self.read_label(recipe, labeled), recipe.weight)
        )
        separated = [recipe.label] if recipe.label is not None and recipe.label_separator is not None else []
        # Cells of columns that had no numbers in training are categories.
        features = recipe.features
        numeric = {*features.get("numbers", ()), *features.get("mixed", ())}
        text = [*recipe.text, *recipe.renamed, *separated, *(name for name in recipe.table if name not in numeric)]
        return read_csv(source, label, weight=weight, text=text, missing=self.missing, **recipe.dialect)

    def profile(self, path: str, recipe: Recipe, given: Options) -> FileProfile:
        try:
            return super().profile(path, recipe, given)
        except FormatError as error:
            n = 0 if given.get("skip_rows") else count_preamble(Head(path, recipe.encoding).lines)
            if not n:
                raise
            raise FormatError(f"{error}. If the table starts in line {n + 1}, use --skip-rows {n}") from error

    def detect_dialect(self, path: str, recipe: Recipe, given: Options, *, numbers: bool = True) -> Recipe:
        """Return the recipe with the dialect of a file; without `numbers`, their marks are not detected."""
        delimiter = given.get("delimiter") or ("\t" if ".tsv" in path.lower()[-8:] else None)
        preamble: dict[str, Any] = {"skip_rows": given.get("skip_rows") or 0, "comment": given.get("comment")}
        lines = list(table_lines(Head(path, recipe.encoding).lines, **preamble))
        marks = {name: given.get(name) for name in ("header", "decimal", "thousands")}
        try:
            found = detect_dialect(lines, delimiter=delimiter, numbers=numbers, **marks)
        except ValueError as error:
            raise FormatError(f"{path}: {error}: set --decimal , or --thousands ,") from error
        if lines and lines[0].startswith("#"):
            ends = [lines[0], next((line for line in lines if line.strip() and not line.startswith("#")), lines[0])]
            widths = [len(first_row([line], found.delimiter, found.quote)) for line in ends]
            if widths[0] != widths[1] and not found.row_names:
                raise FormatError(f"{path} starts with the comment {lines[0]!r:.60}: {COMMENTS}")
        if given.get("decimal") is not None or given.get("thousands") is not None:
            self._check_marks(path, lines[found.header :], found)
        return replace(recipe, dialect=found._asdict() | preamble)

    def _check_marks(self, path: str, lines: Sequence[str], dialect: CsvDialect) -> None:
        """Raise an error for marks that contradict the numbers of a file."""
        form = re.compile(number_form(dialect.decimal, dialect.thousands))
        cells = [cell for line in lines for cell in first_row([line], dialect.delimiter, dialect.quote)]
        plain = next((cell for cell in cells if "." in cell and is_number(cell) and not form.fullmatch(cell)), None)
        if plain is not None and not any(form.fullmatch(cell) and not is_number(cell) for cell in cells):
            marks = {"--decimal": dialect.decimal, "--thousands": dialect.thousands}
            given = " and ".join(f"{name} {mark!r}" for name, mark in marks.items() if mark is not None)
            raise FormatError(f"{path} has numbers such as {plain!r}, which do not go with {given}: omit the option")

    def adapt(self, path: str, recipe: Recipe, trained: Recipe, given: Options) -> Recipe:
        recipe = super().adapt(path, recipe, trained, given)
        if not self.columns(path, recipe):
            raise FormatError(f"{pipe_name(path)} is empty")
        return recipe

    def adapt_dialect(self, path: str, recipe: Recipe, trained: Recipe, given: Options) -> Recipe:
        if trained.format != self.name:
            return self.detect_dialect(path, recipe, given)
        # Numbers are written as in the training data. The delimiter is that of the training data if it gives the
        # columns of the model.
        usual = {**{name: trained.dialect[name] for name in ("header", "skip_rows", "comment")}, **given}
        own = self.detect_dialect(path, recipe, {"delimiter": trained.dialect["delimiter"], **usual}, numbers=False)
        if self.missing_columns(path, own):
            own = self.detect_dialect(path, recipe, usual, numbers=False)
        if usual["skip_rows"] and self.missing_columns(path, own):  # the file starts with the table
            own = self.detect_dialect(path, recipe, {**usual, "skip_rows": 0}, numbers=False)
        header = own.dialect["header"] or self._names_without_label(path, own, trained)
        marks = {name: trained.dialect[name] for name in ("decimal", "thousands")}
        return own.with_dialect(header=header, **marks)

    def _names_without_label(self, path: str, own: Recipe, trained: Recipe) -> list[str]:
        """Return the names of the columns of a table without header that has all columns of the model but the label.

        The columns behind that of the label keep their numbers. The list is empty if the file is not such a table.
        """
        labels = {trained.label or "", *trained.labels}
        known = {*trained.table, *trained.features.get("ignore", ()), *labels}
        numbers = [int(name) for name in known if name.isdecimal()]
        names = [name for name in map(str, range(max(numbers, default=-1) + 1)) if name not in labels]
        fits = not trained.dialect["header"] and trained.table and len(self.columns(path, own)) == len(names)
        return names if fits else []

    def columns(self, path: str, recipe: Recipe) -> list[str]:
        dialect = recipe.dialect
        lines = list(table_lines(Head(path, recipe.encoding).lines, dialect["skip_rows"], dialect["comment"]))
        fields = first_row(lines, dialect["delimiter"], dialect["quote"], strip=dialect["strip"])
        if dialect["header"] is True:
            return [""] * dialect["row_names"] + column_names(fields)
        return list(dialect["header"] or map(str, range(len(fields))))

    def verbatim(self, path: str, recipe: Recipe) -> Recipe:
        return replace(recipe.with_features(numbers=(), mixed=()), table=self.columns(path, recipe))

    def raw_rows(self, path: str, recipe: Recipe) -> Iterator[Mapping[str, str]] | None:
        # An id of 007 must not become 7.
        marks = {name: value for name, value in recipe.dialect.items() if name not in {"decimal", "thousands"}}
        reader = read_csv(path, None, text=self.columns(path, recipe), **marks)
        reader.encoding = recipe.encoding
        return (record.x for record in reader)

    def describe(self, recipe: Recipe) -> list[str]:
        dialect = recipe.dialect
        decimal = None if dialect["decimal"] == "." else dialect["decimal"]
        marks = {"decimal mark": decimal, "thousands mark": dialect["thousands"]}
        return [
            f"{_DELIMITERS.get(dialect['delimiter'], dialect['delimiter'])} between fields",
            "a header" if dialect["header"] else "no header (columns are 0, 1, ...)",
            *(f"{what} {mark!r}" for what, mark in marks.items() if mark is not None),
        ]

    def writer(self, out: IO[str], names: IO[str] | None, labels: LabelNumbers) -> Write:
        """Return a writer; the columns are those of the first example, followed by the label."""
        rows = csv.writer(out, lineterminator="\n")
        columns: list[str] = []

        def write(x: Any, y: Any, weight: float) -> None:
            if isinstance(x, str):
                x = {"text": x}
            if not isinstance(x, dict) or isinstance(y, list) or weight != 1.0:
                raise UnwritableError("a table has a number or a string in each column, one label and no weights")
            if not columns:
                columns.extend(x)
                rows.writerow([*columns, "label"])
            strange = x.keys() - set(columns)
            if strange:
                raise UnwritableError(f"the first example has no column {sorted(strange)[0]!r}: write it as jsonl")
            rows.writerow([*(x.get(name, "") for name in columns), "" if y is None else as_integer(y)])

        return write
