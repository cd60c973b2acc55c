"""Sets of labels in tables: one column of 0 and 1 per label, or one column with several labels."""

from collections.abc import Mapping, Sequence
from typing import Any

# What a cell of a label column may be, and whether the label is present then. An empty cell is not in the row.
_MEANINGS: dict[str | float, bool] = {
    **dict.fromkeys([1, "1", "true", "yes", "y", "t", "x"], True),
    **dict.fromkeys([0, "0", "false", "no", "n", "f", ""], False),
}


def labels_present(row: Mapping[str, Any], columns: Sequence[str]) -> Any:
    """Return the label columns of a row that say yes; if one says neither yes nor no, its name and value as a dict."""
    found = []
    for column in columns:
        value = row.get(column, 0)
        if not says_yes_or_no(value):
            return {column: value}
        if _MEANINGS[_key(value)]:
            found.append(column)
    return found


def says_yes_or_no(value: Any) -> bool:
    """Return whether a cell tells if a label is present."""
    return isinstance(value, str | int | float) and _key(value) in _MEANINGS


def _key(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else value


def split_labels(label: Any, separator: str) -> Any:
    """Return the labels of a cell, each once; a missing cell has none, and a list stays as it is."""
    if label is None:
        return []
    if isinstance(label, list | tuple):
        return label
    text = str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
    return list(dict.fromkeys(name for part in text.split(separator) if (name := part.strip())))
