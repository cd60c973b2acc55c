"""Records in JSON: one object per line, or one array of objects."""

import io
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any, BinaryIO

from onmargin.io._reader import Reader, Record, byte_reader, check_weight, each_record, flat_fields, line_reader
from onmargin.io._source import DamageError, Place, RecordError, Source
from onmargin.io.format import FormatError, Head, LabelNumbers, Options, Recipe, Write, as_integer, list_names
from onmargin.io.table_format import FEW_ROWS, TableFormat, label_by_name

_FEATURES = ("x", "features", "text")
_TARGETS = ("y", "label")
_WHITESPACE = " \t\n\r"  # of JSON
_BUFFER = 1 << 16  # characters of an array to read at a time


def read_jsonl(
    path: Source,
    *,
    label: str | None = None,
    weight: str | None = None,
    flat: bool = False,
    ignore: Collection[str] = (),
) -> Reader[Record]:
    r"""Read a JSON Lines file: one JSON object per line.

    An object has its features under "x", "features" or "text": an object of numbers and strings, a list of strings, or
    a string. It may have a label under "y" or "label": a string, a number, true or false, or a list of these for
    several labels. It may have a number under "weight". Other keys and blank lines are ignored.

    A flat object has its features next to the label: ``{"message": "Hello", "length": 5, "category": "ham"}``. A nested
    object or list of strings becomes the features "key:name", and a list of numbers "key:0", "key:1" and so on. A null
    is omitted.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.
    label : str or None, default=None
        The key of the label. If None, it is "y" or "label".
    weight : str or None, default=None
        The key of the weight. If None, it is "weight".
    flat : bool, default=False
        Whether all keys but those of label and weight are features.
    ignore : collection of str, default=()
        Keys of flat objects whose values may be anything; values that cannot be features are omitted.

    Returns
    -------
    records : Reader of Record
        Features, label and weight of each line.

    Raises
    ------
    ReadError
        During iteration, if a line is not such an object, or a number is NaN or infinite.

    See Also
    --------
    read_json : Read an array of such objects.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_jsonl
    >>> for record in read_jsonl(io.StringIO('{"text": "cheap pills", "label": "spam", "weight": 2}\n')):
    ...     print(record)
    Record(x='cheap pills', y='spam', weight=2.0)
    >>> for record in read_jsonl(io.StringIO('{"size": 3, "color": "red", "kind": "a"}\n'), label="kind", flat=True):
    ...     print(record)
    Record(x={'size': 3.0, 'color': 'red'}, y='a', weight=1.0)
    """
    record = _flat(label, weight, ignore) if flat else _nested(label, weight)

    def parse(lines: Iterator[str], _: Place) -> Iterator[Record]:
        decoder = json.JSONDecoder(parse_constant=_refuse_constant)
        for line in lines:
            if not (text := line.strip(_WHITESPACE)):
                continue
            try:
                entry, end = decoder.raw_decode(text)
            except (ValueError, RecursionError) as error:
                if text.isspace():
                    continue
                raise RecordError(f"the line is not JSON: {_problem(error)}") from error
            if end < len(text):
                raise RecordError(f"the line is not JSON: extra text after the value: {text[end : end + 60]!r}")
            if not isinstance(entry, dict):
                raise RecordError(f"a record is an object with {' or '.join(_FEATURES)}; got {text[:60]}")
            yield record(entry)

    return line_reader(path, parse)


