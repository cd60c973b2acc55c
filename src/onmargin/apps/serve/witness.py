"""Witnesses: how far the journal of each model has come, written outside the journal after each commit.

SQLite drops the end of a damaged write-ahead log without an error. The witness of a model is a small file with the
number and the checksum of its last example, so that a journal that has lost examples is noticed when it is opened. A
witness that is behind its journal is in order: it is written after the commit, and flushed to the disk about a second
later. A witness that is ahead of its journal means that examples are missing.

The file has two slots of one line each, written in turn: a write that is cut off damages only one of them, and the
other is at most one commit older. A change that makes the journal shorter is announced before its commit (`intend`)
and confirmed after it (`settle`), so that a crash between the two is no damage.
"""

import os
from pathlib import Path
from zlib import crc32

import msgspec

SLOT = 512  # bytes of a line
PLACES = (0, 4096)  # in different sectors of a disk
FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0)


class Point(msgspec.Struct, frozen=True):
    """A state of a journal: the number and checksum of the last example, and how often it was rewound.

    `held` is the number of the last prediction that was kept for its label.
    """

    seq: int = 0
    chain: int = 0
    rewinds: int = 0
    held: int = 0


class Seen(msgspec.Struct, frozen=True):
    """What a witness says.

    `turn` counts its writes. While a change is under way, `next` is the state after it, or `absent` is true if the
    model may be missing: it is being created or deleted. While it is being renamed, `renamed` is its new name.
    """

    model: str
    turn: int
    point: Point
    next: Point | None = None
    absent: bool = False
    renamed: str | None = None

    def is_of(self, name: str) -> bool:
        """Whether this is the witness of a model of that name."""
        return name in {self.model, self.renamed}


_decode = msgspec.json.Decoder(Seen).decode


class WitnessError(Exception):
    """A witness that cannot be read."""


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
    """Return what a witness says, from the newer slot that is whole."""
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
            # A new one gets its name when it is written: without its lines it would be taken for damaged.
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
        """Note that the journal has come this far; `sync` brings it to the disk."""
        before = self._seen
        self._put(Seen(before.model, before.turn + 1, Point(seq, chain, before.point.rewinds, held)))
        self._synced = False

    def intend(self, point: Point | None) -> None:
        """Announce a change: the journal will be at `point`, or gone. It is on the disk when this returns."""
        before = self._seen
        self._twice(Seen(before.model, before.turn, before.point, point, absent=point is None))

    def intend_name(self, name: str) -> None:
        """Announce that the model will have another name. It is on the disk when this returns."""
        before = self._seen
        self._twice(Seen(before.model, before.turn, before.point, renamed=name))

    def settle(self, point: Point, *, absent: bool = False, name: str | None = None) -> None:
        """Note where the journal is after a change, and its name. It is on the disk when this returns."""
        self._twice(Seen(name or self._seen.model, self._seen.turn, point, absent=absent))

    def sync(self) -> None:
        """Bring to the disk what `advance` has noted."""
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
        """Write both slots, one after the other: neither must speak of the time before a change."""
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
    """Bring the names of the files in a folder to the disk, where the system can."""
    if os.name != "posix":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
