"""The file formats by name, and their detection by file name and first bytes."""

import os
from collections.abc import Iterator, Mapping
from importlib import import_module

from onmargin.io._source import SUFFIXES
from onmargin.io.format import Format, Head

# Per format: its module, its class, and the endings of file names, without the ending of a compressed file. If a name
# is not conclusive, the first bytes are compared with the formats in this order.
_TABLE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "arrow": ("arrow", "Arrow", (".parquet", ".arrow", ".feather")),
    "mbox": ("documents", "Mbox", (".mbox",)),
    "jsonl": ("jsonl", "JsonLines", (".jsonl", ".ndjson")),
    "json": ("jsonl", "Json", ()),  # a .json file holds an array or one object per line
    "arff": ("arff", "Arff", (".arff",)),
    "svmlight": ("svmlight", "Svmlight", (".svm", ".svmlight", ".libsvm")),
    "conllu": ("conll", "ConllU", (".conllu",)),
    "crfsuite": ("crfsuite", "Crfsuite", (".crfsuite", ".crf")),
    "conll": ("conll", "Conll", (".conll", ".iob", ".bio")),
    "vw": ("vowpal_wabbit", "VowpalWabbit", (".vw",)),
    "text": ("documents", "Text", ()),
    "csv": ("csv_table", "Csv", (".csv", ".tsv")),
    "folder": ("documents", "Folder", ()),
}

# The formats that have a writer.
WRITABLE = ("svmlight", "csv", "jsonl", "vw", "text")


class _Formats(Mapping[str, Format]):
    """The formats by name; the module of a format is imported on first use."""

    def __init__(self) -> None:
        self._made: dict[str, Format] = {}

    def __getitem__(self, name: str) -> Format:
        if name not in self._made:
            module, kind, _ = _TABLE[name]
            self._made[name] = getattr(import_module(f".{module}", __package__), kind)()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_TABLE)

    def __len__(self) -> int:
        return len(_TABLE)


FORMATS = _Formats()


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
        "svmlight", "csv" (or TSV, or columns separated by whitespace), "jsonl", "json", "vw", "arrow" (or Parquet),
        "arff", "mbox", "conll", "conllu", "crfsuite", "text" or "folder". Each corresponds to the reader ``read_...``
        of this name.

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
    for guess, (_, _, endings) in _TABLE.items():
        if endings and name.endswith(endings):
            return guess
    head = Head(path, encoding)
    if not FORMATS["arrow"].matches(head) and not head.filled:
        raise ValueError(f"{path} is empty")
    for guess, format in FORMATS.items():
        if format.matches(head):
            return guess
    raise ValueError(
        f"{path} looks like none of {', '.join(FORMATS)} (in a table, rows have the same number of fields)"
    )


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
