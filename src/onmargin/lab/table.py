"""Tables of the results of an experiment, averaged over repetitions."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from math import isnan, nan, sqrt
from typing import Any

import numpy as np

Row = dict[str, Any]


class Table:
    """A table of rows with the same columns, in order.

    Parameters
    ----------
    rows : iterable of dict
        Values by column name, with the same names in each row.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and repr(self.rows) == repr(other.rows)  # by repr, so that nan equals nan

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, column: str) -> list[Any]:
        return [row[column] for row in self.rows]

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns.

        Returns
        -------
        names : list of str
            Names in order.
        """
        return list(self.rows[0]) if self.rows else []

    def where(self, **values: Any) -> "Table":
        """Return the rows that have the given values.

        Parameters
        ----------
        **values : object
            Values by column.

        Returns
        -------
        table : Table
            Matching rows, with the same columns.
        """
        return Table(row for row in self.rows if all(row[name] == value for name, value in values.items()))

    def one(self, column: str, **values: Any) -> Any:
        """Return the value of a column in the only row with the given values.

        Parameters
        ----------
        column : str
            The column to return.
        **values : object
            Values by column, which exactly one row has.

        Returns
        -------
        value : object
            The value in that row.
        """
        (found,) = self.where(**values)[column]
        return found

    def distinct(self, column: str) -> list[Any]:
        """Return the distinct values of a column, in order of first appearance.

        Parameters
        ----------
        column : str
            The column.

        Returns
        -------
        values : list
            Values without repetition.
        """
        return list(dict.fromkeys(self[column]))

    def wide(self, down: Sequence[str], across: str, measure: str) -> "Table":
        """Pivot one measure: one row per values of the columns `down`, sorted, and one column per value of `across`.

        Parameters
        ----------
        down : sequence of str
            Columns that identify a row.
        across : str
            The column whose values become columns.
        measure : str
            The column that fills the cells.

        Returns
        -------
        table : Table
            The wide table, with None for missing combinations.
        """
        cells: dict[tuple[Any, ...], Row] = {}
        for row in self.rows:
            key = tuple(row[name] for name in down)
            cells.setdefault(key, {})[_name(across, row[across])] = row[measure]
        names = [_name(across, value) for value in self.distinct(across)]
        return Table(
            {**dict(zip(down, key, strict=True)), **{name: values.get(name) for name in names}}
            for key, values in sorted(cells.items(), key=lambda item: item[0])
        )

    def csv(self) -> str:
        """Return all columns as CSV, in full precision.

        Returns
        -------
        text : str
            Comma-separated values.
        """
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_exact(value) for value in row.values()] for row in self.rows)
        return out.getvalue()

    def markdown(self) -> str:
        """Return a Markdown table with aligned columns, numbers to the right.

        Returns
        -------
        text : str
            Markdown text.
        """
        cells = [self.columns, *([text(value) for value in row.values()] for row in self.rows)]
        widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
        right = [all(isinstance(v, int | float | None) for v in self[name]) for name in self.columns]
        lines = [_line(row, widths, right) for row in cells]
        rule = ("-" * (width - 1) + (":" if end else "-") for width, end in zip(widths, right, strict=True))
        return "\n".join([lines[0], f"| {' | '.join(rule)} |", *lines[1:]]) + "\n"


def _name(column: str, value: Any) -> str:
    """Return the header of a value: a string is its own header, a number is prefixed with its column."""
    return value if isinstance(value, str) else f"{column} {text(value)}"


def _line(row: list[str], widths: list[int], right: list[bool]) -> str:
    cells = (
        f"{cell:>{width}}" if end else f"{cell:<{width}}" for cell, width, end in zip(row, widths, right, strict=True)
    )
    return f"| {' | '.join(cells)} |"


def _exact(value: Any) -> Any:
    return "" if absent(value) else value


def absent(value: Any) -> bool:
    """Return whether a value is missing.

    Parameters
    ----------
    value : object
        Value of a cell.

    Returns
    -------
    absent : bool
        True for None and nan.
    """
    return value is None or (isinstance(value, float) and isnan(value))


def text(value: Any) -> str:
    """Format a value for display: integers in full, other numbers with four digits.

    Parameters
    ----------
    value : object
        Value of a cell.

    Returns
    -------
    text : str
        The formatted value; empty if it is missing.
    """
    if absent(value):
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the correlation of two columns; 0 if one of them is constant.

    Parameters
    ----------
    x, y : sequence of float
        The columns.

    Returns
    -------
    r : float
        Correlation between -1 and 1.
    """
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.corrcoef(np.asarray(x, float), np.asarray(y, float))[0, 1])


def error_of(measure: str) -> str:
    """Return the name of the column with the standard error of a measure.

    Parameters
    ----------
    measure : str
        Column of the measure.

    Returns
    -------
    column : str
        Column of its standard error.
    """
    return f"{measure} ±"


def summary(rows: Iterable[Row], keys: Sequence[str], measures: Sequence[str], best: Sequence[str] = ()) -> Table:
    """Return means over the repetitions, with standard errors; keys in `best` are chosen to minimize the first measure.

    Parameters
    ----------
    rows : iterable of dict
        One row per repetition and setting.
    keys : sequence of str
        Columns with the settings.
    measures : sequence of str
        Columns with the results.
    best : sequence of str, default=()
        Keys that are chosen in hindsight, as the papers choose C.

    Returns
    -------
    table : Table
        Keys, then each measure with its standard error (nan for one repetition), in the order of the first rows.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    means = []
    for key, members in groups.items():
        merged = dict(zip(keys, key, strict=True))
        for measure in measures:
            values = [member[measure] for member in members]
            merged[measure] = float(np.mean(values))
            merged[error_of(measure)] = float(np.std(values, ddof=1)) / sqrt(len(values)) if len(values) > 1 else nan
        means.append(merged)
    if not best:
        return Table(means)
    chosen: dict[tuple[Any, ...], Row] = {}
    for row in means:
        key = tuple(row[name] for name in keys if name not in best)
        if key not in chosen or row[measures[0]] < chosen[key][measures[0]]:
            chosen[key] = row
    return Table(chosen.values())
