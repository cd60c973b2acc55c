"""Data frames of pandas, Polars, PyArrow and other libraries, which narwhals reads."""

from collections.abc import Sequence
from typing import Any


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame or a table: its type has names of columns."""
    # The type, because the columns of a lazy frame are computed when they are asked for.
    return hasattr(type(X), "columns")


def records_of(frame: Any, name: str = "X") -> list[dict[str, Any]]:
    """Return the rows of a data frame as dicts by column name; None where a value is missing."""
    frame, names = _open(frame, name)
    columns = [_values(column) for column in frame.iter_columns()]
    if not columns:
        return [{} for _ in range(len(frame))]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def column_names(frame: Any, name: str = "X") -> list[str]:
    """Return the names of the columns of a data frame, as those of features."""
    return _open(frame, name)[1]


def dates_in(frame: Any, name: str = "X") -> list[str]:
    """Return the names of the columns that hold dates, times or durations."""
    frame, names = _open(frame, name)
    return [one for one, column in zip(names, frame.iter_columns(), strict=True) if column.dtype.is_temporal()]


def text_in(frame: Any, name: str = "X") -> list[str]:
    """Return the names of the columns that hold strings, also those of categories."""
    frame, names = _open(frame, name)
    columns = [[] if column.dtype.is_numeric() else column.to_list() for column in frame.iter_columns()]
    return [one for one, values in zip(names, columns, strict=True) if any(isinstance(v, str) for v in values)]


def has_missing(frame: Any, name: str = "X") -> bool:
    """Return whether a value of a data frame is missing, such as NaN."""
    frame, _ = _open(frame, name)
    return any(_is_missing(column).any() for column in frame.iter_columns())


def targets_of(y: Any, name: str = "y") -> Any:
    """Return targets that can be iterated: those of a data frame are its only column."""
    if is_frame(y):
        frame, names = _open(y, name)
        if len(names) != 1:
            raise ValueError(
                f"{name} must be one column; got a data frame with the columns {names!r:.200}. Pass one of them, such "
                f"as frame[{names[0]!r}]; are X and y swapped?"
                if names
                else f"{name} must be one column; got a data frame without columns"
            )
        return _values(next(frame.iter_columns()))
    return y.to_pylist() if hasattr(y, "to_pylist") else y  # items of an Arrow array are objects of their own


def like_frame(values: list[Any], frame: Any) -> Any:
    """Return values as a series of the library of a data frame, with the same index if it has one."""
    import narwhals as nw

    opened = nw.from_native(frame, eager_only=True)
    series = nw.new_series("", values, backend=opened.implementation).to_native()
    return series.set_axis(frame.index) if hasattr(frame, "index") else series


def like_frames(rows: list[dict[Any, float]], frame: Any) -> Any:
    """Return rows of numbers as a data frame of the library of another one, with the same index if it has one."""
    import narwhals as nw

    opened = nw.from_native(frame, eager_only=True)
    if opened.implementation.is_pandas():  # names of columns need not be strings
        return opened.implementation.to_native_namespace().DataFrame(rows, index=frame.index)
    columns = {str(name): [row[name] for row in rows] for name in (rows[0] if rows else ())}
    return nw.from_dict(columns, backend=opened.implementation).to_native()


def list_names(names: Sequence[str], most: int = 20) -> str:
    """Return the first names of columns for a message."""
    return ", ".join([*map(repr, names[:most]), *(["..."] if len(names) > most else [])])


def _open(frame: Any, name: str) -> tuple[Any, list[str]]:
    """Return a data frame as one of narwhals, and the names of its columns as strings."""
    import narwhals as nw  # takes 0.1 s

    try:
        opened = nw.from_native(frame)
    except nw.exceptions.DuplicateError:
        raise ValueError(_same_names(name, list(map(str, frame.columns)))) from None
    except TypeError:
        raise TypeError(
            f"{name} is a {type(frame).__module__}.{type(frame).__name__}, which narwhals cannot read: convert it to a "
            "data frame of pandas or Polars, or to an Arrow table"
        ) from None
    if isinstance(opened, nw.LazyFrame):
        raise TypeError(
            f"{name} is a {type(frame).__name__}, whose rows are not computed yet: pass {name}.collect(), or learn one "
            "batch of its rows after another"
        )
    if opened.implementation.is_pandas_like() and frame.columns.nlevels > 1:
        raise ValueError(
            f"the columns of {name} have several levels (MultiIndex): join their names, such as "
            f"{name}.columns = ['_'.join(map(str, names)) for names in {name}.columns]"
        )
    names = [str(column) for column in opened.columns]
    if len(set(names)) < len(names):
        raise ValueError(_same_names(name, names))
    return opened, names


def _same_names(name: str, names: list[str]) -> str:
    twice = sorted({one for one in names if names.count(one) > 1})
    return f"{name} has several columns named {list_names(twice)}: rename or drop all but one"


def _values(series: Any) -> list[Any]:
    """Return the values of a column; None where one is missing, such as NaN, NA and NaT of pandas."""
    values: list[Any] = series.to_list()
    missing = _is_missing(series)
    if missing.any():
        values = [None if gone else value for value, gone in zip(values, missing.to_list(), strict=True)]
    return values


def _is_missing(series: Any) -> Any:
    # In pandas, NaN is a missing value for narwhals; in Polars and Arrow, it is a number.
    missing = series.is_null()
    return missing | series.is_nan() if series.dtype.is_float() else missing
