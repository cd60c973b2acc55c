"""Tagged sentences in columns: CoNLL files and CoNLL-U."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from onmargin.io._reader import Reader, TaggedSequence, line_reader, to_blank_line
from onmargin.io._source import Place, RecordError, Source

_CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_NO_WORD = re.compile(r"[0-9]+[-.][0-9]+")


def read_conll(
    path: Source,
    columns: Sequence[int] | Mapping[str, int] | None = None,
    label: int | None = -1,
    *,
    separator: str | None = None,
    comment: str | None = None,
) -> Reader[TaggedSequence]:
    r"""Sentences of a file with one token a line in columns, and blank lines between sentences.

    The format of the CoNLL shared tasks on chunking and named entities, and of many corpora since. A line whose first
    column is "-DOCSTART-" ends a sentence and is left out.

    Parameters
    ----------
    path : str, path-like or file
        The file, compressed with gzip, xz or Zstandard or not; "-" is the standard input.
    columns : sequence of int, dict of str to int, or None, default=None
        What to keep of a token. None: all columns but that of the label, as a tuple. A sequence: these columns, counted
        from 0, or from -1 at the end, as a tuple. A mapping: a dict with these names.
    label : int or None, default=-1
        The column of the label; None if there is none.
    separator : str or None, default=None
        What parts columns. None: tabs in a line that has any, and otherwise any white space.
    comment : str or None, default=None
        Lines that start with this are left out. By default there are none: "#" is a token in many corpora.

    Returns
    -------
    sentences : Reader of TaggedSequence
        The tokens and labels of each sentence.

    Raises
    ------
    ReadError
        In the loop: if a line has more or fewer columns than the first one, or too few.

    See Also
    --------
    read_conllu : For the format of the Universal Dependencies.
    onmargin.evaluate.tagging_report : Measures how good predicted labels are.

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
    r"""Sentences of a CoNLL-U file, the format of the Universal Dependencies.

    Comments, ranges of multi-word tokens ("1-2") and empty nodes ("1.1") are left out; words remain.

    Parameters
    ----------
    path : str, path-like or file
        The file, compressed with gzip, xz or Zstandard or not; "-" is the standard input.
    columns : sequence of str, default=("form",)
        What to keep of a word, out of "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc".
    label : str or None, default="upos"
        Which of them is the label; None for none.

    Returns
    -------
    sentences : Reader of TaggedSequence
        The words of each sentence, each a dict of its columns, and their labels.

    Raises
    ------
    ReadError
        In the loop: if a line of a word has not ten columns with tabs between them.

    See Also
    --------
    read_conll : For other files with columns.

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
        if name not in _CONLLU:
            raise ValueError(f"the columns of CoNLL-U are {', '.join(_CONLLU)}; got {name!r}")
    places = {name: _CONLLU.index(name) for name in columns}

    def token(fields: list[str]) -> dict[str, str]:
        return {name: fields[k] for name, k in places.items()}

    def parse(lines: Iterator[str], _: Place) -> Iterator[TaggedSequence]:
        return _sentences(_words(lines), token, None if label is None else _CONLLU.index(label))

    return line_reader(path, parse, go_on=to_blank_line)


def _sentences(
    rows: Iterator[list[str]], token: Callable[[list[str]], Any], label: int | None
) -> Iterator[TaggedSequence]:
    """Sentences of rows of columns, which empty rows part."""
    for filled, sentence in groupby(rows, key=bool):
        if filled:
            tokens = list(sentence)
            x = [token(fields) for fields in tokens]
            yield TaggedSequence(x, None if label is None else [fields[label] for fields in tokens])


def _rows(lines: Iterator[str], separator: str | None, comment: str | None, wanted: list[int]) -> Iterator[list[str]]:
    """The columns of each line, none for one that parts sentences."""
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
            hint = ". If it is a comment, say comment='#'" if line.startswith("#") and not comment else ""
            raise RecordError(f"the line has {len(fields)} columns, and those before have {width}{hint}")
        yield fields


def _words(lines: Iterator[str]) -> Iterator[list[str]]:
    """The columns of each word of CoNLL-U, none for a line that parts sentences."""
    for line in lines:
        if line.startswith("#"):
            continue
        fields = line.split("\t") if line.strip() else []
        if fields and len(fields) != len(_CONLLU):
            raise RecordError(f"a word of CoNLL-U has {len(_CONLLU)} columns with tabs between them; got {len(fields)}")
        if not fields or fields[0].isdecimal():
            yield fields
        elif not _NO_WORD.fullmatch(fields[0]):
            raise RecordError(f"the id of a word is a whole number, '1-2' or '1.1'; got {fields[0]!r}")
