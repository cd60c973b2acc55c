"""Records in JSON, one a line."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onmargin.io._fields import check_field, check_weight
from onmargin.io._reader import Reader, Record, line_reader
from onmargin.io._source import Place, RecordError, Source

_FEATURES = ("x", "features", "text")
_TARGETS = ("y", "label")
_WHITESPACE = " \t\n\r"  # of JSON


def read_jsonl(path: Source) -> Reader[Record]:
    r"""Records of a file with one JSON object a line.

    An object has the features as "x", "features" or "text": an object of numbers and strings, a list of strings, or a
    string. It may have the label as "y" or "label": a string, a number, true or false, or a list of those for several;
    and a number as "weight". Other keys are left out, blank lines too.

    Parameters
    ----------
    path : str, path-like or file
        The file, compressed with gzip, xz or Zstandard or not; "-" is the standard input.

    Returns
    -------
    records : Reader of Record
        Features, label and weight of each line.

    Raises
    ------
    ReadError
        In the loop: if a line is not such an object, or a number is NaN or infinite.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_jsonl
    >>> for record in read_jsonl(io.StringIO('{"text": "cheap pills", "label": "spam", "weight": 2}\n')):
    ...     print(record)
    Record(x='cheap pills', y='spam', weight=2.0)
    """
    return line_reader(path, _json_records)


def _json_records(lines: Iterator[str], _: Place) -> Iterator[Record]:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    for line in lines:
        if not (text := line.strip(_WHITESPACE)):
            continue
        try:
            entry, end = decoder.raw_decode(text)
        except (ValueError, RecursionError) as error:
            if text.isspace():
                continue
            raise RecordError(f"the line is not JSON: {error}") from error
        if end < len(text):
            raise RecordError(f"the line is not JSON: there is more behind it: {text[end : end + 60]!r}")
        if not isinstance(entry, dict):
            raise RecordError(f"a record is an object with {' or '.join(_FEATURES)}; got {text[:60]}")
        x, y = entry.get("text"), entry.get("y")
        if x is None or "x" in entry or "features" in entry:
            x = _one_of(entry, _FEATURES)
        if y is None or "label" in entry:
            y = _one_of(entry, _TARGETS)
        if x is None:
            raise RecordError(f"a record has its features as {' or '.join(_FEATURES)}; got the keys {list(entry)}")
        weight = check_weight(entry["weight"]) if "weight" in entry else 1.0
        yield Record(x if isinstance(x, str) else _features(x), y if isinstance(y, str) else _target(y), weight)


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
        return {name: check_field(name, value) for name, value in x.items() if value is not None}
    raise RecordError(f"features are an object of numbers and strings, a list of strings or a string; got {x!r:.60}")


def _target(y: Any) -> Any:
    if isinstance(y, list):
        return [_target(label) for label in y]
    if y is None or isinstance(y, str | bool) or (isinstance(y, int | float) and abs(y) < float("inf")):
        return y
    raise RecordError(f"a label is a string, a finite number, true or false, or a list of those; got {y!r:.60}")
