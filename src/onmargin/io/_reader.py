"""Records and their readers, checks of the fields of a record, and selection of the label and weight columns."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar, cast

from onmargin.io._source import DamageError, EncodingError, Lines, Place, RecordError, Source, name_of, opened

T_co = TypeVar("T_co", covariant=True)

# Approximate maximum length of a problem in an error message, in characters.
_LONGEST = 400

# Maximum decompressed size of a record in bytes: a few bytes of compressed data can expand to gigabytes.
MAX_RECORD = 1 << 26


class ReadError(ValueError):
    """Error for a record that cannot be read; all records before it have been yielded.

    Attributes
    ----------
    path : str
        The file.
    record : int
        Number of the record, counted from 1.
    line : int or None
        Number of the line where the problem was found, counted from 1. None if the format has no lines.
    skippable : bool
        Whether records after it can be read, if the reader has an `on_error`.
    names_remedy : bool
        Whether the message says how the record can be read.
    """

    skippable = True
    names_remedy = False

    def __init__(self, problem: str, path: str, record: int, line: int | None = None) -> None:
        if len(problem) > _LONGEST:  # a record may be a line of a megabyte
            problem = f"{problem[: _LONGEST // 2]} ... {problem[-_LONGEST // 4 :]}"
        super().__init__(problem, path, record, line)
        self.problem = problem
        self.path = path
        self.record = record
        self.line = line

    def __str__(self) -> str:
        where = f"record {self.record}" if self.line is None else f"line {self.line}, record {self.record}"
        return f"{self.path}, {where}: {self.problem}"


class Record(NamedTuple):
    """One example.

    Attributes
    ----------
    x : dict, list of str, or str
        Features by name, with numbers or strings as values; a list of the names of the features present; or a text.
    y : str, float, list or None
        The label or target. None if the example has none.
    weight : float
        Weight of the example.
    """

    x: Any
    y: Any = None
    weight: float = 1.0


class TaggedSequence(NamedTuple):
    """One sequence of tokens.

    Attributes
    ----------
    x : list
        The columns or features of each token.
    y : list of str or None
        The label of each token. None if the tokens have no labels.
    """

    x: list[Any]
    y: list[str] | None = None


class Reader(Generic[T_co]):
    """Iterable over the records of a file. Each loop reads the file from its start; a stream can be read only once.

    Parameters
    ----------
    path : str
        Name of the file in error messages.
    records : callable
        Yields the records in order, and keeps the :class:`Place` it is called with up to date.

    Attributes
    ----------
    max_record : int
        Maximum decompressed size of one record in bytes, to within a buffer of 64 KB. It is 2**26 (64 MB) unless set
        before a loop. A longer record raises a :class:`ReadError`, so that a damaged or hostile file cannot fill the
        memory.
    encoding : str
        Encoding of the text, one that Python knows. It is "utf-8" unless set before a loop.
    on_error : callable or None
        If None, a record that cannot be read ends the loop. If a function, line-based formats call it with the
        :class:`ReadError` of each such record and continue with the next one. A damaged file ends the loop in any case.
    """

    def __init__(self, path: str, records: Callable[[Place], Iterator[T_co]]) -> None:
        self.path = path
        self.records = records
        self.max_record = MAX_RECORD
        self.encoding = "utf-8"
        self.on_error: Callable[[ReadError], None] | None = None

    def __iter__(self) -> Iterator[T_co]:
        at, n_read, n_skipped = Place(self.path, self.encoding, max_record=self.max_record), 0, 0

        def located(problem: RecordError) -> ReadError:
            error = ReadError(str(problem), at.path, at.record or n_read + n_skipped + 1, at.line or None)
            error.skippable = not isinstance(problem, DamageError)
            error.names_remedy = isinstance(problem, EncodingError)
            return error

        def skip(problem: RecordError) -> None:
            nonlocal n_skipped
            if self.on_error is not None:
                self.on_error(located(problem))
            n_skipped += 1
            at.taken = 0

        at.skip = None if self.on_error is None else skip
        try:
            for record in self.records(at):
                n_read += 1
                at.taken = 0
                yield record
        except RecordError as problem:
            raise located(problem) from problem.__cause__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.path}>"


def grouped(items: Iterable[T_co], size: int) -> Iterator[list[T_co]]:
    """Yield items in lists; the items before an error are yielded before it is raised.

    Parameters
    ----------
    items : iterable
        The items.
    size : int
        Number of items per list; the last list may have fewer.

    Yields
    ------
    group : list
        The next items.
    """
    rest = iter(items)
    while True:
        group: list[T_co] = []
        try:
            group.extend(islice(rest, size))  # extend keeps the items before an error
        except ReadError:
            if group:
                yield group
            raise
        if not group:
            return
        yield group


_OF_RECORDS = ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError


@contextmanager
def as_record_errors() -> Iterator[None]:
    """Turn any error of parsing a record into a `RecordError`: one record must not end a program."""
    try:
        yield
    except ReadError:
        raise
    except _OF_RECORDS as error:
        raise RecordError(f"the record cannot be read: {str(error) or type(error).__name__}") from error


def each_record(items: Iterator[Any], parse: Callable[[Any], T_co], at: Place) -> Iterator[T_co]:
    """Yield the records parsed from items; one that cannot be parsed is skipped, or ends the loop."""
    for item in items:
        try:
            with as_record_errors():
                record = parse(item)
        except RecordError as problem:
            if at.skip is None:
                raise
            at.skip(problem)
        else:
            yield record


def byte_reader(source: Source, parse: Callable[[BinaryIO, Place], Iterator[T_co]]) -> Reader[T_co]:
    """Return a reader that parses the bytes of a source."""

    def records(at: Place) -> Iterator[T_co]:
        with opened(source, at) as stream:
            yield from parse(stream, at)

    return Reader(name_of(source), records)


def line_reader(
    source: Source,
    parse: Callable[[Iterator[str], Place], Iterator[T_co]],
    newline: str | None = None,
    go_on: Callable[[Iterator[str]], None] | None = None,
) -> Reader[T_co]:
    """Return a reader that parses the lines of a source; `go_on` consumes the rest of a skipped record."""

    def records(at: Place) -> Iterator[T_co]:
        with opened(source, at) as stream, closing(Lines(stream, at, newline)) as rows:
            skipped = -1  # the line of the last problem
            while True:
                try:
                    with as_record_errors():
                        yield from parse(rows, at)
                    return
                except RecordError as problem:
                    if at.skip is None or isinstance(problem, DamageError) or at.line == skipped:
                        raise
                    skipped = at.line
                    at.skip(problem)
                    if go_on is not None:
                        go_on(rows)

    return Reader(name_of(source), records)


def to_blank_line(lines: Iterator[str]) -> None:
    """Consume the rest of a sequence, up to the next blank line."""
    while True:
        try:
            if not next(lines, "").strip():
                return
        except DamageError:
            raise
        except RecordError:
            pass


def parse_number(text: str, what: str) -> float:
    """Parse a finite decimal number; `what` names it in the error."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf") or "_" in text:
        raise RecordError(f"{what} must be a finite number; got {text!r}")
    return number


