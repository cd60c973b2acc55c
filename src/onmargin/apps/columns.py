"""Columns of a table: detection of texts and useless columns, crossed columns, and conversion of rows to features."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

_FEW = 20  # minimum number of rows to judge a column
_TEXT_WORDS = 3.0  # minimum mean number of words of a text
_DATE = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2})?"
_ID = r"(?i:(?:.*[_ .-])?(?:id|uuid|guid|key|index|rowid)|)|.*[a-z]I[dD]"
# Names of label columns, and names that are taken for one if no column has any of the first.
LABELS = ("label", "class", "target")
OUTCOMES = ("outcome", "response", "output", "y")
_FEW_NUMBERS = 30  # maximum number of different whole numbers that may be classes


class Judged(NamedTuple):
    """Judgment of the columns from the first rows: the texts, and the reasons to ignore others."""

    texts: tuple[str, ...]
    left_out: dict[str, str]


def judge(rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> Judged:
    """Judge columns by their values in the first rows."""
    texts, left_out = [], {}
    for name in names:
        values = [row[name] for row in rows if name in row]
        if is_text(values):
            texts.append(name)
        elif (reason := _useless(name, values)) is not None:
            left_out[name] = reason
    return Judged(tuple(texts), left_out)


def is_text(values: Sequence[Any]) -> bool:
    """Return whether strings are texts: several words each, and mostly distinct."""
    if not values or not all(isinstance(value, str) for value in values):
        return False
    n_words = sum(len(value.split()) for value in values) / len(values)
    return n_words >= _TEXT_WORDS and len(set(values)) > max(2, 0.02 * len(values))


def is_label(values: Sequence[Any]) -> bool:
    """Return whether values repeat, as class labels do."""
    return 0 < len(set(values)) <= max(2, 0.2 * len(values))


def classes_in(values: Sequence[Any]) -> str | None:
    """Return "names" or "numbers" if the values may be classes: strings that repeat, or a few whole numbers."""
    if not is_label(values):
        return None
    if all(isinstance(value, str) for value in values):
        return None if is_text(values) else "names"
    whole = all(isinstance(value, int | float) and float(value).is_integer() for value in values)
    return "numbers" if whole and len(set(values)) <= _FEW_NUMBERS else None


def _useless(name: str, values: Sequence[Any]) -> str | None:
    """Return the reason why a column is useless for new rows, or None if it may be useful."""
    if len(values) < _FEW:
        return None
    if all(isinstance(value, str) for value in values):
        if all(re.fullmatch(_DATE, value) for value in values):
            return "dates"
        return "different in every row" if len(set(values)) == len(values) else None
    if not all(isinstance(value, int | float) and float(value).is_integer() for value in values):
        return None
    named = re.fullmatch(_ID, name) is not None
    steps = {b - a for a, b in pairwise(values)}
    # Consecutive numbers that start elsewhere, such as years, may be informative.
    if len(steps) == 1 and steps <= {1.0, -1.0} and (named or min(values) in {0, 1}):
        return "row numbers"
    return "different in every row" if named and len(set(values)) == len(values) else None


@dataclass(frozen=True)
class RowFeatures:
    """Converter of a row to an example: kept columns, words of texts, and products of columns.

    `words` returns the words of a text with their values. If `bare` is a column, the example is the text in it. If rows
    are `nested`, "key:name" is a feature of the column "key".
    """

    ignored: frozenset[str]
    only: frozenset[str]
    texts: Mapping[str, str]  # prefix of the words of each text column
    crossed: Sequence[Sequence[str]]
    bare: str | None
    words: Callable[[str], Mapping[str, float]]
    nested: bool = False
    _kept: dict[str, bool] = field(default_factory=dict)  # whether each column seen so far is kept

    def _keeps(self, name: str) -> bool:
        given = {name, name.partition(":")[0] if self.nested else name}
        kept = self._kept[name] = not (given & self.ignored) and (not self.only or bool(given & self.only))
        return kept

    def __call__(self, row: Any) -> Any:
        if not isinstance(row, dict):
            return row
        if self.bare is not None:
            return str(row.get(self.bare, ""))
        kept = self._kept
        x = {name: v for name, v in row.items() if (kept[name] if name in kept else self._keeps(name))}
        pairs = [_product(x, *pair) for pair in self.crossed if all(name in x for name in pair)]
        for column, name in self.texts.items():
            if column in x:
                words = self.words(str(x.pop(column)))
                x.update({f"{name}={word}": value for word, value in words.items()})
        for pair in pairs:
            x.update(pair)
        return x


def _product(x: Mapping[str, Any], first: str, second: str) -> dict[str, Any]:
    """Return the crossed feature of two columns: a product of numbers, category pair, or number by category."""
    a, b = x[first], x[second]
    name = f"{first}*{second}"
    if isinstance(a, str) and isinstance(b, str):
        return {name: f"{a}*{b}"}
    if isinstance(a, str) or isinstance(b, str):
        category, number = (a, b) if isinstance(a, str) else (b, a)
        return {f"{name}={category}": number}
    return {name: a * b}