def read_json(
    path: Source,
    *,
    label: str | None = None,
    weight: str | None = None,
    flat: bool = False,
    ignore: Collection[str] = (),
) -> Reader[Record]:
    r"""Read a JSON file with one array of objects, one object at a time.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.
    label : str or None, default=None
        The key of the label, as for :func:`read_jsonl`.
    weight : str or None, default=None
        The key of the weight.
    flat : bool, default=False
        Whether all keys but those of label and weight are features.
    ignore : collection of str, default=()
        Keys of flat objects whose values may be anything; values that cannot be features are omitted.

    Returns
    -------
    records : Reader of Record
        Features, label and weight of each object.

    Raises
    ------
    ReadError
        During iteration, if the file is not an array of such objects.

    See Also
    --------
    read_jsonl : Read one object per line.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_json
    >>> for record in read_json(io.StringIO('[{"x": {"a": 1}, "y": "p"}, {"x": {"b": 2}, "y": "q"}]')):
    ...     print(record)
    Record(x={'a': 1.0}, y='p', weight=1.0)
    Record(x={'b': 2.0}, y='q', weight=1.0)
    """
    record = _flat(label, weight, ignore) if flat else _nested(label, weight)

    def parse(stream: BinaryIO, at: Place) -> Iterator[Record]:
        def parse_entry(entry: Any) -> Record:
            if not isinstance(entry, dict):
                raise RecordError(f"the array must hold objects; got {entry!r:.60}")
            return record(entry)

        yield from each_record(items(io.TextIOWrapper(stream, "utf-8-sig")), parse_entry, at)

    return byte_reader(path, parse)


def items(text: io.TextIOWrapper) -> Iterator[Any]:
    """Yield the items of an array, each as soon as it is complete.

    Parameters
    ----------
    text : TextIOWrapper
        The file.

    Yields
    ------
    item : object
        The next item.
    """
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    buffer, begun, first = "", False, True
    try:
        while True:
            more = text.read(max(_BUFFER, len(buffer)))  # an item that continues is parsed again: read twice as much
            buffer = (buffer + more).lstrip(_WHITESPACE)
            while buffer:
                if not begun or not first:
                    expected = "[" if not begun else ",]"
                    if buffer[0] not in expected:
                        raise DamageError(
                            f"the file is not a JSON array: expected {expected[0]!r}, got {buffer[:60]!r}"
                        )
                    if buffer[0] == "]":
                        return
                    buffer, begun, first = buffer[1:].lstrip(_WHITESPACE), True, True
                    continue
                if buffer[0] == "]":
                    return
                try:
                    entry, end = decoder.raw_decode(buffer)
                except (ValueError, RecursionError) as error:
                    if more:
                        break  # the item may continue in the next buffer
                    raise DamageError(f"the file is not a JSON array: {_problem(error)}") from error
                yield entry
                buffer, first = buffer[end:].lstrip(_WHITESPACE), False
            if not more:
                if begun:
                    raise DamageError("the file is not a JSON array: it ends before the array does")
                return
    except UnicodeDecodeError as error:
        raise DamageError(f"the file is not UTF-8: {error}; set its encoding (--encoding)") from error
    finally:
        with suppress(ValueError):  # the file is closed if its reader is not read to the end
            text.detach()


def first_objects(data: bytes, *, array: bool) -> list[dict[str, Any]]:
    """Return the complete objects at the start of a file; damaged ones are skipped.

    Parameters
    ----------
    data : bytes
        The first bytes of the file.
    array : bool
        Whether the file is an array; otherwise it has one object per line.

    Returns
    -------
    objects : list of dict
        The objects.
    """
    found: list[Any] = []
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", "replace")
    if array:
        with suppress(RecordError):
            found.extend(items(text))
    else:
        for line in text:
            with suppress(ValueError, RecursionError):
                found.append(json.loads(line))
    return [entry for entry in found if isinstance(entry, dict)]


def _nested(label: str | None, weight: str | None) -> Callable[[dict[str, Any]], Record]:
    """Return a parser of records whose features have their own key."""
    targets, weight_key = _TARGETS if label is None else (label,), weight or "weight"

    def record(entry: dict[str, Any]) -> Record:
        x, y = entry.get("text"), entry.get(targets[0])
        if x is None or "x" in entry or "features" in entry:
            x = _one_of(entry, _FEATURES)
        if y is None or targets[-1] in entry:
            y = _one_of(entry, targets)
        if x is None:
            raise RecordError(f"a record has its features as {' or '.join(_FEATURES)}; got the keys {list(entry)}")
        return Record(
            x if isinstance(x, str) else _features(x),
            y if isinstance(y, str) else _target(y),
            _weight(entry, weight_key),
        )

    return record