class Columns:
    """The label and weight columns of a table."""

    def __init__(self, names: Sequence[str], label: str | int | None, weight: str | int | None) -> None:
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise DamageError(f"two columns have the name {twice!r:.60}: rename one of them")
        self.label = _name_of_column(names, label, "label")
        self._weight = _name_of_column(names, weight, "weight")

    def record(self, values: dict[str, Any]) -> Record:
        y = None if self.label is None else values.pop(self.label, None)
        if y is None and self.label is not None:
            raise RecordError(f"the label, column {self.label!r}, is empty")
        weight = 1.0 if self._weight is None else check_weight(values.pop(self._weight, None))
        return Record(values, y, weight)


def _name_of_column(names: Sequence[str], column: str | int | None, what: str) -> str | None:
    if isinstance(column, int) and -len(names) <= column < len(names):
        return names[column]
    if column is None or column in names:
        return cast(str | None, column)
    known = ", ".join([*map(repr, names[:20]), *(["..."] if len(names) > 20 else [])])
    raise DamageError(f"there is no column {column!r} for the {what}; the columns are {known}")


def flat_fields(x: Mapping[str, Any], ignore: Collection[str] = (), prefix: str = "") -> dict[str, Any]:
    """Return the features by name, without missing values; those of a nested object or list are "name:key".

    The keys of a list of strings are its items, and those of a list of numbers are their indices. Other values are
    refused, except those of names to ignore.
    """
    fields: dict[str, Any] = {}
    for name, value in x.items():
        key = prefix + name
        if isinstance(value, str):
            fields[key] = value
        elif isinstance(value, dict):
            fields |= flat_fields(value, (), f"{key}:") if name not in ignore else {}
        elif isinstance(value, list) and name in ignore:
            pass
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            fields |= dict.fromkeys((f"{key}:{item}" for item in value), 1.0)
        elif isinstance(value, list) and all(isinstance(item, int | float) for item in value):
            fields |= {f"{key}:{k}": check_field(name, item) for k, item in enumerate(value)}
        elif value is not None and (name not in ignore or isinstance(value, int | float)):
            fields[key] = check_field(name, value)
    return fields


def check_field(name: str, value: Any) -> Any:
    """Return a string or a finite number; true and false become 1 and 0."""
    number = value if isinstance(value, str) else _finite(value)
    if number is None:
        raise RecordError(f"{name!r} must be a finite number or a string; got {value!r:.60} (--ignore leaves it out)")
    return number


def check_weight(weight: Any) -> float:
    """Return the weight as a finite, nonnegative number."""
    number = None if isinstance(weight, bool) else _finite(weight)
    if number is None or number < 0:
        raise RecordError(f"a weight is a finite number that is not negative; got {weight!r:.60}")
    return number


def _finite(value: Any) -> float | None:
    """Return the value as a finite double, or None if it is not one."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:  # an integer that is too large for a double
        return None
    return number if math.isfinite(number) else None
