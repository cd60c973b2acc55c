"""The SQLite file of a journal: opening, versions and transactions.

The file is in WAL mode with synchronous=FULL: a committed transaction is on disk. It has one connection, held by one
process and used by one thread at a time.
"""

import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from onmargin.apps.serve.problems import DiskError

VERSION = 3
APPLICATION = 0x6F6E6D67  # "onmg", the SQLite application id
TABLES = """
create table models (
    id integer primary key autoincrement, name text not null unique, task text not null, parameters blob not null,
    earliest integer not null, rewinds integer not null, keys integer not null, keys_from integer not null,
    hash integer not null
);
create table journal (
    model integer not null, seq integer not null, at real not null, chain integer not null, body blob not null,
    keys integer not null, hash integer not null, primary key (model, seq)
) without rowid;
create table keys (
    model integer not null, number integer not null, key text not null, first integer not null, last integer not null,
    hash integer not null, primary key (model, number)
) without rowid;
create table snapshots (
    model integer not null, seq integer not null, file text not null, hash integer not null, primary key (model, seq)
) without rowid;
create table held (
    model integer not null, number integer not null, at real not null, body blob not null, hash integer not null,
    primary key (model, number)
) without rowid;
create table held_counts (
    model integer primary key, last integer not null, number integer not null, sum integer not null,
    hash integer not null
);
"""


class JournalError(Exception):
    """Error for a journal that cannot be used: damaged, not a journal, or in use."""


class LockedError(JournalError):
    """A journal that cannot be opened now, though it may be intact."""


class FullError(DiskError):
    """The disk is full; learning continues when there is room."""

    status = 507


def row_hash(*values: Any) -> int:
    """Return the checksum of a row of a table."""
    found = 0
    for value in values:
        data = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else b"%d" % value
        found = crc32(data, crc32(b"%d:" % len(data), found))
    return found


def _statements() -> Iterator[str]:
    return filter(str.strip, TABLES.split(";"))


def _schema(db: sqlite3.Connection) -> list[Any]:
    return db.execute("select type, name, tbl_name, cast(sql as blob) from sqlite_master order by name").fetchall()


def _expected() -> list[Any]:
    """Return the schema, as SQLite stores it."""
    db = sqlite3.connect(":memory:")
    try:
        for statement in _statements():
            db.execute(statement)
        return _schema(db)
    finally:
        db.close()


class JournalFile:
    """The file of a journal, opened or created; with `writable=False`, opened for reading without any change.

    `sound` is false if the structure of the file is damaged: readable content can still be checked, but nothing must be
    written.
    """

    def __init__(self, path: Path, *, writable: bool = True) -> None:
        self.path = path
        self.writable = writable
        self.sound = True
        mode = "rwc" if writable else "ro"
        read_only = [place for place in (path.parent, path) if place.exists() and not os.access(place, os.W_OK)]
        if read_only and writable:
            raise JournalError(f"{read_only[0]} is read-only: give the service a folder that it can write to")
        wal = Path(f"{path}-wal")
        if read_only and not (wal.exists() and wal.stat().st_size):
            mode += "&immutable=1"  # otherwise SQLite writes an index
        try:
            self.db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
                timeout=0,
            )
        except sqlite3.Error as error:
            raise _unreadable(path, error) from error
        try:
            with self.reading():
                self._open()
        except BaseException:
            self.db.close()
            raise

    def _open(self) -> None:
        db = self.db
        if self.writable:
            db.execute("pragma locking_mode = exclusive")
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = full")
            db.execute("pragma journal_size_limit = 67108864")
            with self._transaction():  # takes the lock, which is then held
                if not db.execute("select count(*) from sqlite_master").fetchone()[0]:
                    self._begin()
        self.begun = bool(db.execute("select count(*) from sqlite_master").fetchone()[0])
        if not self.begun:  # the power was cut during the first start
            return
        version = db.execute("pragma user_version").fetchone()[0]
        application = db.execute("pragma application_id").fetchone()[0]
        if application != APPLICATION or version != VERSION:
            raise JournalError(
                f"{self.path} is not a journal of this version of onmargin serve, or its header is damaged"
            )
        if db.execute("pragma encoding").fetchone()[0] != "UTF-8" or _schema(db) != _expected():
            raise JournalError(f"{self.path} is damaged: its tables are not what they were. Restore it from a copy")
        if self.writable:
            with suppress(sqlite3.OperationalError):  # if the disk is full, the data stays in the write-ahead log
                db.execute("pragma wal_checkpoint(truncate)")

    def _begin(self) -> None:
        for statement in _statements():
            self.db.execute(statement)
        self.db.execute(f"pragma user_version = {VERSION}")
        self.db.execute(f"pragma application_id = {APPLICATION}")

    def inspect(self) -> None:
        """Check the structure of the file."""
        try:
            found = [row[0] for row in self.db.execute("pragma quick_check(1)")]
            size = self.db.execute("pragma page_count").fetchone()[0]
            size *= self.db.execute("pragma page_size").fetchone()[0]
        except (sqlite3.Error, UnicodeError):
            self.sound = False
            return
        wal = Path(f"{self.path}-wal")
        short = self.path.stat().st_size < size and not (wal.exists() and wal.stat().st_size)
        self.sound = found == ["ok"] and not short

    def copy(self, path: Path) -> None:
        """Write a copy of the file, as it is after the last transaction."""
        with self.reading():
            self.db.execute("vacuum into ?", (str(path),))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Convert any error from the rows of a damaged file to a JournalError."""
        try:
            yield
        except sqlite3.Error as error:
            raise _unreadable(self.path, error) from error
        except (UnicodeError, OverflowError, TypeError, ValueError, struct.error) as error:
            raise JournalError(f"{self.path} is damaged: {error}. Restore it from a copy") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run a transaction: all or nothing, and on disk after the commit."""
        self.db.execute("begin immediate")
        try:
            yield
            self.db.execute("commit")
        except BaseException:
            if self.db.in_transaction:
                self.db.execute("rollback")
            raise

    @contextmanager
    def writing(self) -> Iterator[None]:
        try:
            with self._transaction():
                yield
        except sqlite3.Error as error:
            full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
            raise (FullError if full else DiskError)(f"nothing was learned or changed: {_words(error)}") from error

    def close(self) -> None:
        self.db.close()
        if not self.writable:  # of the connection that reads, where there is no other
            with suppress(OSError):
                Path(f"{self.path}-shm").unlink()


def _unreadable(path: Path, error: sqlite3.Error) -> JournalError:
    """Return the problem with a journal that SQLite cannot read."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    locked = code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
    return (LockedError if locked else JournalError)(f"{path}: {_words(error)}")


def _words(error: sqlite3.Error) -> str:
    """Return the message of SQLite, with advice."""
    hints = {
        sqlite3.SQLITE_BUSY: "another onmargin serve uses this folder",
        sqlite3.SQLITE_LOCKED: "another onmargin serve uses this folder",
        sqlite3.SQLITE_FULL: "the disk is full: make room",
        sqlite3.SQLITE_READONLY: "the folder cannot be written to",
        sqlite3.SQLITE_CANTOPEN: "the folder cannot be opened or written to",
        sqlite3.SQLITE_CORRUPT: "the file is damaged: restore it from a copy",
        sqlite3.SQLITE_NOTADB: "the file is not a journal, or is damaged: restore it from a copy",
    }
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return f"{hints[code]} ({error})" if code in hints else f"{error}: the file may be damaged"
