"""Which format a file has, by its name and its first bytes."""

import io
import os
import re
import sys
from typing import Any

from onmargin.io._reader import ReadError
from onmargin.io._source import RecordError, opened

_HEAD = 1 << 16  # bytes that a guess looks at

# What names end with, before the ending of a compressed file.
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
}
FORMATS = (*ENDINGS, "text", "folder")
_PACKED = (".gz", ".xz", ".zst")

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# What the first line looks like, tried in turn.
_LOOKS = {
    "mbox": re.compile(r"From "),
    "jsonl": re.compile(r"\s*\{"),
    "svmlight": re.compile(rf"(?:{_NUMBER}(?:,{_NUMBER})*)?\s*(?:qid:\d+\s+)?(?:\d+:{_NUMBER}(?:\s+|$))+(?:#|$)"),
    "vw": re.compile(r"[^|]*\|[^|]"),
    "text": re.compile(r"[^\t,;]+\t[^\t]* [^\t]*$"),
    "csv": re.compile(r"[^,;\t]*[,;\t]"),
}


def guess_format(path: str | os.PathLike[str]) -> str:
    """Guess the format of a file by its name, or by its first bytes if the name does not tell.

    Parameters
    ----------
    path : str or path-like
        The file, compressed or not, or a folder; "-" is the standard input, of which nothing is used up.

    Returns
    -------
    format : str
        "svmlight", "csv" (or TSV), "jsonl", "vw", "arrow" (or Parquet), "mbox", "conll", "conllu", "crfsuite", "text"
        or "folder": that of the reader ``read_...`` of this name.

    Raises
    ------
    ValueError
        If it is empty, damaged or looks like none of them.
    OSError
        If it cannot be read.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        return "folder"
    name = path.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    for guess, endings in ENDINGS.items():
        if name.endswith(endings):
            return guess
    data = head(path)
    if data.startswith((b"PAR1", b"ARROW1")):
        return "arrow"
    lines = first_lines(data)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise ValueError(f"{path} is empty")
    for guess, look in _LOOKS.items():
        if look.match(first):
            return "crfsuite" if guess in {"text", "csv"} and _is_crfsuite(lines) else guess
    if len(first.split()) > 1 and any(not line.strip() for line in lines[1:]):
        return "conll"
    raise ValueError(f"{path} looks like none of {', '.join(FORMATS)}")


def _is_crfsuite(lines: list[str]) -> bool:
    """Tabs between attributes, and blank lines between sequences."""
    return "" in lines[1:] and all("\t" in line for line in lines if line)


def head(path: str) -> bytes:
    """The first bytes of a file, unpacked; those of the standard input can still be read.

    Parameters
    ----------
    path : str
        The file; "-" is the standard input.

    Returns
    -------
    data : bytes
        As many as a guess looks at.
    """
    source: Any = path
    if path == "-":
        stdin: Any = getattr(sys.stdin, "buffer", sys.stdin)
        source = io.BytesIO(stdin.peek(_HEAD)) if hasattr(stdin, "peek") else _unread(stdin)
    data = b""
    with opened(source) as stream:
        try:
            while len(data) < _HEAD and (more := stream.read1(_HEAD)):  # type: ignore[attr-defined]
                data += more
        except RecordError as error:
            # The bytes that have come through a pipe may end within compressed data.
            if not data:
                raise ReadError(str(error), path, 1) from error.__cause__
    return data


def _unread(stream: Any) -> io.BytesIO:
    """The same bytes for somebody else, of a stream that stands in for the standard input."""
    place = stream.tell()
    data = stream.read(_HEAD)
    stream.seek(place)
    return io.BytesIO(data)


def first_lines(data: bytes) -> list[str]:
    """Whole lines of a head; the last one may go on, but one there is.

    Parameters
    ----------
    data : bytes
        The first bytes of a file.

    Returns
    -------
    lines : list of str
        Without their ends.
    """
    lines = data.decode("utf-8-sig", "replace").splitlines()
    return lines[:-1] if len(lines) > 1 and not data.endswith((b"\n", b"\r")) else lines
