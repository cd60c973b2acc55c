"""Text documents: one text per line, folders of text files or emails, and mailboxes."""

import codecs
import email
import email.errors
import email.header
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from email.message import Message
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, Any, BinaryIO

from onmargin.io._reader import Reader, Record, as_record_errors, byte_reader, each_record, line_reader
from onmargin.io._source import Place, RecordError, Source, opened
from onmargin.io.format import (
    FileProfile,
    Format,
    FormatError,
    Head,
    LabelNumbers,
    Options,
    Recipe,
    UnwritableError,
    Write,
    as_integer,
)


def read_folder(
    path: str | os.PathLike[str],
    *,
    mail: bool = False,
    headers: Sequence[str] = (),
    encoding: str = "utf-8",
    random_state: int | None = None,
) -> Reader[Record]:
    """Read text files from a folder with one subfolder per label.

    Parameters
    ----------
    path : str or path-like
        A folder with one subfolder per label. Files in deeper folders have the label of the subfolder. Files and
        folders whose names start with a dot are skipped. Files may be compressed.
    mail : bool, default=False
        Whether the files are emails, from which the text is extracted.
    headers : sequence of str, default=()
        With ``mail=True``, headers to put before the text, such as "Subject".
    encoding : str, default="utf-8"
        Encoding of the texts. Emails declare their own encoding.
    random_state : int or None, default=None
        If None, files are read in the order of their names, all texts of one label before the next. If an int, it is
        the seed of a random order, which is better for an online learner.

    Returns
    -------
    records : Reader of Record
        The text and the label of each file.

    Raises
    ------
    ReadError
        During iteration, if a text is not in that encoding. The error names the file.

    Examples
    --------
    >>> import os, tempfile
    >>> from onmargin.io import read_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for label, text in ("ham", "lunch at noon"), ("spam", "cheap pills"):
    ...         os.mkdir(os.path.join(folder, label))
    ...         with open(os.path.join(folder, label, "1.txt"), "w") as file:
    ...             _ = file.write(text)
    ...     for record in read_folder(folder):
    ...         print(record.y, record.x)
    ham lunch at noon
    spam cheap pills
    """
    try:
        codecs.lookup(encoding)
    except LookupError as error:
        raise ValueError(f"encoding must be one that Python knows, such as 'latin-1'; got {encoding!r}") from error
    folder = Path(path)

    def records(at: Place) -> Iterator[Record]:
        met = {os.path.realpath(folder)}
        files = [(entry.name, file) for entry in _visible(folder) if entry.is_dir() for file in _files(entry, met)]
        if random_state is not None:
            random.Random(random_state).shuffle(files)
        for label, file in files:
            at.path = str(file)
            if not file.is_file():
                raise RecordError("it is neither a regular file nor a folder: remove it")
            with opened(file, at) as stream, as_record_errors():
                data = stream.read()
                text = _text(email.message_from_bytes(data), headers) if mail else _decoded(data, encoding)
            yield Record(text, label)

    return Reader(str(folder), records)


def read_mbox(path: Source, *, label: str | None = None, headers: Sequence[str] = ()) -> Reader[Record]:
    r"""Read the texts of the emails in an mbox mailbox.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.
    label : str or None, default=None
        The header that contains the label, such as "X-Gmail-Labels". If None, messages have no label.
    headers : sequence of str, default=()
        Headers to put before the text, such as "Subject". The default is none, since the sender and date can give away
        the label.

    Returns
    -------
    records : Reader of Record
        The text of each message: its plain text parts, or its HTML without tags if it has none.

    Raises
    ------
    ReadError
        During iteration, if the file does not start with a line "From ...", or a message cannot be parsed.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_mbox
    >>> mail = "From me Thu Jan  1 00:00:00 1970\nSubject: Lunch\nX-Label: private\n\nAt noon?\n"
    >>> for record in read_mbox(io.StringIO(mail), label="X-Label", headers=["Subject"]):
    ...     print(record)
    Record(x='Lunch\n\nAt noon?\n', y='private', weight=1.0)
    """

    def records(stream: BinaryIO, at: Place) -> Iterator[Record]:
        def parse(data: bytes) -> Record:
            message = email.message_from_bytes(data)
            return Record(_text(message, headers), None if label is None else _header(message, label))

        yield from each_record(_messages(stream, at), parse, at)

    return byte_reader(path, records)


def read_text(path: Source, *, label: bool = True) -> Reader[Record]:
    r"""Read a file with one text per line, after its label and a tab.

    Parameters
    ----------
    path : str, path-like or file
        The file, plain or compressed with gzip, bzip2, xz or Zstandard. "-" is standard input.
    label : bool, default=True
        Whether lines have labels. If False, the whole line is the text. Blank lines are skipped.

    Returns
    -------
    records : Reader of Record
        The text and the label (a string) of each line.

    Raises
    ------
    ReadError
        During iteration, if a line has no tab, or nothing before it.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import read_text
    >>> for record in read_text(io.StringIO("spam\tcheap pills\nham\tlunch at noon?\n")):
    ...     print(record)
    Record(x='cheap pills', y='spam', weight=1.0)
    Record(x='lunch at noon?', y='ham', weight=1.0)
    """

    def parse(lines: Iterator[str], _: Place) -> Iterator[Record]:
        for line in lines:
            if not line or line.isspace():
                continue
            if not label:
                yield Record(line)
                continue
            y, tab, text = line.partition("\t")
            if not tab or not y:
                raise RecordError(f"a line is a label, a tab and a text; got {line[:60]!r}")
            yield Record(text, y)

    return line_reader(path, parse)


