"""The journal: every example in the order in which it was learned, on the disk before it is learned.

The journal is one SQLite file in WAL mode with synchronous=FULL: a transaction that is committed is on the disk. It has
one connection, held by one process and used by one thread at a time. Everything stored has a checksum: each example has
one of its body and of all examples before it (`chain`), and each row of every table one of itself. Beside the file, a
witness per model says how far its journal has come. Times are for people: order is by number alone.
"""

import sqlite3
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from onmargin.apps.serve.problems import ConflictError, DiskError
from onmargin.apps.serve.witness import Point, Seen, Witness, WitnessError, read_witness

VERSION = 2
APPLICATION = 0x6F6E6D67  # "onmg", for tools that look at files
MOST_EXAMPLES = 2**63 - 1
MOST_BYTES = 2**22  # read at a time, and what one example more may bring
TABLES_1 = """
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
# From version 1. Rows of the journal that are older than this have no checksum of their own, and only a chain.
UPGRADE = """
alter table models add column rewinds integer not null default 0;
alter table models add column keys integer not null default 0;
alter table models add column keys_from integer not null default 1;
alter table models add column hash integer not null default 0;
alter table journal add column keys integer;
alter table journal add column hash integer;
alter table snapshots add column hash integer not null default 0;
alter table keys rename to keys_1;
create table keys (
    model integer not null, number integer not null, key text not null, first integer not null, last integer not null,
    hash integer not null, primary key (model, number)
) without rowid;
"""
UPGRADED = "drop table keys_1"


class JournalError(Exception):
    """A journal that cannot be used as it is: damaged, foreign, or in use."""


class FullError(DiskError):
    """There is no room on the disk; with more room it goes on."""

    status = 507


@dataclass(frozen=True)
class Entry:
    """Examples of one request: the model, the number of the first, their bodies with checksums, and a key.

    `keys` is the number of requests with a key up to this one.
    """

    model: int
    first: int
    bodies: list[tuple[int, bytes]]
    key: str | None = None
    keys: int = 0
    at: float | None = None  # now, if it is not given

    def rows(self, now: float) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of the journal. A key counts from the last example of its request on: see `rewind`."""
        at = now if self.at is None else self.at
        last = self.first + len(self.bodies) - 1
        model, seq, keys = self.model, self.first, self.keys - (self.key is not None)
        for chain, body in self.bodies:
            if seq == last:
                keys = self.keys
            yield model, seq, at, chain, body, keys, crc32(body, crc32(_head(model, seq, at, keys, chain)))
            seq += 1


class Row(NamedTuple):
    """An example in the journal: its number, when it came, the checksum of all up to it, and what it is."""

    seq: int
    at: float
    chain: int
    body: bytes


@dataclass(frozen=True)
class Kept:
    """A model as the journal has it.

    The examples up to `earliest` are no longer there. It was rewound `rewinds` times. Of the requests with a key, which
    are counted from 1, those from `keys_from` on are known; `keys` is their number where the journal has no examples.
    """

    id: int
    name: str
    task: str
    parameters: bytes
    earliest: int = 0
    rewinds: int = 0
    keys: int = 0
    keys_from: int = 1

    def hash(self) -> int:
        return _hash(
            self.id, self.name, self.task, self.parameters, self.earliest, self.rewinds, self.keys, self.keys_from
        )


def chained(previous: int, body: bytes) -> int:
    """Return the checksum of a row and of all before it."""
    return crc32(body, previous)


def _hash(*values: Any) -> int:
    """Return the checksum of a row of a table."""
    found = 0
    for value in values:
        data = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else b"%d" % value
        found = crc32(data, crc32(b"%d:" % len(data), found))
    return found


_head = struct.Struct("<qqdqq").pack  # of a row of the journal, for its checksum: all but the body


def _statements(script: str) -> Iterator[str]:
    return filter(str.strip, script.split(";"))


def _schema(db: sqlite3.Connection) -> list[Any]:
    return db.execute("select type, name, tbl_name, cast(sql as blob) from sqlite_master order by name").fetchall()


def _expected() -> list[Any]:
    """Return the schema of this version, as SQLite writes it."""
    db = sqlite3.connect(":memory:")
    try:
        for statement in _statements(TABLES_1 + UPGRADE + UPGRADED):
            db.execute(statement)
        return _schema(db)
    finally:
        db.close()


