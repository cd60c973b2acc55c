"""Tables in the Apache formats Parquet, Arrow and Feather."""

from collections.abc import Collection, Iterator
from contextlib import ExitStack
from datetime import date, time, timedelta
from decimal import Decimal
from importlib import import_module
from math import isnan
from typing import Any, cast

import numpy as np

from onmargin.io._reader import Columns, Reader, ReadError, Record, check_field, flat_fields
from onmargin.io._source import Place, RecordError, Source, is_path, name_of, opened
from onmargin.io.format import Head, Recipe
from onmargin.io.table_format import TableFormat

_MOST_ROWS = 1024  # maximum number of rows converted to Python objects at once


def read_arrow(
    path: Source,
    label: str | int | None = -1,
    *,
    weight: str | int | None = None,
    block: int = 1024,
    ignore: Collection[str] = (),
) -> Reader[Record]:
    """Read the rows of a Parquet, Feather or Arrow file as dicts.

    Requires pyarrow: ``pip install '.[arrow]'`` in a clone. Fields are numbers, booleans or strings. Dates and times
    become strings such as "2024-05-17", and durations become seconds. Lists and structs become several features, as in
    :func:`read_jsonl`. Empty fields and NaN are omitted. A label may be a list of labels.

    Parameters
    ----------
    path : str, path-like or file
        A Parquet file, an Arrow file (Feather version 2) or an Arrow stream. Parquet and Arrow files cannot be read
        from a pipe.
    label : str, int or None, default=-1
        Name or index of the label column; -1 is the last column. If None, rows have no label.
    weight : str, int or None, default=None
        Name or index of the column with the row weights. If None, all weights are 1.
    block : int, default=1024
        Number of rows of a Parquet file to read at a time.
    ignore : collection of str, default=()
        Columns whose values may be anything; values that cannot be features are omitted.

    Returns
    -------
    records : Reader of Record
        For each row, a dict of the other columns, the label and the weight.

    Raises
    ------
    ReadError
        During iteration, if the file is damaged, a column is missing, a label is empty, a number is infinite, a field
        is neither a number nor a string, or the strings of a row take more than `max_record` bytes.

    Notes
    -----
    A few bytes can expand to a large table. Strings that rows share are copied for a few rows at a time, and a Parquet
    file whose rows take more than `max_record` bytes on average is not decompressed. The unit of decompression is a
    page of a Parquet file (at most 2 GB) or a batch of rows of an Arrow file.

    Examples
    --------
    >>> import os, tempfile
    >>> import pyarrow, pyarrow.parquet
    >>> from onmargin.io import read_arrow
    >>> table = pyarrow.table({"length": [3.5, None], "town": ["Ulm", "Bonn"], "buys": ["yes", "no"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "people.parquet")
    ...     pyarrow.parquet.write_table(table, path)
    ...     for record in read_arrow(path, label="buys"):
    ...         print(record.y, record.x)
    yes {'length': 3.5, 'town': 'Ulm'}
    no {'town': 'Bonn'}
    """

    if block < 1:
        raise ValueError(f"block must be at least 1; got {block!r}")

    def records(at: Place) -> Iterator[Record]:
        columns = None
        for names, rows in _rows(path, block, at):
            columns = columns or Columns(names, label, weight)
            for row in rows:
                try:
                    yield columns.record(_fields(row, columns.label, ignore))
                except RecordError as problem:
                    if at.skip is None:
                        raise
                    at.skip(problem)

    return Reader(name_of(path), records)


def _fields(row: dict[str, Any], label: str | None, ignore: Collection[str]) -> dict[str, Any]:
    """Return the fields of a row, without missing values; a label may be a list of labels."""
    values = {name: _plain_value(value) for name, value in row.items() if not _is_missing(value)}
    if label is None or not isinstance(labels := values.get(label), list):
        return flat_fields(values, ignore)
    del values[label]
    return flat_fields(values, ignore) | {label: [check_field("label", one) for one in labels]}


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _plain_value(value: Any) -> Any:
    """Return dates and times as text, durations in seconds, and decimals as numbers."""
    if isinstance(value, str | float | int):
        return value
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, Decimal) else value


def _rows(source: Source, block: int, at: Place) -> Iterator[tuple[list[str], list[dict[str, Any]]]]:
    """Yield the column names with the next rows, batch by batch."""
    try:
        arrow: Any = import_module("pyarrow")
    except ImportError as error:
        raise ImportError(
            "Parquet and Arrow files need pyarrow: pip install '.[arrow]' in a clone of onmargin"
        ) from error
    with ExitStack() as stack:
        if is_path(source) and source != "-":
            file: Any = stack.enter_context(open(cast(str, source), "rb"))
        else:
            file = stack.enter_context(opened(source))
        parts = _parts(_open(file, block, at), at)
        while True:
            try:
                part: Any = next(parts, None)
                rows = [] if part is None else _plain(part).to_pylist()
            # pyarrow reports many problems of a file with built-in Python exceptions.
            except (arrow.ArrowException, MemoryError, OSError, ValueError, OverflowError) as error:
                hint = "" if file.seekable() else ". Only Arrow streams can be read from a pipe: pass a path"
                raise RecordError(f"the data are neither Parquet nor Arrow, or damaged: {error}{hint}") from error
            if part is None:
                return
            yield part.schema.names, rows


