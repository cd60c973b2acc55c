"""Checks of the fields of a record, and selection of the label and weight columns."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from onmargin.io._reader import Record
from onmargin.io._source import DamageError, RecordError


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
