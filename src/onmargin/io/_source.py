"""Input of the readers: a path, standard input or an open stream, compressed or not, as bytes or lines."""

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import IO, Any, BinaryIO, Self, cast

Source = str | os.PathLike[str] | IO[bytes] | IO[str]

# The first bytes of compressed files, of UTF-16 and of UTF-32, and the name endings that are used if a file is damaged.
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    codecs.BOM_UTF32_LE: "utf32",  # starts like UTF-16
    codecs.BOM_UTF32_BE: "utf32",
    codecs.BOM_UTF16_LE: "utf16",
    codecs.BOM_UTF16_BE: "utf16",
}
SUFFIXES: dict[str, str | None] = {".gz": "gzip", ".xz": "xz", ".zst": "zstd", ".bz2": "bzip2", ".zip": None}
_ARCHIVE = b"PK\x03\x04"
_LONGEST_MAGIC = max(map(len, _MAGIC))
_BUFFER = 1 << 16
# Pipes whose first bytes were looked at, until they are read: the stream, and those bytes.
_PEEKED: dict[str, tuple[Any, bytes]] = {}


class RecordError(Exception):
    """A problem with a record. `Reader` catches it and adds the file, record and line."""


class EncodingError(RecordError):
    """A record that has another encoding than that of the file; the message names the remedy."""


class DamageError(RecordError):
    """A problem after which nothing more can be read from the file."""


@dataclass(slots=True)
class Place:
    """The current position of a reader."""

    path: str
    encoding: str = "utf-8"  # that of the text
    line: int = 0  # 0 where there are no lines
    record: int | None = None  # number of the next record, for readers that yield several at a time
    max_record: float = float("inf")  # maximum bytes per record
    taken: int = 0  # bytes read since the last record
    kept: Any = None  # state that a reader needs to continue after a record it could not read
    skip: Callable[[RecordError], None] | None = None  # called with such records; if None, the first one ends the loop

    def take(self, n: int) -> None:
        """Count bytes, and refuse a record that has too many."""
        self.taken += n
        if self.taken > self.max_record:
            raise DamageError(
                f"the record takes more than {self.max_record} bytes: check the format of the file; if it is right, "
                "raise max_record of the reader"
            )


def name_of(source: Source) -> str:
    """Return the name of a source for error messages."""
    if is_path(source):
        return "<stdin>" if source == "-" else os.fspath(cast(str, source))
    return str(getattr(source, "name", "<stream>"))


def is_path(source: object) -> bool:
    """Return whether a source is a path or "-" rather than a stream; raise if it is neither."""
    if isinstance(source, str | os.PathLike):
        return True
    if not hasattr(source, "read"):
        raise TypeError(f"path must be a path, '-' for the standard input or an open file; got {source!r}")
    return False


def peek_pipe(path: str, n: int = 1) -> bytes:
    """Return the first bytes of a pipe, which can still be read: at least n and a complete line, if it has as many."""
    stream, head = _PEEKED.get(path, (None, b""))
    if path == "-" and stream is not sys.stdin:
        stream, head = sys.stdin, b""
    elif stream is None:
        stream = open(path, "rb")  # noqa: SIM115  `opened` closes it
        _PEEKED[path] = stream, head
    inner = _binary(stream)
    if not head and hasattr(inner, "peek") and len(data := inner.peek(_BUFFER)) >= n and b"\n" in data:
        return bytes(data)  # nothing has to be consumed
    while (len(head) < n or b"\n" not in head) and (more := inner.read1(_BUFFER)):
        head += more
    _PEEKED[path] = stream, head
    return head


def _binary(stream: Any) -> Any:
    """Return the bytes behind a stream of text."""
    if not isinstance(stream, io.TextIOBase):
        return stream
    return getattr(stream, "buffer", None) or io.BytesIO(stream.read().encode())


