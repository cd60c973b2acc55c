"""Plain columns: what the repetitions of an experiment came to, and the table that its claims are judged by."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from math import isnan, nan, sqrt
from typing import Any

import numpy as np

Row = dict[str, Any]


class Table:
    """Rows with the same columns, in order.

    Parameters
    ----------
    rows : iterable of dict
        Names of columns and values, the same names in each.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and repr(self.rows) == repr(other.rows)  # nan is nan

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, column: str) -> list[Any]:
        return [row[column] for row in self.rows]

    @property
    def columns(self) -> list[str]:
        """Their names.

        Returns
        -------
        names : list of str
            In order.
        """
        return list(self.rows[0]) if self.rows else []

    def where(self, **values: Any) -> "Table":
        """The rows that have these values.

        Parameters
        ----------
        **values : object
            A value for each of some columns.

        Returns
        -------
        table : Table
            With the same columns.
        """
        return Table(row for row in self.rows if all(row[name] == value for name, value in values.items()))

    def one(self, column: str, **values: Any) -> Any:
        """What the one row with these values has in a column.

        Parameters
        ----------
        column : str
            Whose value is asked for.
        **values : object
            A value for each of some columns, which one row has.

        Returns
        -------
        value : object
            Of that row.
        """
        (found,) = self.where(**values)[column]
        return found

    def distinct(self, column: str) -> list[Any]:
        """The values of a column, each once, in the order in which they come.

        Parameters
        ----------
        column : str
            Which one.

        Returns
        -------
        values : list
            Without repetition.
        """
        return list(dict.fromkeys(self[column]))

    def wide(self, down: Sequence[str], across: str, measure: str) -> "Table":
        """One measure: a row for the values of the columns `down`, sorted; a column for each value of `across`.

        Parameters
        ----------
        down : sequence of str
            Columns that name a row.
        across : str
            The column whose values become columns.
        measure : str
            The column that fills the cells.

        Returns
        -------
        table : Table
            With None where there is no such row.
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
        """All columns, with as many digits as there are.

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
        """Columns that line up, numbers to the right.

        Returns
        -------
        text : str
            Markdown.
        """
        cells = [self.columns, *([text(value) for value in row.values()] for row in self.rows)]
        widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]
        right = [all(isinstance(v, int | float | None) for v in self[name]) for name in self.columns]
        lines = [_line(row, widths, right) for row in cells]
        rule = ("-" * (width - 1) + (":" if end else "-") for width, end in zip(widths, right, strict=True))
        return "\n".join([lines[0], f"| {' | '.join(rule)} |", *lines[1:]]) + "\n"


def _name(column: str, value: Any) -> str:
    """What a value is called at the head of a column: a name is one, a number needs one."""
    return value if isinstance(value, str) else f"{column} {text(value)}"


def _line(row: list[str], widths: list[int], right: list[bool]) -> str:
    cells = (
        f"{cell:>{width}}" if end else f"{cell:<{width}}" for cell, width, end in zip(row, widths, right, strict=True)
    )
    return f"| {' | '.join(cells)} |"


def _exact(value: Any) -> Any:
    return "" if absent(value) else value


def absent(value: Any) -> bool:
    """Whether there is no such number.

    Parameters
    ----------
    value : object
        Of a cell.

    Returns
    -------
    absent : bool
        True for None and nan.
    """
    return value is None or (isinstance(value, float) and isnan(value))


def text(value: Any) -> str:
    """A value as people read it, to four digits or the whole number.

    Parameters
    ----------
    value : object
        Of a cell.

    Returns
    -------
    text : str
        Empty if it is absent.
    """
    if absent(value):
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Of two columns; 0 if one of them does not vary.

    Parameters
    ----------
    x, y : sequence of float
        The columns.

    Returns
    -------
    r : float
        Between -1 and 1.
    """
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.corrcoef(np.asarray(x, float), np.asarray(y, float))[0, 1])


def error_of(measure: str) -> str:
    """The column that has the standard error of a measure.

    Parameters
    ----------
    measure : str
        A column.

    Returns
    -------
    column : str
        Its name.
    """
    return f"{measure} ±"


def summary(rows: Iterable[Row], keys: Sequence[str], measures: Sequence[str], best: Sequence[str] = ()) -> Table:
    """Means over the repetitions, with standard errors; of the settings in `best` those of the least first measure.

    Parameters
    ----------
    rows : iterable of dict
        One a repetition and setting.
    keys : sequence of str
        Columns that say what was run.
    measures : sequence of str
        Columns with the results.
    best : sequence of str, default=()
        The keys that are chosen in hindsight, as the papers choose C.

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
