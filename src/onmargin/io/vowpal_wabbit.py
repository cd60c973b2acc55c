"""Examples in the text format of Vowpal Wabbit."""

from collections import Counter
from collections.abc import Iterator
from typing import IO, Any

from onmargin.io._reader import Reader, Record, check_weight, line_reader, parse_number
from onmargin.io._source import Place, RecordError, Source
from onmargin.io.format import FileProfile, Format, Head, LabelNumbers, Options, Recipe, Write, named_values
from onmargin.io.svmlight import NUMBER

_LINE = rf"(?:{NUMBER}(?:\s+{NUMBER}){{0,2}}\s++(?:'?+[^\s|]*+\s*+)|'[^\s|]*+\s*+)?\|(?:[^|]|$)"
# Whitespace, colons and bars are separators and cannot be escaped.
_ESCAPES = {ord(c): "_" for c in " \t\n\r:|"}


def read_vw(path: Source) -> Reader[Record]:
    r"""Read the examples of a file in Vowpal Wabbit's text format.

    A line is ``label importance 'tag |namespace:scale name name:value |other name ...``, where label, importance, tag,
    namespaces, scales and values are optional.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.

    Returns
    -------
    records : Reader of Record
        For each example, a dict of its features, its label, and its importance as the weight. A feature of a namespace
        is named "namespace^name", as Vowpal Wabbit prints it. The values of a feature that occurs twice are added.

    Raises
    ------
    ReadError
        During iteration, if a line has no "|", a label or a value is not a finite number, or there is an initial
        prediction after the importance. Other kinds of labels, such as costs of actions, are not supported.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_vw
    >>> for record in read_vw(io.StringIO("1 2.0 'first |words cheap pills |size length:11\n")):
    ...     print(record)
    Record(x={'words^cheap': 1.0, 'words^pills': 1.0, 'size^length': 11.0}, y=1.0, weight=2.0)
    """
    return line_reader(path, _examples)


def _examples(lines: Iterator[str], _: Place) -> Iterator[Record]:
    for line in lines:
        if not line.strip():
            continue
        head, *namespaces = line.split("|")
        if not namespaces:
            raise RecordError(f"an example has its features after a '|'; got {line[:60]!r}")
        words = head.split()
        # A tag starts with a quote, or directly precedes the bar without a space.
        if words and (words[-1].startswith("'") or not head[-1].isspace()):
            words.pop()
        if len(words) > 2:
            raise RecordError(
                f"at most a label, an importance and a tag come before the first '|'; got {head.strip()!r}"
            )
        y = parse_number(words[0], "the label") if words else None
        weight = check_weight(parse_number(words[1], "the importance")) if len(words) > 1 else 1.0
        x = _features(namespaces[0])
        for namespace in namespaces[1:]:
            for name, value in _features(namespace).items():
                x[name] = x.get(name, 0.0) + value
        yield Record(x, y, weight)


def _features(namespace: str) -> dict[str, float]:
    """Return the features after a bar by name; the name of the namespace, if any, directly follows the bar."""
    words = namespace.split()
    prefix, scale = "", 1.0
    if words and not namespace[0].isspace():
        name, scale = _named(words.pop(0))
        prefix = f"{name}^"
    if ":" not in namespace:
        return {prefix + name: float(count) for name, count in Counter(words).items()}
    x: dict[str, float] = {}
    for word in words:
        name, value = _named(word)
        x[prefix + name] = x.get(prefix + name, 0.0) + scale * value
    return x


def _named(word: str) -> tuple[str, float]:
    name, colon, value = word.rpartition(":")
    if not colon:
        return word, 1.0
    if not name:
        raise RecordError(f"there is no name before the value in {word!r}")
    return name, parse_number(value, f"the value of {name!r}")


class VowpalWabbit(Format):
    """Vowpal Wabbit's text format."""

    name = "vw"
    options = frozenset({"encoding", "cross"})
    numbers_labels = True

    def matches(self, head: Head) -> bool:
        return head.mostly(_LINE)

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        return read_vw(source)

    def profile(self, path: str, recipe: Recipe, given: Options) -> FileProfile:
        cross = tuple(given.get("cross") or ())
        return FileProfile(recipe.with_features(cross=cross) if cross else recipe)

    def writer(self, out: IO[str], names: IO[str] | None, labels: LabelNumbers) -> Write:
        def write(x: Any, y: Any, weight: float) -> None:
            features: dict[str, float] = {}
            for name, value in named_values(x).items():
                word = name.translate(_ESCAPES)
                features[word] = features.get(word, 0.0) + value
            label = "" if y is None else labels.text(y)
            head = f"{label} {weight!r}" if label and weight != 1.0 else label
            out.write(f"{head} | {' '.join(f'{name}:{value!r}' for name, value in features.items())}\n".lstrip())

        return write