@contextmanager
def opened(source: Source, at: Place | None = None) -> Iterator[BinaryIO]:
    """Open a source for reading decompressed bytes, counted in `at` if given. A stream passed in stays open.

    Text in another encoding, that of `at`, is converted to UTF-8.
    """
    encoding = "utf-8" if at is None else at.encoding
    with ExitStack() as stack:
        stream: Any = source
        head = b""
        if is_path(source):
            path = os.fspath(cast(str, source))
            stream, head = _PEEKED.pop(path, (None, b""))
            if path == "-":
                stream, head = sys.stdin, head if stream is sys.stdin else b""
            else:
                stream = stack.enter_context(stream or open(path, "rb"))  # noqa: SIM115  the stack closes it
        stream, name = _binary(stream), name_of(source)
        head = _head(stream, head)
        if head.startswith(_ARCHIVE):
            stream, name = _only_member(stream, stack)
            head = _head(stream)
        codec = _codec(head, name)
        decoders: list[Callable[[BinaryIO], tuple[Any, tuple[type[Exception], ...]]]]
        decoders = [] if codec is None else [_CODECS[codec]]
        if encoding != "utf-8" and codec not in {"utf16", "utf32"}:
            decoders.append(lambda inner: (_Text(inner, encoding), (UnicodeError,)))
        raw = _Bytes(stream, head, at=None if decoders else at)
        plain = stack.enter_context(io.BufferedReader(raw, _BUFFER))
        for k, decoder in enumerate(decoders, 1):
            unpacked, errors = decoder(plain)
            raw = _Bytes(unpacked, b"", errors, at=at if k == len(decoders) else None)
            plain = stack.enter_context(io.BufferedReader(raw, _BUFFER))
        yield cast(BinaryIO, plain)


class Lines:
    r"""Iterator over the lines of UTF-8 text, without line endings; any of \n, \r\n and \r ends a line.

    With `newline=""` lines keep their endings unchanged. Undecodable bytes pass the decoder as lone surrogates, so that
    all lines before the bad line can be read, and those after it if the caller continues.
    """

    def __init__(self, stream: BinaryIO, at: Place, newline: str | None = None) -> None:
        self._text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline=newline)
        self._at = at
        self._bare = newline is None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        while True:
            line = next(self._text)
            self._at.line += 1
            if not line.isascii():
                line = _decoded(line, self._at.line == 1)
            if line:  # skip a lone byte order mark
                return line.removesuffix("\n") if self._bare else line

    def close(self) -> None:
        self._text.detach()


def _decoded(line: str, first: bool) -> str:
    """Return the line if it is valid UTF-8, without the byte order mark that the first line may have."""
    try:
        line.encode()
    except UnicodeEncodeError as error:
        byte = ord(line[error.start]) - 0xDC00
        raise EncodingError(
            f"byte 0x{byte:02x} after {error.start} characters is not UTF-8: set the encoding of the file "
            "(--encoding), which is often cp1252 or latin-1"
        ) from None
    return line.removeprefix("\ufeff") if first else line


def _head(stream: Any, head: bytes = b"") -> bytes:
    """Return the first bytes of a stream, which may arrive in pieces, after those that were read before."""
    while len(head) < _LONGEST_MAGIC and (more := stream.read(_LONGEST_MAGIC - len(head))):
        head += more
    return head


def _only_member(stream: Any, stack: ExitStack) -> tuple[Any, str]:
    """Return the only file in a zip archive, and its name."""
    import zipfile
    import zlib

    if not stream.seekable():
        raise DamageError("a zip archive cannot be read from a pipe: give its path")
    stream.seek(0)
    try:
        archive = stack.enter_context(zipfile.ZipFile(stream))
        names = [one for one in archive.namelist() if not one.endswith("/") and not one.startswith("__MACOSX/")]
        if "[Content_Types].xml" in names:
            raise DamageError("the file is a spreadsheet or another document: save it as CSV")
        if len(names) != 1:
            raise DamageError(f"the zip archive has {len(names)} files: unpack it, and give their paths")
        member = stack.enter_context(archive.open(names[0]))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # RuntimeError: it is encrypted
        raise DamageError(f"the zip archive cannot be read: {error}") from error
    raw = _Bytes(member, b"", (zipfile.BadZipFile, EOFError, zlib.error))
    return stack.enter_context(io.BufferedReader(raw, _BUFFER)), names[0]


def _codec(head: bytes, name: str) -> str | None:
    for magic, codec in _MAGIC.items():
        if head.startswith(magic):
            return codec
    return SUFFIXES.get(os.path.splitext(name)[1]) if head else None


