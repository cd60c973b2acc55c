"""Tables: detection of the label, of texts, of numbers and of useless columns."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any, ClassVar, NamedTuple

from onmargin._numbers import number_parser
from onmargin.io._reader import ReadError
from onmargin.io.format import FileProfile, Format, FormatError, Head, OptionError, Options, Recipe, list_names

_SAMPLE = 1000  # maximum number of rows for judging columns
FEW_ROWS = 5  # minimum number of rows that tell what columns are
_FEW = 20  # minimum number of rows to judge a column
_TEXT_WORDS = 3.0  # minimum mean number of words of a text
_MONTH = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = rf"\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}|\d{{1,2}}[ -]{_MONTH}[ -]\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}}"
_DATE = rf"(?:{_DAY})(?:,?[ T]\d{{1,2}}:\d{{2}}.*)?|\d{{1,2}}:\d{{2}}(?::\d{{2}})?"
_ID = r"(?i:(?:.*[_ .-])?(?:id|uuid|guid|key|index|rowid)|)|.*[a-z]I[dD]"
# Names of label columns, and names that are taken for one if no column has any of the first.
LABELS = ("label", "class", "target")
OUTCOMES = ("outcome", "response", "output", "y")
_FEW_NUMBERS = 30  # maximum number of different whole numbers that may be classes
# The options of a table that name columns.
COLUMN_OPTIONS = ("label", "labels", "weight", "text", "ignore", "only", "cross")
# What a cell of one of several label columns may be, and whether the label is present then.
_MEANINGS: dict[str | float, bool] = {
    **dict.fromkeys([1, "1", "true", "yes", "y", "t", "x"], True),
    **dict.fromkeys([0, "0", "false", "no", "n", "f", ""], False),
}


class TableFormat(Format):
    """A format whose records are rows with named columns."""

    options: ClassVar[frozenset[str]] = frozenset({*COLUMN_OPTIONS, "label_separator", "encoding"})

    # Fields that denote a missing value.
    missing: ClassVar[tuple[str, ...]] = ()
    # Whether strings that are numbers are read as numbers: no if the file declares the types of its columns.
    parses_strings: ClassVar[bool] = True

    def is_table(self, recipe: Recipe) -> bool:
        return True

    def read_label(self, recipe: Recipe, labeled: bool) -> str | None:
        """Return the column of the labels; one with several labels is read with the other columns."""
        return recipe.label if labeled and recipe.label_separator is None else None

    def first_rows(self, path: str, recipe: Recipe) -> Any:
        """Return a source of the first rows, and the recipe to read them by."""
        return Head(path, recipe.encoding).complete_records(), replace(recipe, encoding="utf-8")

    def detect_dialect(self, path: str, recipe: Recipe, given: Options) -> Recipe:
        """Return the recipe with the dialect of a file."""
        return recipe

    def profile(self, path: str, recipe: Recipe, given: Options) -> FileProfile:
        names = ("text", "ignore", "only", "cross")
        text, ignored, only, cross = (tuple(given.get(option) or ()) for option in names)
        labels, label, remark = tuple(given.get("labels") or ()), given.get("label"), ""
        recipe = replace(
            recipe, label=label, labels=labels, label_separator=given.get("label_separator"), weight=given.get("weight")
        )
        recipe = self.detect_dialect(path, recipe.with_features(text=text, ignore=ignored), given)
        columns = self.columns(path, recipe)
        if not self.is_table(recipe):
            # The features are a nested object, next to the key of the label.
            rows = self.check_nested(path, recipe, given)
            has_texts = bool(text) or any(isinstance(x, str) for x in rows)
            are_texts = bool(rows) and all(isinstance(x, str) for x in rows)
            features = [row for row in rows if isinstance(row, dict)]
            judged = self._judge_all(features, dict.fromkeys(name for row in features for name in row))
            recipe = replace(recipe, table=self.stable_columns(judged.columns, rows))
            recipe = recipe.with_features(
                text="text" if are_texts else text,
                ignore=ignored,
                only=only,
                cross=cross,
                numbers=judged.numbers,
                mixed=judged.mixed,
            )
            return FileProfile(recipe, has_texts=has_texts, notes=list(judged.notes.values()))
        if not columns:
            raise FormatError(f"{path} is empty")
        check_columns(given, columns)
        rows = self.sample(path, replace(recipe, label=None, label_separator=None))
        if labels:
            _check_label_columns(labels, rows)
        elif label is None:
            candidates = [name for name in columns if name not in text]
            label, remark = self.guess_label(candidates, rows, recipe)
        taken = {label, recipe.weight, *labels}
        targets = {given.get("label"), recipe.weight, *labels}
        for option, named in (("ignore", ignored), ("text", text)):
            if wrong := [name for name in named if name in targets]:
                raise OptionError(f"{wrong[0]!r} is the label or the weight: leave it out of --{option}")
        kept = [name for name in only or columns if name not in taken and name not in ignored]
        judged = self._judge_all(rows, [name for name in kept if name not in text])
        left_out = {} if only else judged.left_out
        table = [name for name in kept if name not in left_out]
        if not table:
            useless = "".join(f"; {name!r} is left out ({reason})" for name, reason in left_out.items())
            raise FormatError(
                f"{path} has no column to learn from besides the label {list_names(labels or [str(label)])}{useless}"
            )
        texts = (*text, *(name for name in judged.texts if name in table))
        for pair in cross:
            if wrong := [name for name in pair if name not in table or name in texts]:
                raise OptionError(f"--cross needs columns of numbers or categories that are kept; {wrong[0]!r} is not")
        recipe = replace(recipe, label=label, table=self.stable_columns(table, rows))
        recipe = recipe.with_features(
            text=texts[0] if len(table) == 1 and list(texts) == table else texts,
            ignore=tuple(dict.fromkeys((*ignored, *left_out, *recipe.target_columns))),
            only=only,
            cross=cross,
            numbers=judged.numbers,
            mixed=judged.mixed,
            missing=self.missing,
            **{name: recipe.dialect[name] for name in ("decimal", "thousands") if name in recipe.dialect},
        )
        notes = [note for name, note in judged.notes.items() if name in table]
        if recipe.label_separator and not any(recipe.label_separator in str(row.get(label, "")) for row in rows):
            notes.append(f"no label of the first {len(rows)} rows contains {recipe.label_separator!r}")
        return FileProfile(recipe, left_out, bool(texts), remark, notes)

    def stable_columns(self, table: Sequence[str], rows: Sequence[Any]) -> Sequence[str]:
        """Return the columns that every row of a file has."""
        return tuple(table)

    def _judge_all(self, rows: Sequence[Mapping[str, Any]], columns: Collection[str]) -> "Judged":
        """Judge columns, and the features of nested values in them."""
        others = {name for row in rows for name in row}.difference(columns)
        inner = sorted(name for name in others if name.partition(":")[0] in columns)
        parse = number_parser(".", None) if self.parses_strings else None
        judged = judge(rows, [*columns, *inner], parse)
        left_out = {name: reason for name, reason in judged.left_out.items() if name in columns}
        return judged._replace(left_out=left_out)

    def sample(self, path: str, recipe: Recipe) -> list[Any]:
        """Return the examples of the first rows; rows after one that cannot be read are not included."""
        rows: list[Any] = []
        source, recipe = self.first_rows(path, recipe)
        try:
            for record in islice(self.records(source, recipe, labeled=recipe.label is not None), _SAMPLE):
                rows.append(record.x)  # noqa: PERF401  rows before an error are kept
        except ReadError:
            pass  # training reports the error
        return rows

    def check_nested(self, path: str, recipe: Recipe, given: Options) -> list[Any]:
        """Raise an error for names that are not in a file whose features have their own key; return first examples."""
        outer = {name: given.get(name) for name in ("label", "weight")}
        check_columns(outer, self.columns(path, recipe))
        rows = self.sample(path, recipe)
        features = [row for row in rows if isinstance(row, dict)]
        if features or not given.get("text"):
            check_columns(given, list(dict.fromkeys(name for row in features for name in row)), but=tuple(outer))
        return rows

    def adapt(self, path: str, recipe: Recipe, trained: Recipe, given: Options) -> Recipe:
        recipe = self.adapt_dialect(path, recipe, trained, given)
        if given.get("text"):
            recipe = _rename_texts(recipe, tuple(given["text"]))
        if any(given.get(name) for name in COLUMN_OPTIONS):
            if self.is_table(recipe):
                check_columns(given, self.columns(path, recipe))
            else:
                self.check_nested(path, recipe, given)
        ignored, only = (tuple(given.get(name) or ()) for name in ("ignore", "only"))
        recipe = replace(recipe, selected=bool(ignored or only))
        features = trained.features
        return recipe.with_features(
            ignore=(*features.get("ignore", ()), *ignored), only=only or features.get("only", ())
        )

    def adapt_dialect(self, path: str, recipe: Recipe, trained: Recipe, given: Options) -> Recipe:
        """Return the recipe with the dialect of another file."""
        return self.detect_dialect(path, recipe, given)

    def missing_columns(self, path: str, recipe: Recipe) -> list[str]:
        columns = self.feature_columns(path, recipe)
        if columns is None:
            return []
        there = {recipe.renamed.get(name, name) for name in columns}
        text = recipe.features.get("text")
        wanted = (text,) if isinstance(text, str) else recipe.table
        return [name for name in wanted if name not in there and name.partition(":")[0] not in there]

    def feature_columns(self, path: str, recipe: Recipe) -> list[str] | None:
        """Return the columns of a file that may be features; None if examples are texts or lists of names."""
        return self.columns(path, recipe)

    def has_labels(self, path: str, recipe: Recipe) -> bool:
        return {*(recipe.labels or [str(recipe.label)])} <= {*self.columns(path, recipe)}

    def to_predict(self, recipe: Recipe, *, labeled: bool) -> tuple[Recipe, bool]:
        return replace(recipe, label=None, weight=None, label_separator=None, labels=recipe.target_columns), False

    def passes_columns(self, path: str, recipe: Recipe) -> Sequence[str]:
        return self.columns(path, recipe)

    def guess_label(self, names: Sequence[str], rows: Sequence[Any], recipe: Recipe) -> tuple[str, str]:
        """Guess the label column, and return it with a remark if another column may be it.

        It is the column named like a label, or else the last one. It is the first one if the last one is a text, or if
        columns have no names, only the first one may be classes, and the last one is a quantity.
        """
        if (label := label_by_name(names)) is not None:
            return label, ""
        values = {name: found for name in names if (found := [row[name] for row in rows if name in row]) or not rows}
        if not values:
            raise FormatError("no column is left for the label: name it with --label")
        first, last = next(iter(values)), next(reversed(values))
        if is_text(values[last]) and is_label(values[first]):
            return first, ""
        if not recipe.dialect.get("header", True) and (kind := classes_in(values[first])) and first != last:
            others = [classes_in(found) for name, found in values.items() if name != first]
            if others[-1] is None and kind not in others and not isinstance(values[last][0], str):
                return first, f"the first column; the last one would be --label {last}"
            if kind == "names" and kind not in others[:-1] and others[-1] is not None:
                if all(map(says_yes_or_no, values[first])) and not all(map(says_yes_or_no, values[last])):
                    return first, f"the first column; the last one would be --label {last}"
                return last, f"the last column; the first one would be --label {first}"
        if (reason := judge(rows, [last]).left_out.get(last)) is not None:
            raise FormatError(f"the last column, {last!r}, is hardly the label ({reason}): name it with --label")
        return last, ""


def label_by_name(names: Sequence[str]) -> str | None:
    """Return the column named like a label, if there is one; x and y are coordinates."""
    points = "x" in map(str.casefold, names)
    for words in (LABELS, OUTCOMES):
        found = [name for name in names if name.casefold() in words and not (points and name in {"y", "Y"})]
        if len(found) == 1:
            return found[0]
    return None


def _rename_texts(recipe: Recipe, names: tuple[str, ...]) -> Recipe:
    """Return the recipe for a file whose text columns have these names."""
    if isinstance(recipe.features.get("text"), str) or not recipe.table:
        if len(names) > 1:
            raise OptionError(f"the model has learned from one text: name one column with --text, not {len(names)}")
        return recipe.with_features(text=names[0])
    if len(names) != len(recipe.text):
        known = ", ".join(map(repr, recipe.text)) or "no text"
        raise OptionError(f"the model has learned from {known}: name as many columns with --text, in this order")
    return replace(recipe, renamed=dict(zip(names, recipe.text, strict=True)))


def check_columns(given: Options, names: Sequence[str], but: Collection[str] = ()) -> None:
    """Raise an error for named columns that do not exist."""
    for option in COLUMN_OPTIONS:
        value = given.get(option)
        if value is None or option in but:
            continue
        wanted = [value] if isinstance(value, str) else [n for v in value for n in ([v] if isinstance(v, str) else v)]
        for name in wanted:
            if name not in names:
                flag = "label" if option == "labels" else option
                raise FormatError(f"there is no column {name!r} for --{flag}; the columns are {list_names(names)}")


class Judged(NamedTuple):
    """Judgment of columns: texts, reasons to leave others out, numbers, numbers mixed with categories, and notes."""

    columns: tuple[str, ...]
    texts: tuple[str, ...]
    left_out: dict[str, str]
    numbers: tuple[str, ...]
    mixed: tuple[str, ...]
    notes: dict[str, str]


def judge(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], parse: Callable[[str], float | None] | None = None
) -> Judged:
    """Judge columns by their values in the first rows; `parse` returns the number in a string."""
    judged = Judged(tuple(names), (), {}, (), (), {})
    for name in names:
        values = [row[name] for row in rows if name in row]
        parsed = [(parse and parse(value)) if isinstance(value, str) else value for value in values]
        others = [value for value, number in zip(values, parsed, strict=True) if number is None]
        n, n_others = len(values), len(others)
        is_numeric = n_others < n and n_others <= max(0.1 * n, n >= FEW_ROWS)
        is_mixed = not is_numeric and 0 < n_others < 0.9 * n
        if is_numeric:
            values = [number for number in parsed if number is not None]
            judged = judged._replace(numbers=(*judged.numbers, name))
        elif is_mixed:
            judged = judged._replace(mixed=(*judged.mixed, name))
        else:  # a few cells that are numbers do not change what the others are
            values = others
        if is_text(values):
            judged = judged._replace(texts=(*judged.texts, name))
        elif (reason := _useless(name, values)) is not None:
            judged.left_out[name] = reason
        elif n_others and (is_numeric or is_mixed):
            judged.notes[name] = odd_cells(name, n_others, n, others[0], "missing" if is_numeric else "categories")
        elif n >= _FEW and set(map(type, values)) == {str} and len(set(values)) > 0.5 * n:
            judged.notes[name] = (
                f"{len(set(values))} of {n} cells of {name!r} are different, such as {values[0]!r:.60}: they are "
                "treated as categories; --ignore leaves the column out"
            )
    return judged


def odd_cells(name: str, n_odd: int, n: int, first: str, role: str = "missing") -> str:
    """Return a sentence about the cells of a column that are not numbers."""
    return f"{n_odd} of {n} cells of {name!r} are not numbers, such as {first!r:.60}: they are treated as {role}"


def is_text(values: Sequence[Any]) -> bool:
    """Return whether strings are texts: several words each, and mostly distinct."""
    if set(map(type, values)) != {str}:
        return False
    n_words = sum([len(value.split()) for value in values]) / len(values)
    return n_words >= _TEXT_WORDS and len(set(values)) > max(2, 0.02 * len(values))


def is_label(values: Sequence[Any]) -> bool:
    """Return whether values repeat, as class labels do."""
    return 0 < len(set(values)) <= max(2, 0.2 * len(values))


def classes_in(values: Sequence[Any]) -> str | None:
    """Return "names" or "numbers" if the values may be classes: strings that repeat, or a few whole numbers."""
    if not is_label(values):
        return None
    if set(map(type, values)) == {str}:
        return None if is_text(values) else "names"
    return "numbers" if _are_whole(values) and len(set(values)) <= _FEW_NUMBERS else None


def _are_whole(values: Sequence[Any]) -> bool:
    return set(map(type, values)) <= {int, float, bool} and all(map(float.is_integer, map(float, values)))


def _useless(name: str, values: Sequence[Any]) -> str | None:
    """Return the reason why a column is useless for new rows, or None if it may be useful."""
    if len(values) < _FEW:
        return None
    if set(map(type, values)) == {str}:
        if len([value for value in values if re.fullmatch(_DATE, value)]) >= 0.9 * len(values):
            return "dates"
        return "different in every row" if len(set(values)) == len(values) else None
    if not _are_whole(values):
        return None
    named = re.fullmatch(_ID, name) is not None
    steps = {b - a for a, b in pairwise(values)}
    # Consecutive numbers that start elsewhere, such as years, may be informative.
    if len(steps) == 1 and steps <= {1.0, -1.0} and (named or min(values) in {0, 1}):
        return "row numbers"
    return "different in every row" if named and len(set(values)) == len(values) else None


def _check_label_columns(labels: Sequence[str], rows: Sequence[Any]) -> None:
    """Raise an error if one of several label columns does not say whether its label is present."""
    for name in labels:
        for row in rows:
            if name in row and not says_yes_or_no(row[name]):
                raise FormatError(
                    f"each of several --label columns says whether an example has the label of that name, with 0 or 1, "
                    f"or yes or no; {name!r} has {row[name]!r:.60}. For other targets train one model per column, and "
                    "leave out the other columns with --ignore"
                )


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