def _visible(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def _files(folder: Path, met: set[str]) -> Iterator[Path]:
    """Yield the files below a folder; a folder that several links lead to is read once."""
    real = os.path.realpath(folder)
    if real in met:
        return
    met.add(real)
    for entry in _visible(folder):
        if entry.is_dir():
            yield from _files(entry, met)
        else:
            yield entry


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        raise RecordError(
            f"the text is not {encoding}: {error}; set encoding (--encoding), which is often cp1252 or latin-1"
        ) from error


def _messages(stream: BinaryIO, at: Place) -> Iterator[bytes]:
    """Yield the bytes of each message, which ends before a blank line followed by a line that starts with "From "."""
    message: list[bytes] | None = None
    blank = True
    for line in stream:
        at.line += 1
        if blank and line.startswith(b"From "):
            if message is not None:
                yield b"".join(message)
            message = []
        elif message is not None:
            # Mailbox writers quote lines of a text that start with "From " with ">".
            message.append(line[1:] if line.startswith(b">") and line.lstrip(b">").startswith(b"From ") else line)
        elif line.strip():
            raise RecordError(f"a mailbox starts with a line 'From ...'; got {line[:60].decode(errors='replace')!r}")
        blank = not line.strip()
    if message is not None:
        yield b"".join(message)


def _text(message: Message, headers: Sequence[str]) -> str:
    parts = {kind: [part for part in message.walk() if part.get_content_type() == kind] for kind in _KINDS}
    kind = next((kind for kind in _KINDS if parts[kind]), None)
    body = "" if kind is None else "\n".join(_KINDS[kind](_content(part)) for part in parts[kind])
    found = [value for name in headers if (value := _header(message, name)) is not None]
    return "\n".join([*found, "", body]) if found else body


def _header(message: Message, name: str) -> str | None:
    value = message.get(name)
    if value is None:
        return None
    try:
        pieces = email.header.decode_header(value)
    except email.errors.HeaderParseError:  # keep the raw header
        return str(value)
    return "".join(text if isinstance(text, str) else _lenient(text, charset) for text, charset in pieces)


def _content(part: Message) -> str:
    data = part.get_payload(decode=True)
    return _lenient(data, part.get_content_charset()) if isinstance(data, bytes) else ""


def _lenient(data: bytes, charset: str | None) -> str:
    """Decode bytes whose declared encoding may be wrong: bad bytes are replaced, unknown encodings read as UTF-8."""
    try:
        return data.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


_SHORT = 1 << 12  # characters of markup that may be searched repeatedly
_MOST_OPEN = 20  # maximum number of tags that do not end, in longer markup


class _Stripper(HTMLParser):
    """Collector of the text of HTML."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden = 0
        self.feed(markup)
        # A tag that does not end is searched for to the end of the markup, so there is a limit on their number.
        for _ in range(_MOST_OPEN):
            if len(self.rawdata) <= _SHORT:
                break
            self.pieces.append("<")
            rest, self.rawdata = self.rawdata[1:], ""
            self.feed(rest)
        if len(self.rawdata) <= _SHORT:
            self.close()
        else:
            self.handle_data(self.rawdata)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style"} and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)


def _without_tags(markup: str) -> str:
    return "".join(_Stripper(markup).pieces)


# Content types in order of preference, with the function that converts a part to text.
_KINDS: dict[str, Callable[[str], str]] = {"text/plain": str, "text/html": _without_tags}


class Text(Format):
    """Lines of label, tab and text."""

    name = "text"
    is_text = True

    def matches(self, head: Head) -> bool:
        has_words = any(" " in line.partition("\t")[2] for line in head.filled)
        return not head.aligned and head.mostly(r"[^\t,;]+\t[^\t]*$") and has_words

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        return read_text(source, label=labeled)

    def has_labels(self, path: str, recipe: Recipe) -> bool:
        return "\t" in Head(path, recipe.encoding).first

    def writer(self, out: IO[str], names: IO[str] | None, labels: LabelNumbers) -> Write:
        def write(x: Any, y: Any, weight: float) -> None:
            if not isinstance(x, str):
                raise UnwritableError("only a text can be written as text: name the column with --text")
            label = "" if y is None else f"{as_integer(y)}\t"
            out.write(label + " ".join(x.split()) + "\n")

        return write


class Folder(Format):
    """Text files, in one subfolder per label."""

    name = "folder"
    is_text = True
    is_stream = can_skip = False

    def profile(self, path: str, recipe: Recipe, given: Options) -> FileProfile:
        return super().profile(path, self.adapt(path, recipe, recipe, given), given)

    def adapt(self, path: str, recipe: Recipe, trained: Recipe, given: Options) -> Recipe:
        if not any(entry.is_dir() for entry in _visible(Path(path))):
            raise FormatError(f"{path} has no subfolders: a folder of texts has one subfolder per label")
        return recipe

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        return read_folder(source, encoding=recipe.encoding, random_state=0)


class Mbox(Format):
    """Mailboxes."""

    name = "mbox"
    is_text = True
    options = frozenset({"label"})

    def matches(self, head: Head) -> bool:
        return head.filled[0].startswith("From ")

    def profile(self, path: str, recipe: Recipe, given: Options) -> FileProfile:
        return super().profile(path, replace(recipe, label=given.get("label")), given)

    def read(self, source: Any, recipe: Recipe, *, labeled: bool = True) -> Reader[Any]:
        return read_mbox(source, label=recipe.label)
