"""What the fields of a record may be, and which of them is its label."""

import math
from collections.abc import Sequence
from typing import Any, cast

from onmargin.io._reader import Record
from onmargin.io._source import RecordError


class Columns:
    """Which column is the label, which the weight."""

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
    """A string or a finite number, true and false being 1 and 0."""
    number = value if isinstance(value, str) else _finite(value)
    if number is None:
        raise RecordError(f"{name!r} must be a finite number or a string; got {value!r:.60}")
    return number


def check_weight(weight: Any) -> float:
    """A finite number that is not negative."""
    number = None if isinstance(weight, bool) else _finite(weight)
    if number is None or number < 0:
        raise RecordError(f"a weight is a finite number that is not negative; got {weight!r:.60}")
    return number


def _finite(value: Any) -> float | None:
    """The value as a finite double; None if it is none."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:  # an integer that is too large
        return None
    return number if math.isfinite(number) else None