def _flat(label: str | None, weight: str | None, ignore: Collection[str]) -> Callable[[dict[str, Any]], Record]:
    """Return a parser of records whose features are next to the label."""
    targets, weight_key = _TARGETS if label is None else (label,), weight or "weight"

    def record(entry: dict[str, Any]) -> Record:
        y = _target(_one_of(entry, targets))
        count = _weight(entry, weight_key)
        return Record(
            flat_fields({key: v for key, v in entry.items() if key not in targets and key != weight_key}, ignore),
            y,
            count,
        )

    return record


def _problem(error: Exception) -> str:
    """Return the reason of a JSON error, with the column but without the line, which the reader counts."""
    return f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else str(error)


def _weight(entry: Mapping[str, Any], key: str) -> float:
    return check_weight(entry[key]) if key in entry else 1.0


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _one_of(entry: Mapping[str, Any], keys: Sequence[str]) -> Any:
    found = None
    for key in keys:
        value = entry.get(key)
        if value is not None:
            if found is not None:
                both = [key for key in keys if entry.get(key) is not None]
                raise RecordError(f"a record has one of {' and '.join(both)}, not both")
            found = value
    return found


def _features(x: Any) -> Any:
    if isinstance(x, list) and all(isinstance(name, str) for name in x):
        return x
    if isinstance(x, dict):
        return flat_fields(x)
    raise RecordError(f"features are an object of numbers and strings, a list of strings or a string; got {x!r:.60}")


def _target(y: Any) -> Any:
    if isinstance(y, list):
        return [_target(label) for label in y]
    if y is None or isinstance(y, str | bool) or (isinstance(y, int | float) and abs(y) < float("inf")):
        return y
    raise RecordError(f"a label is a string, a finite number, true or false, or a list of those; got {y!r:.60}")


