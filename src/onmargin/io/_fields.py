"""What the fields of a record may be, and which of them is its label."""

from collections.abc import Sequence
from typing import Any, cast

from onmargin.io._reader import Record
from onmargin.io._source import RecordError


class Columns:
    """Which column is the label, which the weight."""

    def __init__(self, names: Sequence[str], label: str | int | None, weight: str | int | None) -> None:
        if len(set(names)) < len(names):
            raise RecordError(f"two columns have the same name: {', '.join(map(repr, names))}")
        self._label = _name_of_column(names, label, "label")
        self._weight = _name_of_column(names, weight, "weight")

    def record(self, values: dict[str, Any]) -> Record:
        y = None if self._label is None else values.pop(self._label, None)
        if y is None and self._label is not None:
            raise RecordError(f"the label, column {self._label!r}, is empty")
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
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and abs(value) < float("inf"):
        return float(value)
    raise RecordError(f"{name!r} must be a finite number or a string; got {value!r:.60}")


def check_weight(weight: Any) -> float:
    if isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight < float("inf"):
        return float(weight)
    raise RecordError(f"a weight is a finite number that is not negative; got {weight!r:.60}")
