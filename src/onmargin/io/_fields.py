"""Checks of the fields of a record, and selection of the label and weight columns."""

import math
from collections.abc import Sequence
from typing import Any, cast

from onmargin.io._reader import Record
from onmargin.io._source import RecordError


class Columns:
    """The label and weight columns of a table."""

    def __init__(self, names: Sequence[str], label: str | int | None, weight: str | int | None) -> None:
        if len(set(names)) < len(names):
            raise RecordError(f"two columns have the same name: {', '.join(map(repr, names))}")
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
    raise RecordError(f"there is no column {column!r} for the {what}; the columns are {', '.join(map(repr, names))}")


def check_field(name: str, value: Any) -> Any:
    """Return a string or a finite number; true and false become 1 and 0."""
    number = value if isinstance(value, str) else _finite(value)
    if number is None:
        raise RecordError(f"{name!r} must be a finite number or a string; got {value!r:.60}")
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