class JsonLines(TableFormat):
    """One JSON object per line."""

    name = "jsonl"
    is_array = False
    start = "{"

    def matches(self, head: Head) -> bool:
        return head.filled[0].lstrip().startswith(self.start)

    def is_table(self, recipe: Recipe) -> bool:
        return bool(recipe.dialect.get("flat"))

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        read = read_json if self.is_array else read_jsonl
        ignore = recipe.features.get("ignore", ())
        return read(source, label=recipe.label, weight=recipe.weight, ignore=ignore, **recipe.dialect)

    def first_rows(self, path: str, recipe: Recipe) -> Any:
        source, plain = super().first_rows(path, recipe)
        return io.BytesIO(Head(path, recipe.encoding).data) if self.is_array else source, plain

    def detect_dialect(self, path: str, recipe: Recipe, given: Options) -> Recipe:
        keys = {key for entry in self._entries(path, recipe) for key in entry}
        outer = {"text", "y", "label", "weight", recipe.label, recipe.weight}
        self._check_wrapped(path, recipe)
        return recipe.with_dialect(flat=not keys & {"x", "features"} and not keys <= outer)

    def _check_wrapped(self, path: str, recipe: Recipe) -> None:
        """Raise an error for a JSON file that is one object, with the list of examples under a key, or over lines."""
        data = Head(path, recipe.encoding).data
        entries = self._entries(path, recipe)
        found = re.search(rb'"(\w+)"\s*:\s*\[\s*[\[{]', data)
        is_one = re.match(rb"\s*\{\s*(\n|$)", data) is not None  # the first line of an object over several lines
        key = found[1].decode() if found else ""
        is_wrapped = is_one or not entries or (len(entries) == 1 and entries[0].keys().isdisjoint(_FEATURES))
        if key and is_wrapped and key not in recipe.features.get("ignore", ()):
            raise FormatError(
                f"{path} is one object with the examples under the key {key!r}: extract them, such as with "
                f"jq -c '.{key}[]' {path} > {key}.jsonl"
            )
        values = list(entries[0].values()) if len(entries) == 1 else []
        sizes = {len(value) if isinstance(value, list | dict) else 0 for value in values}
        if len(values) > max({FEW_ROWS, *sizes}) and all(isinstance(value, dict) for value in values):
            raise FormatError(
                f"{path} is one object with an object per example: extract them, such as with jq -c '.[]' {path} > "
                "examples.jsonl"
            )
        if len(values) > 1 == len(sizes) and min(sizes) >= FEW_ROWS:
            raise FormatError(
                f"{path} is one object with a list per column: write one object per row, such as with "
                "DataFrame.to_json(orient='records', lines=True)"
            )
        if is_one:
            raise FormatError(f"{path} has objects over several lines: write one in each, such as with jq -c . {path}")

    def _entries(self, path: str, recipe: Recipe) -> list[dict[str, Any]]:
        return first_objects(Head(path, recipe.encoding).data, array=self.is_array)

    def columns(self, path: str, recipe: Recipe) -> list[str]:
        return list(dict.fromkeys(name for entry in self._entries(path, recipe) for name in entry))

    def stable_columns(self, table: Sequence[str], rows: Sequence[Any]) -> Sequence[str]:
        # Objects may lack keys. The features of a nested value are called "name:inner".
        names = [{*row, *(name.partition(":")[0] for name in row)} for row in rows if isinstance(row, dict)]
        return tuple(name for name in table if names and all(name in there for there in names))

    def feature_columns(self, path: str, recipe: Recipe) -> list[str] | None:
        entries: list[Any] = [*self._entries(path, recipe)]
        if not self.is_table(recipe):
            entries = [next((entry[key] for key in _FEATURES if key in entry), None) for entry in entries]
        known = bool(entries) and all(isinstance(entry, dict) for entry in entries)
        return [name for entry in entries for name in entry] if known else None

    def adapt(self, path: str, recipe: Recipe, trained: Recipe, given: Options) -> Recipe:
        recipe = super().adapt(path, recipe, trained, given)
        if self.is_table(recipe):
            return recipe
        # Targets are next to the object of features, under keys of their own unless they are named as in training.
        keys = self.columns(path, recipe)
        label, weight = (name if name in keys else None for name in (recipe.label, recipe.weight))
        return replace(recipe, label=label, weight=weight, labels=recipe.labels if {*recipe.labels} <= {*keys} else ())

    def has_labels(self, path: str, recipe: Recipe) -> bool:
        if recipe.labels:
            return super().has_labels(path, recipe)
        keys = {*self.columns(path, recipe)}
        return not keys or not keys.isdisjoint(_TARGETS if recipe.label is None else (recipe.label,))

    def to_predict(self, recipe: Recipe, *, labeled: bool) -> tuple[Recipe, bool]:
        return recipe, labeled

    def passes_columns(self, path: str, recipe: Recipe) -> Sequence[str]:
        return ()  # objects may have keys that the first ones lack

    def guess_label(self, names: Sequence[str], rows: Sequence[Any], recipe: Recipe) -> tuple[str, str]:
        if (label := label_by_name(names)) is None:
            raise FormatError(f"name the --label, one of the keys {list_names(names)}")
        return label, ""

    def writer(self, out: IO[str], names: IO[str] | None, labels: LabelNumbers) -> Write:
        def write(x: Any, y: Any, weight: float) -> None:
            record = {"text" if isinstance(x, str) else "x": x}
            if y is not None:
                record["y"] = as_integer(y)
            if weight != 1.0:
                record["weight"] = weight
            out.write(json.dumps(record, ensure_ascii=False) + "\n")

        return write


class Json(JsonLines):
    """One array of JSON objects."""

    name = "json"
    is_array = True
    start = "["