class Journal:
    """The file, opened or begun; with `writable=False`, opened to read it, without any change.

    `sound` is false if the structure of the file is damaged: what can be read of it can still be checked, but nothing
    must be written.
    """

    def __init__(self, path: Path, *, writable: bool = True) -> None:
        self.path = path
        self.writable = writable
        self.sound = True
        self._witnesses: dict[int, Witness] = {}
        mode = "rwc" if writable else "ro"
        try:
            self._db = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
                timeout=0,
            )
        except sqlite3.Error as error:
            raise JournalError(f"{path}: {_words(error)}") from error
        try:
            with self._reading():
                self._open()
        except BaseException:
            self._db.close()
            raise

    def _open(self) -> None:
        db = self._db
        if self.writable:
            db.execute("pragma locking_mode = exclusive")
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = full")
            db.execute("pragma journal_size_limit = 67108864")
            with self._transaction():  # takes the lock, which is kept
                if not db.execute("select count(*) from sqlite_master").fetchone()[0]:
                    self._begin()
        self.begun = bool(db.execute("select count(*) from sqlite_master").fetchone()[0])
        if not self.begun:  # the power was cut before the first start was done
            return
        self.version = db.execute("pragma user_version").fetchone()[0]
        application = db.execute("pragma application_id").fetchone()[0]
        if application != APPLICATION or self.version not in {1, VERSION}:
            raise JournalError(f"{self.path} is no journal of this version of onmargin serve, or its header is damaged")
        if db.execute("pragma encoding").fetchone()[0] != "UTF-8" or (
            self.version == VERSION and _schema(db) != _expected()
        ):
            raise JournalError(f"{self.path} is damaged: its tables are not what they were. Restore it from a copy")
        if self.writable:
            with suppress(sqlite3.OperationalError):  # no room: it stays in the write-ahead log
                db.execute("pragma wal_checkpoint(truncate)")

    def _begin(self) -> None:
        for statement in _statements(TABLES_1 + UPGRADE + UPGRADED):
            self._db.execute(statement)
        self._db.execute(f"pragma user_version = {VERSION}")
        self._db.execute(f"pragma application_id = {APPLICATION}")

    def inspect(self) -> None:
        """Check the structure of the file: whether every page is in its place."""
        try:
            found = [row[0] for row in self._db.execute("pragma quick_check(1)")]
            size = self._db.execute("pragma page_count").fetchone()[0]
            size *= self._db.execute("pragma page_size").fetchone()[0]
        except (sqlite3.Error, UnicodeError):
            self.sound = False
            return
        wal = Path(f"{self.path}-wal")
        short = self.path.stat().st_size < size and not (wal.exists() and wal.stat().st_size)
        self.sound = found == ["ok"] and not short

    def upgrade(self) -> None:
        """Bring a journal of version 1 to this version, in one step.

        It has no witnesses: what it has lost before is not known, unless there is a snapshot of it.
        """
        models = self._db.execute("select id, name, task, parameters, earliest from models").fetchall()
        for row in models:
            last = self.last(row[0])
            self.watch(Kept(*row), last, self.chain(row[0], last) or 0)
        with self._writing():
            for statement in _statements(UPGRADE):
                self._db.execute(statement)
            for row in models:
                number = row[0]
                keys = self._db.execute(
                    "select key, first, last from keys_1 where model = ? order by last", (number,)
                ).fetchall()
                self._add_keys(number, ((k, *key) for k, key in enumerate(keys, 1)))
                self._update(replace(Kept(*row), keys=len(keys)))
            for model, seq, file in self._db.execute("select model, seq, file from snapshots").fetchall():
                self._db.execute(
                    "update snapshots set hash = ? where model = ? and seq = ?", (_hash(model, seq, file), model, seq)
                )
            self._db.execute(UPGRADED)
            self._db.execute(f"pragma user_version = {VERSION}")
        self.version = VERSION
        self._db.execute("pragma wal_checkpoint(truncate)")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Whatever a damaged file makes of a row is a JournalError."""
        try:
            yield
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: {_words(error)}") from error
        except (UnicodeError, OverflowError, TypeError, ValueError, struct.error) as error:
            raise JournalError(f"{self.path} is damaged: {error}. Restore it from a copy") from error

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
        except sqlite3.Error as error:
            full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
            raise (FullError if full else DiskError)(f"nothing was learned or changed: {_words(error)}") from error

    def close(self) -> None:
        for witness in self._witnesses.values():
            with suppress(OSError):
                witness.sync()
            witness.close()
        self._witnesses.clear()
        self._db.close()
        if not self.writable:  # of the connection that reads, where there is no other
            with suppress(OSError):
                Path(f"{self.path}-shm").unlink()

    # Witnesses

    @staticmethod
    def seen(folder: Path) -> dict[int, Seen | WitnessError]:
        """Return what every witness in a folder says, by the number of its model."""
        found: dict[int, Seen | WitnessError] = {}
        folder = folder / "witness"
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.name.isascii() and path.name.isdigit():
                try:
                    found[int(path.name)] = read_witness(path)
                except WitnessError as error:
                    found[int(path.name)] = error
        return found

    def _witness_path(self, model: int) -> Path:
        return self.path.parent / "witness" / str(model)

    def watch(self, kept: Kept, seq: int, chain: int) -> None:
        """Keep a witness of a model, which is at this example now."""
        path = self._witness_path(kept.id)
        with _on_disk():
            try:
                seen = read_witness(path)
            except WitnessError:
                seen = Seen(kept.name, 0, Point())
            witness = self._witnesses[kept.id] = Witness(path, seen)
            point = Point(seq, chain, kept.rewinds)
            if witness.point != point or seen.absent or seen.next is not None:
                witness.settle(point)

    def unwatch(self, model: int) -> None:
        """Remove the witness of a model that is gone."""
        with _on_disk():
            if (witness := self._witnesses.pop(model, None)) is not None:
                witness.remove()
            else:
                self._witness_path(model).unlink(missing_ok=True)

    def sync(self) -> None:
        """Bring all witnesses to the disk."""
        with _on_disk():
            for witness in self._witnesses.values():
                witness.sync()

    # Examples

    def append(self, entries: list[Entry]) -> None:
        """Write examples, and return when all of them are on the disk."""
        now = time.time()
        with self._writing():
            self._db.executemany(
                "insert into journal values (?, ?, ?, ?, ?, ?, ?)",
                (row for entry in entries for row in entry.rows(now)),
            )
            for entry in entries:
                if entry.key is not None:
                    last = entry.first + len(entry.bodies) - 1
                    self._add_keys(entry.model, [(entry.keys, entry.key, entry.first, last)])
        ends = {entry.model: (entry.first + len(entry.bodies) - 1, entry.bodies[-1][0]) for entry in entries}
        with _on_disk():
            for model, end in ends.items():
                self._witnesses[model].advance(*end)

    def _add_keys(self, model: int, keys: Iterable[tuple[int, str, int, int]]) -> None:
        self._db.executemany(
            "insert into keys values (?, ?, ?, ?, ?, ?)", ((model, *key, _hash(model, *key)) for key in keys)
        )

    def last(self, model: int) -> int:
        """Return the number of the last example, or 0 if there is none."""
        with self._reading():
            found = self._db.execute("select max(seq) from journal where model = ?", (model,)).fetchone()[0]
            return int(found or 0)

    def rows(self, model: int, after: int, chain: int | None, until: int = MOST_EXAMPLES) -> list[Row]:
        """Return the next examples after a number, in order, as many as are read at a time; an empty list at the end.

        They follow each other without a gap, and their checksums are right; `chain` is that of the example `after`, if
        it is known.
        """
        rows: list[Row] = []
        size = 0
        # A cursor that is not at its end would keep the file locked for as long as an error refers to it.
        with self._reading(), closing(self._db.cursor()) as found:
            found.execute(
                "select seq, at, chain, cast(body as blob), keys, hash from journal "
                "where model = ? and seq > ? and seq <= ? order by seq limit 1000",
                (model, after, until),
            )
            for seq, at, found_chain, body, keys, check in found:
                good = seq == after + len(rows) + 1 and (chain is None or found_chain == chained(chain, body))
                # A row of version 1 has no checksum of its own.
                if check is not None or keys is not None:
                    good = good and check == crc32(body, crc32(_head(model, seq, at, keys, found_chain)))
                if not good:
                    raise ValueError(f"example {after + len(rows) + 1} is missing or not what it was")
                chain = found_chain
                rows.append(Row(seq, at, found_chain, body))
                size += len(body)
                if size > MOST_BYTES:
                    break
        return rows

    def all_rows(self, model: int, after: int, chain: int | None, until: int = MOST_EXAMPLES) -> Iterator[Row]:
        """Yield all examples after a number, in order and checked."""
        while rows := self.rows(model, after, chain, until):
            yield from rows
            after, chain = rows[-1].seq, rows[-1].chain

    def size(self, model: int) -> int:
        """Return the bytes of all examples."""
        with self._reading():
            found = self._db.execute("select sum(length(body)) from journal where model = ?", (model,)).fetchone()
            return int(found[0] or 0)

    def chain(self, model: int, seq: int) -> int | None:
        """Return the checksum of an example and all before it, or None if it is not in the journal."""
        with self._reading():
            row = self._db.execute("select chain from journal where model = ? and seq = ?", (model, seq)).fetchone()
            return None if row is None else int(row[0])

    # Models

    def ids(self) -> list[int]:
        """Return the numbers of all models."""
        with self._reading():
            return [int(row[0]) for row in self._db.execute("select id from models order by id")]

    def kept(self, model: int) -> Kept:
        """Return a model by its number."""
        with self._reading():
            row = self._db.execute(
                "select id, cast(name as blob), cast(task as blob), cast(parameters as blob), earliest, rewinds, keys, "
                "keys_from, hash from models where id = ?",
                (model,),
            ).fetchone()
            if row is None:
                raise ValueError(f"model {model} is missing")
            number, name, task, *others, check = row
            kept = Kept(number, name.decode(), task.decode(), *others)
            if kept.hash() != check:
                raise ValueError(f"what it has of model {kept.name!r:.80} is not what it was")
            return kept

    def _update(self, kept: Kept) -> None:
        self._db.execute(
            "update models set earliest = ?, rewinds = ?, keys = ?, keys_from = ?, hash = ? where id = ?",
            (kept.earliest, kept.rewinds, kept.keys, kept.keys_from, kept.hash(), kept.id),
        )

    def create(self, name: str, task: str, parameters: bytes) -> Kept:
        """Make room for a model; its number is never used again."""
        with self._writing():
            if self._db.execute("select 1 from models where name = ?", (name,)).fetchone():
                raise ConflictError(f"there is a model {name!r} already")
            row = self._db.execute(
                "insert into models (name, task, parameters) values (?, ?, ?)", (name, task, parameters)
            )
            kept = Kept(int(row.lastrowid or 0), name, task, parameters)
            self._update(kept)
            with _on_disk():
                self.unwatch(kept.id)
                witness = Witness(self._witness_path(kept.id), Seen(name, 0, Point(), absent=True))
                self._witnesses[kept.id] = witness
        with _on_disk():
            witness.settle(Point())
        return kept

    def delete(self, model: int) -> None:
        """Remove a model and all its examples; the caller removes its snapshots and then its witness."""
        with self._changing(model, None), self._writing():
            self._db.execute("delete from models where id = ?", (model,))
            for table in ("journal", "keys", "snapshots"):
                self._db.execute(f"delete from {table} where model = ?", (model,))

    @contextmanager
    def _changing(self, model: int, point: Point | None) -> Iterator[None]:
        """Announce a change to the witness, and confirm it.

        If the commit fails, what the disk has kept is not known, and the witness goes on to accept both states.
        """
        witness = self._witnesses[model]
        with _on_disk():
            witness.intend(point)
        yield
        if point is not None:
            with _on_disk():
                witness.settle(point)

    def rewind(self, kept: Kept, seq: int, chain: int, keys: int, keys_from: int) -> Kept:
        """Remove all after a number. The caller then removes the snapshots that are no longer listed.

        Up to that number there were so many requests with a key, of which those from `keys_from` on are known.
        """
        new = replace(kept, rewinds=kept.rewinds + 1, keys=keys, keys_from=keys_from)
        with self._changing(kept.id, Point(seq, chain, new.rewinds)), self._writing():
            self._db.execute("delete from journal where model = ? and seq > ?", (kept.id, seq))
            self._db.execute("delete from keys where model = ? and (last > ? or number < ?)", (kept.id, seq, keys_from))
            self._db.execute("delete from snapshots where model = ? and seq > ?", (kept.id, seq))
            self._update(new)
        return new

    def keys(self, kept: Kept, most: int) -> tuple[int, list[tuple[str, int, int]]]:
        """Return how many requests had a key, and the last of them with the numbers of their examples, oldest first."""
        with self._reading():
            row = self._db.execute(
                "select keys from journal where model = ? order by seq desc limit 1", (kept.id,)
            ).fetchone()
            n = kept.keys if row is None or row[0] is None else row[0]
            start = max(kept.keys_from, n - most + 1)
            rows = self._db.execute(
                "select number, cast(key as blob), first, last, hash from keys where model = ? and number >= ? "
                "order by number",
                (kept.id, start),
            ).fetchall()
            if [row[0] for row in rows] != list(range(start, n + 1)):
                raise ValueError("keys of requests are missing")
            for number, key, first, last, check in rows:
                if check != _hash(kept.id, number, key, first, last):
                    raise ValueError(f"the key of examples {first} to {last} is not what it was")
            return n, [(key.decode(), first, last) for _, key, first, last, _ in rows]

    def add_keys(self, model: int, keys: Iterable[tuple[str, int, int]]) -> None:
        """Write keys of requests whose examples are no longer in the journal; there must be none yet."""
        with self._writing():
            self._add_keys(model, ((number, *key) for number, key in enumerate(keys, 1)))

    def sound_keys(self, model: int) -> list[tuple[str, int, int]]:
        """Return the keys of a damaged journal that are what they were, oldest first."""
        found: list[tuple[str, int, int]] = []
        with suppress(JournalError), self._reading(), closing(self._db.cursor()) as rows:
            rows.execute(
                "select number, cast(key as blob), first, last, hash from keys where model = ? order by number",
                (model,),
            )
            for number, key, first, last, check in rows:
                with suppress(TypeError, UnicodeError):
                    if check == _hash(model, number, key, first, last):
                        found.append((key.decode(), first, last))
        return found

    # Snapshots

    def snapshots(self, model: int) -> list[tuple[int, str]]:
        """Return the numbers and files of snapshots, the latest first."""
        with self._reading():
            rows = self._db.execute(
                "select seq, cast(file as blob), hash from snapshots where model = ? order by seq desc", (model,)
            ).fetchall()
            for seq, file, check in rows:
                if check != _hash(model, seq, file):
                    raise ValueError(f"the name of the snapshot after {seq} examples is not what it was")
            return [(seq, file.decode()) for seq, file, _ in rows]

    def add_snapshot(self, kept: Kept, seq: int, file: str, *, compact: int, keys: int, keys_from: int) -> Kept:
        """Count on a snapshot that is on the disk, and remove the examples up to `compact`.

        The caller then removes the snapshots that are no longer listed. Two are kept, and the one that
        stands for the examples that are removed. One before that would need examples that are no longer there.
        """
        self.sync()
        new = replace(kept, earliest=max(kept.earliest, compact), keys=keys, keys_from=keys_from)
        with self._writing():
            self._db.execute(
                "insert or replace into snapshots values (?, ?, ?, ?)", (kept.id, seq, file, _hash(kept.id, seq, file))
            )
            self._db.execute("delete from journal where model = ? and seq <= ?", (kept.id, compact))
            self._db.execute("delete from keys where model = ? and number < ?", (kept.id, keys_from))
            self._update(new)
            there = list(enumerate(self.snapshots(kept.id)))
            old = [row for k, row in there if row[0] < new.earliest or (k >= 2 and row[0] != new.earliest)]
            self._db.executemany("delete from snapshots where model = ? and seq = ?", ((kept.id, s) for s, _ in old))
        return new


@contextmanager
def _on_disk() -> Iterator[None]:
    """A witness that cannot be written ends learning: a later start could not tell what was lost."""
    try:
        yield
    except OSError as error:
        raise DiskError(f"a witness of the journal cannot be written: {error.strerror or error}") from error


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
    return f"{hints[code]} ({error})" if code in hints else f"{error}: the file may be damaged"
