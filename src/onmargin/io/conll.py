"""Tagged sentences in columns: CoNLL files and CoNLL-U."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from onmargin.io._reader import Reader, TaggedSequence, line_reader, to_blank_line
from onmargin.io._source import Place, RecordError, Source
from onmargin.io.format import FileProfile, Format, FormatError, Head, OptionError, Options, Recipe

CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")


def read_conll(
    path: Source,
    columns: Sequence[int] | Mapping[str, int] | None = None,
    label: int | None = -1,
    *,
    separator: str | None = None,
    comment: str | None = None,
) -> Reader[TaggedSequence]:
    r"""Read the sentences of a CoNLL file: one token per line in columns, and blank lines between sentences.

    This is the format of the CoNLL shared tasks on chunking and named entities, and of many corpora since. A line whose
    first column is "-DOCSTART-" ends a sentence and is omitted.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.
    columns : sequence of int, dict of str to int, or None, default=None
        The columns of a token to keep. If None, all columns except the label, as a tuple. If a sequence, these column
        indices, as a tuple; -1 is the last column. If a mapping, a dict with these names.
    label : int or None, default=-1
        Index of the label column. If None, tokens have no labels.
    separator : str or None, default=None
        Column separator. If None, columns are separated by tabs in lines that contain a tab, and by any white space in
        other lines.
    comment : str or None, default=None
        Lines that start with this string are skipped. If None, no line is a comment: "#" is a token in many corpora.

    Returns
    -------
    sentences : Reader of TaggedSequence
        The tokens and labels of each sentence.

    Raises
    ------
    ReadError
        During iteration, if a line has more or fewer columns than the first line, or fewer than requested.

    See Also
    --------
    read_conllu : Read the format of the Universal Dependencies.
    onmargin.evaluate.tagging_report : Evaluate predicted labels.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_conll
    >>> text = "He PRP B-NP\nreckons VBZ B-VP\n\nRockwell NNP B-NP\nsaid VBD B-VP\n"
    >>> for x, y in read_conll(io.StringIO(text)):
    ...     print(x, y)
    [('He', 'PRP'), ('reckons', 'VBZ')] ['B-NP', 'B-VP']
    [('Rockwell', 'NNP'), ('said', 'VBD')] ['B-NP', 'B-VP']
    """
    places = None if columns is None else list(columns.values() if isinstance(columns, Mapping) else columns)
    wanted = [*(places or []), *([] if label is None else [label])]

    def token(fields: list[str]) -> Any:
        if places is None:
            return tuple(field for k, field in enumerate(fields) if label is None or k != label % len(fields))
        values = (fields[k] for k in places)
        return dict(zip(columns, values, strict=True)) if isinstance(columns, Mapping) else tuple(values)

    def parse(lines: Iterator[str], _: Place) -> Iterator[TaggedSequence]:
        return _sentences(_rows(lines, separator, comment, wanted), token, label)

    return line_reader(path, parse, go_on=to_blank_line)


def read_conllu(path: Source, columns: Sequence[str] = ("form",), label: str | None = "upos") -> Reader[TaggedSequence]:
    r"""Read the sentences of a CoNLL-U file, the format of the Universal Dependencies.

    Only words are kept: comments, ranges of multi-word tokens ("1-2") and empty nodes ("1.1") are omitted.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.
    columns : sequence of str, default=("form",)
        The columns of a word to keep, among "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps"
        and "misc".
    label : str or None, default="upos"
        The label column. If None, words have no labels.

    Returns
    -------
    sentences : Reader of TaggedSequence
        The words of each sentence, each a dict of its columns, and their labels.

    Raises
    ------
    ReadError
        During iteration, if the line of a word does not have ten tab-separated columns.

    See Also
    --------
    read_conll : Read other files with one token per line.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_conllu
    >>> text = "# text = vamonos\n1-2\tvamonos" + "\t_" * 8 + "\n1\tvamos\tir\tVERB" + "\t_" * 6
    >>> text += "\n2\tnos\tnosotros\tPRON" + "\t_" * 6 + "\n\n"
    >>> for x, y in read_conllu(io.StringIO(text), columns=["form", "lemma"]):
    ...     print(x, y)
    [{'form': 'vamos', 'lemma': 'ir'}, {'form': 'nos', 'lemma': 'nosotros'}] ['VERB', 'PRON']
    """
    for name in (*columns, *([] if label is None else [label])):
        if name not in CONLLU:
            raise ValueError(f"the columns of CoNLL-U are {', '.join(CONLLU)}; got {name!r}")
    return _read_words(path, {name: CONLLU.index(name) for name in columns}, label)


def _read_words(path: Source, places: Mapping[str, int], label: str | None) -> Reader[TaggedSequence]:
    """Read the words of a CoNLL-U file, each a dict of the columns at these places."""

    def token(fields: list[str]) -> dict[str, str]:
        return {name: fields[k] for name, k in places.items()}

    def parse(lines: Iterator[str], _: Place) -> Iterator[TaggedSequence]:
        return _sentences(_words(lines), token, None if label is None else CONLLU.index(label))

    return line_reader(path, parse, go_on=to_blank_line)


def _sentences(
    rows: Iterator[list[str]], token: Callable[[list[str]], Any], label: int | None
) -> Iterator[TaggedSequence]:
    """Yield sentences from rows of columns; empty rows separate sentences."""
    for filled, sentence in groupby(rows, key=bool):
        if filled:
            tokens = list(sentence)
            x = [token(fields) for fields in tokens]
            yield TaggedSequence(x, None if label is None else [fields[label] for fields in tokens])


def _rows(lines: Iterator[str], separator: str | None, comment: str | None, wanted: list[int]) -> Iterator[list[str]]:
    """Yield the columns of each line, and an empty list for a line that separates sentences."""
    width = 0
    for line in lines:
        if comment and line.startswith(comment):
            continue
        fields = line.split(separator or ("\t" if "\t" in line else None)) if line.strip() else []
        if not fields or fields[0] == "-DOCSTART-":
            yield []
            continue
        for k in wanted if not width else []:
            if not -len(fields) <= k < len(fields):
                raise RecordError(f"there is no column {k}: the first token has {len(fields)}, counted from 0")
        width = width or len(fields)
        if len(fields) != width:
            hint = ". If it is a comment, set comment='#'" if line.startswith("#") and not comment else ""
            raise RecordError(f"the line has {len(fields)} columns, and those before have {width}{hint}")
        yield fields


def _words(lines: Iterator[str]) -> Iterator[list[str]]:
    """Yield the columns of each CoNLL-U word, and an empty list for a line that separates sentences."""
    for line in lines:
        if line.startswith("#"):
            continue
        fields = line.split("\t") if line.strip() else []
        if fields and len(fields) != len(CONLLU):
            raise RecordError(f"a word of CoNLL-U has {len(CONLLU)} columns with tabs between them; got {len(fields)}")
        if not fields or fields[0].isdecimal():
            yield fields
        elif not _NO_WORD.fullmatch(fields[0]):
            raise RecordError(f"the id of a word is a whole number, '1-2' or '1.1'; got {fields[0]!r}")


def detect_sequences(head: Head) -> str | None:
    """Guess the format of lines with blank lines between them; return None if they match none.

    CoNLL has the same number of columns in each line, and a few labels in the last one. CRFsuite has the label first,
    then names of features, such as "w=the".

    Parameters
    ----------
    head : Head
        The first lines of a file.

    Returns
    -------
    format : str or None
        The name of the format.
    """
    if not head.has_sequences:
        return None
    words = [line for line in head.filled if not line.startswith("#")] or head.filled
    rows = [line.split("\t" if "\t" in line else None) for line in words]
    widths = set(map(len, rows))
    if "\t" in words[0]:
        if widths == {10} and all(re.fullmatch(r"\d+([-.]\d+)?", row[0]) for row in rows):
            return "conllu"
        fields = [field for row in rows for field in row[1:]]
        named = sum("=" in field or ":" in field[1:] for field in fields)
        few_first = len({row[0] for row in rows}) < len({row[-1] for row in rows})
        if len(widths) > 1 or 2 * named > len(fields) or (few_first and len(rows) > 20):
            return "crfsuite" if all("\t" in line for line in words) else None
        return "conll"
    return "conll" if widths != {1} and len(widths - {1}) == 1 and "," not in words[0] else None


class Conll(Format):
    """One token per line, in columns."""

    name = "conll"
    kind = "sequences"
    options = frozenset({"label", "template", "encoding"})

    def matches(self, head: Head) -> bool:
        return detect_sequences(head) == self.name

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        return read_conll(source, label=int(recipe.label or -1) if labeled else None)

    def check_label(self, label: str | None) -> None:
        """Raise an error for a label that is not a column of tokens."""
        if label is not None and not re.fullmatch(r"-?\d+", label):
            raise OptionError(f"--label: columns of CoNLL files have numbers, from 0; got {label!r}")

    def profile(self, path: str, recipe: Recipe, given: Options) -> FileProfile:
        self.check_label(given.get("label"))
        if (width := self._width(path, recipe)) == 1:
            raise FormatError(
                f"the tokens of {path} have one column, which is their label: there is none to learn from"
            )
        n = max(1, width - 1)
        columns = ["w", "pos", *(f"c{k}" for k in range(2, n))][:n]
        recipe = recipe.with_features(columns=columns, templates=list(given.get("template") or ()) or None)
        return FileProfile(replace(recipe, label=given.get("label")))

    def adapt(self, path: str, recipe: Recipe, trained: Recipe, given: Options) -> Recipe:
        self.check_label(given.get("label"))
        width, needed = self._width(path, recipe), len(trained.features.get("columns", ()))
        if width < needed:
            raise FormatError(
                f"the tokens of {path} have {width} column{'s' * (width > 1)}, and the model needs {needed}"
            )
        return recipe

    def describe(self, recipe: Recipe) -> list[str]:
        label = "the last column" if recipe.label is None else f"column {recipe.label}"
        columns = recipe.features["columns"]
        others = f"the other {len(columns)} columns" if len(columns) > 1 else "one other column"
        return [f"labels in {label}, features of {others}"]

    def _width(self, path: str, recipe: Recipe) -> int:
        """Return the number of columns of the first token."""
        lines = Head(path, recipe.encoding).lines
        first = next((line for line in lines if line.strip() and not line.startswith("-DOCSTART-")), "")
        return len(first.split("\t" if "\t" in first else None))

    def has_labels(self, path: str, recipe: Recipe) -> bool:
        return self._width(path, recipe) > len(recipe.features.get("columns", ()))


class ConllU(Conll):
    """CoNLL-U, the format of the Universal Dependencies."""

    name = "conllu"

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        return _read_words(source, {"w": CONLLU.index("form")}, recipe.label if labeled else None)

    def check_label(self, label: str | None) -> None:
        if label is not None and label not in CONLLU:
            raise OptionError(f"--label: columns of CoNLL-U are {', '.join(CONLLU)}; got {label!r}")

    def profile(self, path: str, recipe: Recipe, given: Options) -> FileProfile:
        self.check_label(given.get("label"))
        recipe = recipe.with_features(columns=["w"], templates=list(given.get("template") or ()) or None)
        return FileProfile(replace(recipe, label=given.get("label") or "upos"))

    def adapt(self, path: str, recipe: Recipe, trained: Recipe, given: Options) -> Recipe:
        self.check_label(given.get("label"))
        return recipe

    def has_labels(self, path: str, recipe: Recipe) -> bool:
        return True
