"""Tables in the binary formats of Apache: Parquet, and Arrow or Feather."""

from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from typing import Any, cast

import numpy as np

from onmargin.io._fields import Columns, check_field
from onmargin.io._reader import Reader, ReadError, Record
from onmargin.io._source import Place, RecordError, Source, is_path, name_of, opened

_MOST_ROWS = 1024  # that become Python objects at once


def read_arrow(
    path: Source, label: str | int | None = -1, *, weight: str | int | None = None, block: int = 1024
) -> Reader[Record]:
    """Rows of a Parquet, Feather or Arrow file, as dicts.

    Needs pyarrow: ``pip install '.[arrow]'`` in a clone. Fields are numbers, booleans or strings; empty fields are left
    out.

    Parameters
    ----------
    path : str, path-like or file
        A Parquet file, or an Arrow file (Feather version 2), which must not be a pipe; or an Arrow stream.
    label : str, int or None, default=-1
        Name or place of the column of the label, from 0, or from -1 at the end; None if there is none.
    weight : str, int or None, default=None
        Name or place of the column with the weight of a row.
    block : int, default=1024
        How many rows of a Parquet file are read at a time.

    Returns
    -------
    records : Reader of Record
        A dict of the other columns, the label and the weight of each row.

    Raises
    ------
    ReadError
        In the loop: if the file is damaged, a column is missing, a label is empty, a number is not finite, a field is
        neither a number nor a string, or the strings of a row take more than `max_record` bytes.

    Notes
    -----
    A few bytes can stand for a large table. Strings that rows share are copied for a few rows at a time, and a Parquet
    file whose rows take more than `max_record` bytes on average is not unpacked. What is unpacked at once is a page of
    a Parquet file, of 2 GB at most, or a batch of rows of an Arrow file.
    """

    if block < 1:
        raise ValueError(f"block must be at least 1; got {block!r}")

    def records(at: Place) -> Iterator[Record]:
        columns = None
        for names, rows in _rows(path, block, at):
            columns = columns or Columns(names, label, weight)
            for row in rows:
                values = {name: check_field(name, value) for name, value in row.items() if value is not None}
                yield columns.record(values)

    return Reader(name_of(path), records)


def column_names(path: Source) -> list[str]:
    """Those of the table in a file.

    Parameters
    ----------
    path : str, path-like or file
        The file, as for `read_arrow`.

    Returns
    -------
    names : list of str
        In their order.
    """
    try:
        return next((names for names, _ in _rows(path, 1, Place(name_of(path)))), [])
    except RecordError as problem:
        raise ReadError(str(problem), name_of(path), 1) from problem.__cause__


def _rows(source: Source, block: int, at: Place) -> Iterator[tuple[list[str], list[dict[str, Any]]]]:
    """The names of the columns, and some rows, again and again."""
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
            # pyarrow says much of what is wrong with a file by plain errors of Python.
            except (arrow.ArrowException, MemoryError, OSError, ValueError, OverflowError) as error:
                raise RecordError(f"the data are neither Parquet nor Arrow, or damaged: {error}") from error
            if part is None:
                return
            yield part.schema.names, rows


def _open(file: Any, block: int, at: Place) -> Iterator[Any]:
    """Batches of rows; Parquet and Arrow files are told from a stream by their first bytes."""
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
    """Batches of a Parquet file, in which strings that many rows share stay one."""
    types, parquet = import_module("pyarrow.types"), import_module("pyarrow.parquet")
    schema = parquet.ParquetFile(file).schema_arrow
    strings = [field.name for field in schema if types.is_string(field.type) or types.is_binary(field.type)]
    table = parquet.ParquetFile(file, read_dictionary=strings)
    for k in range(table.num_row_groups):
        group = table.metadata.row_group(k)
        at.take(group.total_byte_size // max(group.num_rows, 1))  # pyarrow dies of the metadata of a damaged column
        at.taken = 0
        yield from table.iter_batches(batch_size=block, row_groups=[k])


def _parts(batches: Iterator[Any], at: Place) -> Iterator[Any]:
    """The rows of batches, as many at a time as take no more bytes than one may; a row that takes more is refused."""
    for batch in batches:
        batch.validate(full=True)  # pyarrow reads outside of damaged columns
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
    """How many bytes the rows have, numbers aside."""
    columns = [column for column in map(_lengths, batch.columns) if column is not None]
    return sum(columns, np.zeros(batch.num_rows, np.int64))


def _plain(batch: Any) -> Any:
    """The same rows, where each has strings of its own: pyarrow takes long to look them up."""
    columns = [getattr(column, "dictionary_decode", lambda column=column: column)() for column in batch.columns]
    return type(batch).from_arrays(columns, batch.schema.names)


def _lengths(column: Any) -> Any:
    """How many bytes the cells of a column have; None if they are numbers."""
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
    """Whole numbers, with another one for those that are missing."""
    return import_module("pyarrow.compute").fill_null(column, empty).to_numpy(zero_copy_only=False)