def _open(file: Any, block: int, at: Place) -> Iterator[Any]:
    """Yield batches of rows; the first bytes distinguish Parquet files, Arrow files and Arrow streams."""
    head = b""
    if file.seekable():
        head = file.read(6)
        file.seek(0)
    if head.startswith(b"PAR1"):
        yield from _parquet(file, block, at)
    elif head == b"ARROW1":
        reader = import_module("pyarrow.ipc").open_file(file)
        yield from map(reader.get_batch, range(reader.num_record_batches))
    elif head or not file.seekable():
        yield from import_module("pyarrow.ipc").open_stream(file)


def _parquet(file: Any, block: int, at: Place) -> Iterator[Any]:
    """Yield batches of a Parquet file, in which strings shared by many rows stay dictionary-encoded."""
    types, parquet = import_module("pyarrow.types"), import_module("pyarrow.parquet")
    schema = parquet.ParquetFile(file).schema_arrow
    strings = [field.name for field in schema if types.is_string(field.type) or types.is_binary(field.type)]
    table = parquet.ParquetFile(file, read_dictionary=strings)
    for k in range(table.num_row_groups):
        group = table.metadata.row_group(k)
        at.take(group.total_byte_size // max(group.num_rows, 1))  # pyarrow crashes on metadata of a damaged column
        at.taken = 0
        yield from table.iter_batches(batch_size=block, row_groups=[k])


def _parts(batches: Iterator[Any], at: Place) -> Iterator[Any]:
    """Yield the rows of batches in parts of at most `max_record` bytes; a single row that takes more is refused."""
    for batch in batches:
        batch.validate(full=True)  # otherwise pyarrow reads out of bounds in damaged columns
        if not batch.num_rows:
            yield batch
        for first in range(0, batch.num_rows, _MOST_ROWS):
            some = batch.slice(first, _MOST_ROWS)
            ends = np.cumsum(_sizes(some))
            start = before = 0
            while start < some.num_rows:
                at.take(int(ends[start]) - before)
                at.taken = 0
                stop = int(np.searchsorted(ends, before + at.max_record, "right"))
                yield some.slice(start, stop - start)
                start, before = stop, int(ends[stop - 1])


def _sizes(batch: Any) -> Any:
    """Return the size of each row in bytes, not counting numbers."""
    columns = [column for column in map(_lengths, batch.columns) if column is not None]
    return sum(columns, np.zeros(batch.num_rows, np.int64))


def _plain(batch: Any) -> Any:
    """Return the rows without dictionary encoding, since lookups in pyarrow are slow, and times in microseconds."""
    return type(batch).from_arrays(list(map(_plain_column, batch.columns)), batch.schema.names)


def _plain_column(column: Any) -> Any:
    arrow, types = import_module("pyarrow"), import_module("pyarrow.types")
    if types.is_dictionary(column.type):
        return column.dictionary_decode()
    # Python's own types have no nanoseconds.
    if types.is_timestamp(column.type) and column.type.unit == "ns":
        return column.cast(arrow.timestamp("us", column.type.tz), safe=False)
    if types.is_duration(column.type) and column.type.unit == "ns":
        return column.cast(arrow.duration("us"), safe=False)
    return column


def _lengths(column: Any) -> Any:
    """Return the size of each cell of a column in bytes, or None if the cells are numbers."""
    compute, types = import_module("pyarrow.compute"), import_module("pyarrow.types")
    kind = column.type
    if types.is_dictionary(kind):
        lengths = _lengths(column.dictionary)
        return None if lengths is None else np.append(lengths, 0)[_filled(column.indices, len(lengths))]
    if types.is_primitive(kind) or types.is_null(kind) or types.is_decimal(kind):
        return None
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return np.array([cell.as_buffer().size if cell.is_valid else 0 for cell in column], np.int64)
    if types.is_nested(kind):
        return np.array([column.slice(k, 1).nbytes for k in range(len(column))], np.int64)
    return _filled(compute.binary_length(column), 0)


def _filled(column: Any, empty: int) -> Any:
    """Return a column of integers with missing values replaced by `empty`."""
    return import_module("pyarrow.compute").fill_null(column, empty).to_numpy(zero_copy_only=False)


class Arrow(TableFormat):
    """Parquet, Arrow and Feather files."""

    name = "arrow"
    options = TableFormat.options - {"encoding"}
    is_stream = False  # the readers seek within a file

    def matches(self, head: Head) -> bool:
        return head.data.startswith((b"PAR1", b"ARROW1"))

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        ignore = recipe.features.get("ignore", ())
        return read_arrow(source, self.read_label(recipe, labeled), weight=recipe.weight, ignore=ignore)

    def first_rows(self, path: str, recipe: Recipe) -> Any:
        return path, recipe

    def columns(self, path: str, recipe: Recipe) -> list[str]:
        try:
            return next((names for names, _ in _rows(path, 1, Place(name_of(path)))), [])
        except RecordError as problem:
            raise ReadError(str(problem), name_of(path), 1) from problem.__cause__
