"""Witnesses: the position of the journal of each model, written outside the journal after each commit.

SQLite drops the end of a damaged write-ahead log without an error. The witness of a model is a small file with the
number and the checksum of its last example, so that a journal that has lost examples is noticed when it is opened. A
witness that is behind its journal is normal: it is written after the commit, and flushed to disk about a second later.
A witness that is ahead of its journal means that examples are missing.

The file has two slots of one line each, written alternately: an interrupted write damages only one of them, and the
other is at most one commit older. A change that makes the journal shorter is announced before its commit (`intend`)
and confirmed after it (`settle`), so that a crash between the two is not reported as damage.
"""

import os
from pathlib import Path
from zlib import crc32

import msgspec

SLOT = 512  # bytes per line
PLACES = (0, 4096)  # offsets of the slots, in different disk sectors
FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0)


class Point(msgspec.Struct, frozen=True):
    """A state of a journal: the number and checksum of the last example, and the number of rewinds.

    `held` is the number of the last kept prediction.
    """

    seq: int = 0
    chain: int = 0
    rewinds: int = 0
    held: int = 0


class Seen(msgspec.Struct, frozen=True):
    """The content of a witness.

    `turn` counts its writes. During a change, `next` is the state after it, or `absent` is true if the
    model may be missing: it is being created or deleted. While it is being renamed, `renamed` is its new name.
    """

    model: str
    turn: int
    point: Point
    next: Point | None = None
    absent: bool = False
    renamed: str | None = None

    def is_of(self, name: str) -> bool:
        """Return whether this is the witness of the model with that name."""
        return name in {self.model, self.renamed}


_decode = msgspec.json.Decoder(Seen).decode


class WitnessError(Exception):
    """Error for a witness that cannot be read."""


def _line(seen: Seen) -> bytes:
    text = msgspec.json.encode(seen)
    return (b"%b %08x" % (text, crc32(text))).ljust(SLOT - 1) + b"\n"


def _parsed(line: bytes) -> Seen | None:
    text, _, check = line.rstrip().rpartition(b" ")
    try:
        return _decode(text) if len(line) == SLOT and int(check, 16) == crc32(text) else None
    except (ValueError, msgspec.MsgspecError):
        return None


def read_witness(path: Path) -> Seen:
    """Return the content of a witness, from the newest intact slot."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise WitnessError(f"{path} is missing") from None
    except OSError as error:
        raise WitnessError(f"{path} cannot be read: {error.strerror or error}") from error
    found = [seen for seen in (_parsed(data[place : place + SLOT]) for place in PLACES) if seen is not None]
    if not found:
        raise WitnessError(f"{path} is damaged")
    return max(found, key=lambda seen: seen.turn)


class Witness:
    """The witness of a model, open for writing. Every method may raise OSError."""

    def __init__(self, path: Path, seen: Seen) -> None:
        self.path = path
        self._seen = seen
        self._synced = True
        if not path.exists():
            # A new file is renamed once it is written: without its lines it would count as damaged.
            unnamed = path.with_name(f"{path.name}.new")
            self._file = os.open(unnamed, FLAGS | os.O_CREAT, 0o600)
            try:
                self.settle(seen.point, absent=seen.absent)
            finally:
                os.close(self._file)
            os.replace(unnamed, path)
            sync_folder(path.parent)
        self._file = os.open(path, FLAGS)

    @property
    def point(self) -> Point:
        return self._seen.point

    def advance(self, seq: int, chain: int, held: int) -> None:
        """Record the position of the journal; `sync` flushes it to disk."""
        before = self._seen
        self._put(Seen(before.model, before.turn + 1, Point(seq, chain, before.point.rewinds, held)))
        self._synced = False

    def intend(self, point: Point | None) -> None:
        """Announce a change: the journal will be at `point`, or deleted. It is on disk when this returns."""
        before = self._seen
        self._twice(Seen(before.model, before.turn, before.point, point, absent=point is None))

    def intend_name(self, name: str) -> None:
        """Announce a new name of the model. It is on disk when this returns."""
        before = self._seen
        self._twice(Seen(before.model, before.turn, before.point, renamed=name))

    def settle(self, point: Point, *, absent: bool = False, name: str | None = None) -> None:
        """Record the position of the journal after a change, and its name. It is on disk when this returns."""
        self._twice(Seen(name or self._seen.model, self._seen.turn, point, absent=absent))

    def sync(self) -> None:
        """Flush the position recorded by `advance` to disk."""
        if not self._synced:
            self._synced = True
            os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)

    def remove(self) -> None:
        self.close()
        self.path.unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def _twice(self, seen: Seen) -> None:
        """Write both slots, one after the other, so that neither has the state before a change."""
        for k in (1, 2):
            self._put(Seen(seen.model, seen.turn + k, seen.point, seen.next, seen.absent, seen.renamed))
            os.fsync(self._file)
        self._synced = True

    def _put(self, seen: Seen) -> None:
        self._seen = seen
        os.lseek(self._file, PLACES[seen.turn % 2], os.SEEK_SET)
        line = _line(seen)
        if os.write(self._file, line) != len(line):
            raise OSError(f"{self.path} could not be written as a whole")


def sync_folder(path: Path) -> None:
    """Flush the entries of a folder to disk, if the system supports it."""
    if os.name != "posix":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
