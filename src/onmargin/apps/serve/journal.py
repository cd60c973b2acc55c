"""The journal: every example in the order in which it was learned, on the disk before it is.

One SQLite file in WAL mode with synchronous=FULL: a transaction that is committed is on the disk. One connection, held
by one process, and used by one thread at a time. Each row carries a checksum of its body and of the row before, so that
rows that are damaged or missing are found when they are read. Times are for people: order is by number alone.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from onmargin.apps.serve.problems import ConflictError, DiskError

VERSION = 1
APPLICATION = 0x6F6E6D67  # "onmg", for tools that look at files
MOST_EXAMPLES = 2**63 - 1
MOST_BYTES = 2**22  # read at a time, and what one example more may bring
TABLES = """
create table models (
    id integer primary key autoincrement, name text not null unique, task text not null, parameters blob not null,
    earliest integer not null default 0
);
create table journal (
    model integer not null, seq integer not null, at real not null, chain integer not null, body blob not null,
    primary key (model, seq)
) without rowid;
create table keys (
    model integer not null, key text not null, first integer not null, last integer not null, primary key (model, key)
) without rowid;
create table snapshots (
    model integer not null, seq integer not null, file text not null, primary key (model, seq)
) without rowid;
"""


class JournalError(Exception):
    """A journal that cannot be used as it is: damaged, foreign, or in use."""


class FullError(DiskError):
    """There is no room on the disk; with more room it goes on."""

    status = 507


@dataclass(frozen=True)
class Entry:
    """Examples of one request: the model, the number of the first, their bodies with checksums, and a key."""

    model: int
    first: int
    bodies: list[tuple[int, bytes]]
    key: str | None = None


class Row(NamedTuple):
    """An example in the journal: its number, when it came, the checksum of all up to it, and what it is."""

    seq: int
    at: float
    chain: int
    body: bytes


@dataclass(frozen=True)
class Kept:
    """A model as the journal has it."""

    id: int
    name: str
    task: str
    parameters: bytes
    earliest: int


def chained(previous: int, body: bytes) -> int:
    """The checksum of a row and of all before it."""
    return crc32(body, previous)


class Journal:
    """The file, opened or begun."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
        except sqlite3.Error as error:
            raise JournalError(f"{path}: {_words(error)}") from error
        try:
            self._open()
        except sqlite3.Error as error:
            self._db.close()
            raise JournalError(f"{path}: {_words(error)}") from error
        except BaseException:
            self._db.close()
            raise

    def _open(self) -> None:
        db = self._db
        db.execute("pragma locking_mode = exclusive")
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = full")
        db.execute("pragma journal_size_limit = 67108864")
        version = db.execute("pragma user_version").fetchone()[0]
        with self._transaction():  # takes the lock, which is kept
            if version == 0 and not db.execute("select count(*) from sqlite_master").fetchone()[0]:
                for statement in TABLES.split(";"):
                    db.execute(statement)
                db.execute(f"pragma user_version = {VERSION}")
                db.execute(f"pragma application_id = {APPLICATION}")
            elif version != VERSION or db.execute("pragma application_id").fetchone()[0] != APPLICATION:
                raise JournalError(f"{self.path} is no journal of this version of onmargin serve")
        db.execute("pragma wal_checkpoint(truncate)")
        size = db.execute("pragma page_count").fetchone()[0] * db.execute("pragma page_size").fetchone()[0]
        if self.path.stat().st_size < size:
            raise JournalError(f"{self.path} is damaged: it should have {size} bytes. Restore it from a copy")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, and on the disk."""
        self._db.execute("begin immediate")
        try:
            yield
            self._db.execute("commit")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("rollback")
            raise

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._transaction():
                yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as error:
            full = error.sqlite_errorcode == sqlite3.SQLITE_FULL
            raise (FullError if full else DiskError)(f"nothing was learned: {_words(error)}") from error

    def close(self) -> None:
        self._db.close()

    def append(self, entries: list[Entry]) -> None:
        """Write examples, and return when all of them are on the disk."""
        now = time.time()
        with self._writing():
            self._db.executemany(
                "insert into journal values (?, ?, ?, ?, ?)",
                (
                    (entry.model, entry.first + k, now, chain, body)
                    for entry in entries
                    for k, (chain, body) in enumerate(entry.bodies)
                ),
            )
            self._db.executemany(
                "insert or replace into keys values (?, ?, ?, ?)",  # one that was forgotten stands for what is new
                (
                    (entry.model, entry.key, entry.first, entry.first + len(entry.bodies) - 1)
                    for entry in entries
                    if entry.key is not None
                ),
            )

    def models(self) -> list[Kept]:
        rows = self._db.execute("select id, name, task, parameters, earliest from models order by id")
        return [Kept(*row) for row in rows]

    def create(self, name: str, task: str, parameters: bytes) -> int:
        """Make room for a model; its number is never used again."""
        try:
            with self._writing():
                row = self._db.execute(
                    "insert into models (name, task, parameters) values (?, ?, ?)", (name, task, parameters)
                )
        except sqlite3.IntegrityError as error:
            raise ConflictError(f"there is a model {name!r} already") from error
        return int(row.lastrowid or 0)

    def delete(self, model: int) -> None:
        """Forget a model and all its examples."""
        with self._writing():
            self._db.execute("delete from models where id = ?", (model,))
            for table in ("journal", "keys", "snapshots"):
                self._db.execute(f"delete from {table} where model = ?", (model,))

    def last(self, model: int) -> int:
        """The number of the last example; 0: there is none."""
        return int(self._db.execute("select max(seq) from journal where model = ?", (model,)).fetchone()[0] or 0)

    def rows(self, model: int, after: int, until: int = MOST_EXAMPLES) -> list[Row]:
        """The next examples after a number, in order, and as many as are read at a time; none: there are no more."""
        rows: list[Row] = []
        size = 0
        try:
            found = self._db.execute(
                "select seq, at, chain, cast(body as blob) from journal where model = ? and seq > ? and seq <= ? "
                "order by seq limit 1000",
                (model, after, until),
            )
            for row in map(Row._make, found):
                rows.append(row)
                size += len(row.body)
                if size > MOST_BYTES:
                    break
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: {_words(error)}") from error
        return rows

    def all_rows(self, model: int, after: int, until: int = MOST_EXAMPLES) -> Iterator[Row]:
        """All examples after a number, in order."""
        while rows := self.rows(model, after, until):
            yield from rows
            after = rows[-1].seq

    def size(self, model: int) -> int:
        """The bytes of all examples."""
        found = self._db.execute("select sum(length(body)) from journal where model = ?", (model,)).fetchone()
        return int(found[0] or 0)

    def chain(self, model: int, seq: int) -> int | None:
        """The checksum of an example; None: it is not in the journal."""
        row = self._db.execute("select chain from journal where model = ? and seq = ?", (model, seq)).fetchone()
        return None if row is None else int(row[0])

    def keys(self, model: int, most: int) -> list[tuple[str, int, int]]:
        """The last keys with the numbers that they stand for, oldest first."""
        rows = self._db.execute(
            "select key, first, last from keys where model = ? order by last desc limit ?", (model, most)
        ).fetchall()
        return rows[::-1]

    def snapshots(self, model: int) -> list[tuple[int, str]]:
        """Numbers and files, the latest first."""
        return self._db.execute(
            "select seq, file from snapshots where model = ? order by seq desc", (model,)
        ).fetchall()

    def files(self) -> set[str]:
        """The files of all snapshots."""
        return {row[0] for row in self._db.execute("select file from snapshots")}

    def add_snapshot(self, model: int, seq: int, file: str, *, compact: int, oldest_key: int) -> list[str]:
        """Count on a snapshot that is on the disk, and forget the examples up to `compact`; the files to remove.

        Two snapshots are kept, and the one that stands for the examples that are forgotten. One before that would need
        examples that are no longer there.
        """
        with self._writing():
            replaced = [name for number, name in self.snapshots(model) if number == seq]
            self._db.execute("insert or replace into snapshots values (?, ?, ?)", (model, seq, file))
            self._db.execute("update models set earliest = max(earliest, ?) where id = ?", (compact, model))
            self._db.execute("delete from journal where model = ? and seq <= ?", (model, compact))
            self._db.execute("delete from keys where model = ? and last < ?", (model, oldest_key))
            earliest = self._db.execute("select earliest from models where id = ?", (model,)).fetchone()[0]
            there = list(enumerate(self.snapshots(model)))
            old = [row for k, row in there if row[0] < earliest or (k >= 2 and row[0] != earliest)]
            self._db.executemany("delete from snapshots where model = ? and seq = ?", ((model, s) for s, _ in old))
        return replaced + [name for _, name in old]

    def rewind(self, model: int, seq: int) -> list[str]:
        """Forget all after a number; the files of snapshots to remove."""
        with self._writing():
            gone = [name for number, name in self.snapshots(model) if number > seq]
            self._db.execute("delete from journal where model = ? and seq > ?", (model, seq))
            self._db.execute("delete from keys where model = ? and last > ?", (model, seq))
            self._db.execute("delete from snapshots where model = ? and seq > ?", (model, seq))
        return gone


def _words(error: sqlite3.Error) -> str:
    """What SQLite says, and what to do about it."""
    hints = {
        sqlite3.SQLITE_BUSY: "another onmargin serve uses this folder",
        sqlite3.SQLITE_LOCKED: "another onmargin serve uses this folder",
        sqlite3.SQLITE_FULL: "the disk is full: make room",
        sqlite3.SQLITE_READONLY: "the folder cannot be written to",
        sqlite3.SQLITE_CANTOPEN: "the folder cannot be opened or written to",
        sqlite3.SQLITE_CORRUPT: "the file is damaged: restore it from a copy",
        sqlite3.SQLITE_NOTADB: "the file is no journal, or is damaged: restore it from a copy",
    }
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return f"{hints[code]} ({error})" if code in hints else str(error)
