"""Tables in the binary formats of Apache: Parquet, and Arrow or Feather."""

from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from typing import Any, cast

from onmargin.io._fields import Columns, check_field
from onmargin.io._reader import Reader, ReadError, Record
from onmargin.io._source import Place, RecordError, Source, is_path, name_of, opened


def read_arrow(
    path: Source, label: str | int | None = -1, *, weight: str | int | None = None, block: int = 1024
) -> Reader[Record]:
    """Rows of a Parquet, Feather or Arrow file, as dicts.

    Needs pyarrow: ``pip install 'onmargin[arrow]'``. Fields are numbers, booleans or strings; an empty one is left out.

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
        In the loop: if the file is damaged, a column is missing, a label is empty, a number is not finite, or a field
        is neither a number nor a string.
    """

    if block < 1:
        raise ValueError(f"block must be at least 1; got {block!r}")

    def records(_: Place) -> Iterator[Record]:
        columns = None
        for names, rows in _batches(path, block):
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
        return next((names for names, _ in _batches(path, 1)), [])
    except RecordError as problem:
        raise ReadError(str(problem), name_of(path), 1) from problem.__cause__


def _batches(source: Source, block: int) -> Iterator[tuple[list[str], list[dict[str, Any]]]]:
    """The names of the columns, and some rows, again and again."""
    try:
        arrow: Any = import_module("pyarrow")
    except ImportError as error:
        raise ImportError("Parquet and Arrow files need pyarrow: pip install 'onmargin[arrow]'") from error
    with ExitStack() as stack:
        if is_path(source) and source != "-":
            file: Any = stack.enter_context(open(cast(str, source), "rb"))
        else:
            file = stack.enter_context(opened(source))
        batches = _open(file, block)
        while True:
            try:
                batch: Any = next(batches, None)
                if batch is not None:
                    batch.validate(full=True)  # pyarrow reads outside of damaged columns
                rows = [] if batch is None else batch.to_pylist()
            # pyarrow says much of what is wrong with a file by plain errors of Python.
            except (arrow.ArrowException, MemoryError, OSError, ValueError, OverflowError) as error:
                raise RecordError(f"the data are neither Parquet nor Arrow, or damaged: {error}") from error
            if batch is None:
                return
            yield batch.schema.names, rows


def _open(file: Any, block: int) -> Iterator[Any]:
    """Batches of rows; Parquet and Arrow files are told from a stream by their first bytes."""
    head = b""
    if file.seekable():
        head = file.read(6)
        file.seek(0)
    if head.startswith(b"PAR1"):
        yield from import_module("pyarrow.parquet").ParquetFile(file).iter_batches(batch_size=block)
    elif head == b"ARROW1":
        reader = import_module("pyarrow.ipc").open_file(file)
        yield from map(reader.get_batch, range(reader.num_record_batches))
    elif head or not file.seekable():
        yield from import_module("pyarrow.ipc").open_stream(file)