class _Bytes(io.RawIOBase):
    """A raw stream of a head that was already read and the rest of a stream. Closing it leaves the stream open."""

    def __init__(
        self, stream: Any, head: bytes, errors: tuple[type[Exception], ...] = (), *, at: Place | None = None
    ) -> None:
        self._stream = stream
        self._at = at or Place("")
        self._head = head
        self._errors = errors
        # read1 returns what a pipe has delivered so far, so that a record is read before the next one is sent.
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self._in_place = isinstance(stream, io.BufferedReader) and stream.seekable()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head[: len(buffer)]
        self._head = self._head[len(buffer) :]
        if not data:
            if self._in_place:  # without a copy
                n = int(self._stream.readinto1(buffer))
                self._at.take(n)
                return n
            try:
                data = self._read(len(buffer)) or b""
            except self._errors as error:
                raise DamageError(f"the data are damaged: {error}") from error
        self._at.take(len(data))
        buffer[: len(data)] = data
        return len(data)


def _gzip(stream: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    import gzip
    import zlib

    return _ReadOnce(gzip.GzipFile(fileobj=stream)), (EOFError, gzip.BadGzipFile, zlib.error)


def _xz(stream: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    import lzma

    return _ReadOnce(lzma.LZMAFile(stream)), (EOFError, lzma.LZMAError)


def _bzip2(stream: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    import bz2

    # BZ2File reports damage as an OSError.
    return _ReadOnce(bz2.BZ2File(stream)), (EOFError, OSError)


def _utf16(stream: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    return _Text(stream, "utf-16"), (UnicodeError,)


def _utf32(stream: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    return _Text(stream, "utf-32"), (UnicodeError,)


def _zstd(stream: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    if sys.version_info >= (3, 14):
        zstd: Any = import_module("compression.zstd")
        return _ReadOnce(zstd.ZstdFile(stream)), (EOFError, zstd.ZstdError)
    try:
        zstd = import_module("zstandard")
    except ImportError as error:
        raise ImportError(
            "Zstandard files need the package zstandard: pip install zstandard, or decompress the file "
            "(zstd -dc FILE | onmargin train - ...)"
        ) from error
    return _ZstdFrames(stream, zstd.ZstdDecompressor()), (EOFError, zstd.ZstdError)


_CODECS = {"gzip": _gzip, "xz": _xz, "zstd": _zstd, "bzip2": _bzip2, "utf16": _utf16, "utf32": _utf32}


class _ReadOnce:
    """Read the output of one decompressor step at a time, so that the data before a damaged part is not lost."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        data: bytes = self._file.read1(size)
        return data


class _Text:
    """Reader of text in another encoding, as UTF-8."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder: Any = None
        self._encoding = encoding

    def read(self, size: int) -> bytes:
        while True:
            data = self._stream.read1(max(1, size // 4))  # type: ignore[attr-defined]  # a byte becomes up to four
            if self._decoder is None:
                has_mark = data.startswith(codecs.BOM_UTF8)  # it tells the encoding
                self._decoder = codecs.getincrementaldecoder("utf-8-sig" if has_mark else self._encoding)()
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                found: bytes = text.encode()
                return found


class _ZstdFrames:
    """Reader of consecutive Zstandard frames; an unfinished frame is an error, as for gzip and xz."""

    # Bytes of input per step. This bounds the output, since a few bytes can expand to a block of 128 KB.
    _step = 512

    def __init__(self, stream: BinaryIO, decompressor: Any) -> None:
        self._stream = stream
        self._decompressor = decompressor
        self._frame: Any = None
        self._rest = b""
        self._unpacked = io.BytesIO()

    def read(self, size: int) -> bytes:
        while not (data := self._unpacked.read(size)):
            packed = self._rest or self._stream.read(self._step)
            if not packed:
                if self._frame is not None:
                    raise EOFError("they end before the end of the frame")
                break
            self._frame = self._frame or self._decompressor.decompressobj()
            self._unpacked = io.BytesIO(self._frame.decompress(packed))
            self._rest = self._frame.unused_data
            if self._frame.eof:
                self._frame = None
        return data
