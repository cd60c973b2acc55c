"""Detection of file formats by name and first bytes."""

import io
import os
import re
import sys
from typing import Any

from onmargin.io._reader import ReadError
from onmargin.io._source import SUFFIXES, Place, RecordError, opened
from onmargin.io.csv_look import DELIMITERS, is_aligned

_HEAD = 1 << 16  # number of bytes to look at

# File name endings, without the ending of a compressed file. A .json file holds an array or one object per line.
ENDINGS = {
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "csv": (".csv", ".tsv"),
    "jsonl": (".jsonl", ".ndjson"),
    "vw": (".vw",),
    "arrow": (".parquet", ".arrow", ".feather"),
    "mbox": (".mbox",),
    "conll": (".conll", ".iob", ".bio"),
    "conllu": (".conllu",),
    "crfsuite": (".crfsuite", ".crf"),
    "arff": (".arff",),
}
FORMATS = (*ENDINGS, "json", "text", "folder")

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# Patterns for the first line, tried in this order and compiled on use.
_FIRST = {
    "mbox": r"From ",
    "jsonl": r"\s*\{",
    "json": r"\s*\[",
    "arff": r"(?i)\s*(?:%|@relation\b)",
}
# Patterns for the lines of the first block, tried in this order.
_EACH = {
    "svmlight": rf"#|(?:{_NUMBER}(?:,{_NUMBER})*)?\s*(?:qid:\d+\s+)?(?:\d+:{_NUMBER}(?:\s+|$))*(?:#|$)",
    "vw": rf"(?:{_NUMBER}(?:\s+{_NUMBER}){{0,2}}\s+(?:'?[^\s|]*\s*)|'[^\s|]*\s*)?\|(?:[^|]|$)",
    "text": r"[^\t,;]+\t[^\t]*$",
}


def guess_format(path: str | os.PathLike[str], encoding: str = "utf-8") -> str:
    """Guess the format of a file by its name, or by its first block if the name is not conclusive.

    Parameters
    ----------
    path : str or path-like
        The file, compressed or not, or a folder. "-" is standard input, from which no bytes are consumed.
    encoding : str, default="utf-8"
        Encoding of its text.

    Returns
    -------
    format : str
        "svmlight", "csv" (or TSV, or columns between blanks), "jsonl", "json", "vw", "arrow" (or Parquet), "arff",
        "mbox", "conll", "conllu", "crfsuite", "text" or "folder". Each corresponds to the reader ``read_...`` of this
        name.

    Raises
    ------
    ValueError
        If the file is empty, damaged or in none of these formats.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import os, tempfile
    >>> from onmargin.io import guess_format
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows")
    ...     with open(path, "w") as file:
    ...         _ = file.write("+1 1:0.5 3:1\\n-1 2:1.5\\n")
    ...     print(guess_format(path))
    svmlight
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        return "folder"
    name = plain_name(path)
    for guess, endings in ENDINGS.items():
        if name.endswith(endings):
            return guess
    data = head(path, encoding)
    if data.startswith((b"PAR1", b"ARROW1")):
        return "arrow"
    lines = first_lines(data)
    filled = [line for line in lines if line.strip()]
    if not filled:
        raise ValueError(f"{path} is empty")
    for guess, look in _FIRST.items():
        if re.match(look, filled[0]):
            return guess
    found = _by_lines(lines, filled)
    if found is None:
        raise ValueError(
            f"{path} looks like none of {', '.join(FORMATS)} (in a table, rows have the same number of fields)"
        )
    return found


def plain_name(path: str) -> str:
    """Return the name of a file in lower case, without the ending of a compressed file.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    name : str
        The name.
    """
    name = path.lower()
    for ending in SUFFIXES:
        name = name.removesuffix(ending)
    return name


def _by_lines(lines: list[str], filled: list[str]) -> str | None:
    """Guess the format from the lines of the first block; `filled` are those that are not blank."""
    if _mostly("svmlight", filled) and any(":" in line for line in filled):
        return "svmlight"
    blank = [k for k, line in enumerate(lines) if not line.strip()]
    aligned = is_aligned(filled, categories=not blank)
    # A blank line at the end of a table does not separate sentences.
    table = aligned or any(mark in filled[0] for mark in DELIMITERS)
    parted = blank and (blank[0] < len(filled) or not table)
    if parted and len(filled) > 1 and (found := _sequences(filled)) is not None:
        return found
    if _mostly("vw", filled):
        return "vw"
    if not aligned and _mostly("text", filled) and any(" " in line.partition("\t")[2] for line in filled):
        return "text"
    return "csv" if table else None


def _mostly(format: str, filled: list[str]) -> bool:
    """Return whether lines match a format; a few may be damaged, but not the first."""
    matches = [re.match(_EACH[format], line) is not None for line in filled]
    return matches[0] and sum(matches) >= 0.9 * len(matches)


def _sequences(filled: list[str]) -> str | None:
    """Guess the sequence format of lines with blank lines between them; return None if they match neither.

    CoNLL has the same number of columns in each line, and a few labels in the last one. CRFsuite has the label first,
    then names of features, such as "w=the".
    """
    words = [line for line in filled if not line.startswith("#")] or filled
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


def head(path: str, encoding: str = "utf-8") -> bytes:
    """Return the first bytes of a file, decompressed; those of standard input can still be read afterwards.

    Parameters
    ----------
    path : str
        The file. "-" is standard input.
    encoding : str, default="utf-8"
        Encoding of its text, which is converted to UTF-8.

    Returns
    -------
    data : bytes
        The first bytes.
    """
    source: Any = path
    if path == "-":
        stdin: Any = getattr(sys.stdin, "buffer", sys.stdin)
        source = io.BytesIO(stdin.peek(_HEAD)) if hasattr(stdin, "peek") else _unread(stdin)
    data = b""
    try:
        with opened(source, Place(path, encoding)) as stream:
            while len(data) < _HEAD and (more := stream.read1(_HEAD)):  # type: ignore[attr-defined]
                data += more
    except RecordError as error:
        # The bytes received through a pipe so far may end within compressed data.
        if not data:
            raise ReadError(str(error), path, 1) from error.__cause__
    return data


def _unread(stream: Any) -> io.BytesIO:
    """Read the first bytes of a seekable stream that replaces standard input, and rewind it."""
    place = stream.tell()
    data = stream.read(_HEAD)
    stream.seek(place)
    return io.BytesIO(data)


def first_lines(data: bytes) -> list[str]:
    """Return the complete lines of the first bytes of a file, and at least one line if there are any bytes.

    Parameters
    ----------
    data : bytes
        The first bytes of a file.

    Returns
    -------
    lines : list of str
        The lines, without line endings.
    """
    lines = re.split(r"\r\n|\n|\r", data.decode("utf-8-sig", "replace"))
    if lines[-1] == "":
        lines.pop()
    return lines[:-1] if len(lines) > 1 and not data.endswith((b"\n", b"\r")) else lines
