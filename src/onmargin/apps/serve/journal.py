"""The journal: every example in the order in which it was learned, on disk before it is learned.

Everything stored has a checksum: each example has one of its body and all examples before it (`chain`), and each row of
every table has its own. Next to the file, one witness per model records the position of its journal. Times are for
people only: the order is given by the numbers.
"""

import struct
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from onmargin.apps.serve.held import HeldLimits, HeldTable, Hold, steady_time
from onmargin.apps.serve.journal_file import JournalError, JournalFile, row_hash
from onmargin.apps.serve.problems import ConflictError, DiskError
from onmargin.apps.serve.witness import Point, Seen, Witness, WitnessError, read_witness

MOST_EXAMPLES = 2**63 - 1
MOST_BYTES = 2**22  # bytes to read at a time, plus at most one example


@dataclass(frozen=True)
class Entry:
    """Examples of one request: the model, the number of the first example, the bodies with checksums, and a key.

    `keys` is the number of requests with a key up to this one.
    """

    model: int
    first: int
    bodies: list[tuple[int, bytes]]
    key: str | None = None
    keys: int = 0
    at: float | None = None  # time; the current time if None
    labeled: list[int] = field(default_factory=list)  # numbers of kept predictions whose labels these are

    def rows(self, now: float) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of the journal. A key is counted at the last example of its request: see `rewind`."""
        at = now if self.at is None else self.at
        last = self.first + len(self.bodies) - 1
        model, seq, keys = self.model, self.first, self.keys - (self.key is not None)
        for chain, body in self.bodies:
            if seq == last:
                keys = self.keys
            yield model, seq, at, chain, body, keys, crc32(body, crc32(_head(model, seq, at, keys, chain)))
            seq += 1


class Row(NamedTuple):
    """An example in the journal: its number, its time, the checksum of all examples up to it, and its body."""

    seq: int
    at: float
    chain: int
    body: bytes


@dataclass(frozen=True)
class ModelRow:
    """A model in the journal.

    The examples up to `earliest` were removed. The model was rewound `rewinds` times. Requests with a key are counted
    from 1, and the keys from `keys_from` on are stored; `keys` is their number where the journal has no examples.
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
        return row_hash(
            self.id, self.name, self.task, self.parameters, self.earliest, self.rewinds, self.keys, self.keys_from
        )


class Start(NamedTuple):
    """The initial state of a model: the number of examples it has learned, and their checksum."""

    seq: int
    chain: int


def chained(previous: int, body: bytes) -> int:
    """Return the checksum of a row and all rows before it."""
    return crc32(body, previous)


_head = struct.Struct("<qqdqq").pack  # packs a row of the journal without the body, for its checksum


class Journal(JournalFile):
    """Storage of the models of a service, except for snapshots, which are separate files."""

    def __init__(self, path: Path, *, writable: bool = True) -> None:
        self._witnesses: dict[int, Witness] = {}
        super().__init__(path, writable=writable)
        self.held = HeldTable(self)

    def close(self) -> None:
        for witness in self._witnesses.values():
            with suppress(OSError):
                witness.sync()
            witness.close()
        self._witnesses.clear()
        super().close()

    # Witnesses

    @staticmethod
    def seen(folder: Path) -> dict[int, Seen | WitnessError]:
        """Return the content of every witness in a folder, by the number of its model."""
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

    def watch(self, kept: ModelRow, seq: int, chain: int) -> None:
        """Create a witness of a model, which is at this example now."""
        path = self._witness_path(kept.id)
        with witnessing():
            try:
                seen = read_witness(path)
            except WitnessError:
                seen = Seen(kept.name, 0, Point())
            witness = self._witnesses[kept.id] = Witness(path, seen)
            point = Point(seq, chain, kept.rewinds, self.held.last(kept.id))
            if witness.point != point or seen.absent or seen.next is not None or seen.model != kept.name:
                witness.settle(point, name=kept.name)

    def unwatch(self, model: int) -> None:
        """Remove the witness of a deleted model."""
        with witnessing():
            if (witness := self._witnesses.pop(model, None)) is not None:
                witness.remove()
            else:
                self._witness_path(model).unlink(missing_ok=True)

    def sync(self) -> None:
        """Flush all witnesses to disk."""
        with witnessing():
            for witness in self._witnesses.values():
                witness.sync()

    # Examples

    def append(
        self, entries: list[Entry], holds: Iterable[Hold] = (), limits: HeldLimits | None = None
    ) -> dict[int, int]:
        """Write examples and predictions to keep, and return when all of them are on disk.

        Returns the number of kept predictions that were dropped because of `limits`, by model.
        """
        now = time.time()
        holds = list(holds)
        dropped: dict[int, int] = {}
        try:
            with self.writing():
                self.db.executemany(
                    "insert into journal values (?, ?, ?, ?, ?, ?, ?)",
                    (row for entry in entries for row in entry.rows(now)),
                )
                for entry in entries:
                    if entry.key is not None:
                        last = entry.first + len(entry.bodies) - 1
                        self._add_keys(entry.model, [(entry.keys, entry.key, entry.first, last)])
                    if entry.labeled:
                        self.held.remove(entry.model, entry.labeled)
                self.held.add(holds, steady_time())
                for model in sorted({hold.model for hold in holds}):
                    dropped[model] = self.held.expire(model, limits or HeldLimits())
        except BaseException:
            self.held.forget_sizes()
            raise
        ends = {entry.model: (entry.first + len(entry.bodies) - 1, entry.bodies[-1][0]) for entry in entries}
        kept = {hold.model: hold.number for hold in holds}
        with witnessing():
            for model in {*ends, *kept}:
                witness = self._witnesses[model]
                point = witness.point
                seq, chain = ends.get(model, (point.seq, point.chain))
                witness.advance(seq, chain, kept.get(model, point.held))
        return dropped

    def _add_keys(self, model: int, keys: Iterable[tuple[int, str, int, int]]) -> None:
        self.db.executemany(
            "insert into keys values (?, ?, ?, ?, ?, ?)", ((model, *key, row_hash(model, *key)) for key in keys)
        )

    def last(self, model: int) -> int:
        """Return the number of the last example, or 0 if there is none."""
        with self.reading():
            found = self.db.execute("select max(seq) from journal where model = ?", (model,)).fetchone()[0]
            return int(found or 0)

    def rows(self, model: int, after: int, chain: int | None, until: int = MOST_EXAMPLES) -> list[Row]:
        """Return the next examples after a number, in order, up to the read limit; an empty list at the end.

        They have consecutive numbers and correct checksums; `chain` is that of the example `after`, if it is known.
        """
        rows: list[Row] = []
        size = 0
        # An unfinished cursor would keep the file locked for as long as an error refers to it.
        with self.reading(), closing(self.db.cursor()) as found:
            found.execute(
                "select seq, at, chain, cast(body as blob), keys, hash from journal "
                "where model = ? and seq > ? and seq <= ? order by seq limit 1000",
                (model, after, until),
            )
            for seq, at, found_chain, body, keys, check in found:
                good = seq == after + len(rows) + 1 and (chain is None or found_chain == chained(chain, body))
                if not good or check != crc32(body, crc32(_head(model, seq, at, keys, found_chain))):
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
        with self.reading():
            found = self.db.execute("select sum(length(body)) from journal where model = ?", (model,)).fetchone()
            return int(found[0] or 0)

    def at(self, model: int, moment: float) -> int | None:
        """Return the number of the last example learned at or before a time; None if there is none."""
        with self.reading():
            row = self.db.execute(
                "select max(seq) from journal where model = ? and at <= ?", (model, moment)
            ).fetchone()
            return None if row[0] is None else int(row[0])

    def chain(self, model: int, seq: int) -> int | None:
        """Return the checksum of an example and all examples before it, or None if it is not in the journal."""
        with self.reading():
            row = self.db.execute("select chain from journal where model = ? and seq = ?", (model, seq)).fetchone()
            return None if row is None else int(row[0])

    # Models

    def ids(self) -> list[int]:
        """Return the numbers of all models."""
        with self.reading():
            return [int(row[0]) for row in self.db.execute("select id from models order by id")]

    def kept(self, model: int) -> ModelRow:
        """Return a model by its number."""
        with self.reading():
            row = self.db.execute(
                "select id, cast(name as blob), cast(task as blob), cast(parameters as blob), earliest, rewinds, keys, "
                "keys_from, hash from models where id = ?",
                (model,),
            ).fetchone()
            if row is None:
                raise ValueError(f"model {model} is missing")
            number, name, task, *others, check = row
            kept = ModelRow(number, name.decode(), task.decode(), *others)
            if kept.hash() != check:
                raise ValueError(f"what it has of model {kept.name!r:.80} is not what it was")
            return kept

    def _update(self, kept: ModelRow) -> None:
        self.db.execute(
            "update models set earliest = ?, rewinds = ?, keys = ?, keys_from = ?, hash = ? where id = ?",
            (kept.earliest, kept.rewinds, kept.keys, kept.keys_from, kept.hash(), kept.id),
        )

    def create(
        self,
        name: str,
        task: str,
        parameters: bytes,
        start: "Start | None" = None,
        after: Callable[[int], str] | None = None,
    ) -> ModelRow:
        """Add a model; its number is never used again.

        A model with an initial state, such as a clone, has a `start`: `after` is called with the number of the model,
        moves the snapshot of that state to its place, and returns its name.
        """
        with self.writing():
            if self.db.execute("select 1 from models where name = ?", (name,)).fetchone():
                raise ConflictError(f"there is a model {name!r} already")
            row = self.db.execute("insert into models values (null, ?, ?, ?, 0, 0, 0, 1, 0)", (name, task, parameters))
            kept = ModelRow(int(row.lastrowid or 0), name, task, parameters)
            point = Point()
            with witnessing():
                self.unwatch(kept.id)
                witness = Witness(self._witness_path(kept.id), Seen(name, 0, Point(), absent=True))
                self._witnesses[kept.id] = witness
                if start is not None and after is not None:
                    kept = replace(kept, earliest=start.seq)
                    point = Point(start.seq, start.chain)
                    file = after(kept.id)
                    self.db.execute(
                        "insert into snapshots values (?, ?, ?, ?)",
                        (kept.id, start.seq, file, row_hash(kept.id, start.seq, file)),
                    )
            self._update(kept)
        with witnessing():
            witness.settle(point)
        return kept

    def rename(self, kept: ModelRow, name: str, replaced: int | None = None) -> ModelRow:
        """Rename a model; the one that it replaces is deleted as by `delete`."""
        new = replace(kept, name=name)
        witness = self._witnesses[kept.id]
        with witnessing():
            witness.intend_name(name)
            if replaced is not None:
                self._witnesses[replaced].intend(None)
        with self.writing():
            if replaced is not None:
                self._delete_rows(replaced)
            if self.db.execute("select 1 from models where name = ?", (name,)).fetchone():
                raise ConflictError(f"there is a model {name!r} already")
            self.db.execute("update models set name = ? where id = ?", (name, kept.id))
            self._update(new)
        with witnessing():
            witness.settle(witness.point, name=name)
        return new

    def delete(self, model: int) -> None:
        """Remove a model and all its examples; the caller removes its snapshots and then its witness."""
        with self._changing(model, None), self.writing():
            self._delete_rows(model)

    def _delete_rows(self, model: int) -> None:
        self.db.execute("delete from models where id = ?", (model,))
        for table in ("journal", "keys", "snapshots", "held", "held_counts"):
            self.db.execute(f"delete from {table} where model = ?", (model,))

    @contextmanager
    def _changing(self, model: int, point: Point | None) -> Iterator[None]:
        """Announce a change to the witness, and confirm it.

        If the commit fails, it is not known what is on disk, and the witness continues to accept both states.
        """
        witness = self._witnesses[model]
        with witnessing():
            witness.intend(point)
        yield
        if point is not None:
            with witnessing():
                witness.settle(point)

    def rewind(self, kept: ModelRow, seq: int, chain: int, keys: int, keys_from: int) -> ModelRow:
        """Remove all examples after a number. The caller then removes the snapshots that are no longer listed.

        Up to that number there were `keys` requests with a key, of which those from `keys_from` on are stored.
        """
        new = replace(kept, rewinds=kept.rewinds + 1, keys=keys, keys_from=keys_from)
        with self._changing(kept.id, Point(seq, chain, new.rewinds, self.held.last(kept.id))), self.writing():
            self.db.execute("delete from journal where model = ? and seq > ?", (kept.id, seq))
            self.db.execute("delete from keys where model = ? and (last > ? or number < ?)", (kept.id, seq, keys_from))
            self.db.execute("delete from snapshots where model = ? and seq > ?", (kept.id, seq))
            self._update(new)
        return new

    def keys(self, kept: ModelRow, most: int) -> tuple[int, list[tuple[str, int, int]]]:
        """Return the number of requests with a key, and the last keys with their example numbers, oldest first."""
        with self.reading():
            row = self.db.execute(
                "select keys from journal where model = ? order by seq desc limit 1", (kept.id,)
            ).fetchone()
            n = kept.keys if row is None or row[0] is None else row[0]
            start = max(kept.keys_from, n - most + 1)
            rows = self.db.execute(
                "select number, cast(key as blob), first, last, hash from keys where model = ? and number >= ? "
                "order by number",
                (kept.id, start),
            ).fetchall()
            if [row[0] for row in rows] != list(range(start, n + 1)):
                raise ValueError("keys of requests are missing")
            for number, key, first, last, check in rows:
                if check != row_hash(kept.id, number, key, first, last):
                    raise ValueError(f"the key of examples {first} to {last} is not what it was")
            return n, [(key.decode(), first, last) for _, key, first, last, _ in rows]

    def add_keys(self, model: int, keys: Iterable[tuple[str, int, int]]) -> None:
        """Write keys of requests whose examples are no longer in the journal; no keys may be stored yet."""
        with self.writing():
            self._add_keys(model, ((number, *key) for number, key in enumerate(keys, 1)))

    def sound_keys(self, model: int) -> list[tuple[str, int, int]]:
        """Return the undamaged keys of a damaged journal, oldest first."""
        found: list[tuple[str, int, int]] = []
        with suppress(JournalError), self.reading(), closing(self.db.cursor()) as rows:
            rows.execute(
                "select number, cast(key as blob), first, last, hash from keys where model = ? order by number",
                (model,),
            )
            for number, key, first, last, check in rows:
                with suppress(TypeError, UnicodeError):
                    if check == row_hash(model, number, key, first, last):
                        found.append((key.decode(), first, last))
        return found

    # Snapshots

    def snapshots(self, model: int) -> list[tuple[int, str]]:
        """Return the numbers and files of snapshots, the latest first."""
        with self.reading():
            rows = self.db.execute(
                "select seq, cast(file as blob), hash from snapshots where model = ? order by seq desc", (model,)
            ).fetchall()
            for seq, file, check in rows:
                if check != row_hash(model, seq, file):
                    raise ValueError(f"the name of the snapshot after {seq} examples is not what it was")
            return [(seq, file.decode()) for seq, file, _ in rows]

    def add_snapshot(self, kept: ModelRow, seq: int, file: str, *, compact: int, keys: int, keys_from: int) -> ModelRow:
        """List a snapshot that is on disk, and remove the examples up to `compact`.

        The caller then removes the snapshots that are no longer listed. Two are kept, and the one that replaces the
        removed examples. An earlier one would need examples that were removed.
        """
        self.sync()
        new = replace(kept, earliest=max(kept.earliest, compact), keys=keys, keys_from=keys_from)
        with self.writing():
            self.db.execute(
                "insert or replace into snapshots values (?, ?, ?, ?)",
                (kept.id, seq, file, row_hash(kept.id, seq, file)),
            )
            self.db.execute("delete from journal where model = ? and seq <= ?", (kept.id, compact))
            self.db.execute("delete from keys where model = ? and number < ?", (kept.id, keys_from))
            self._update(new)
            there = list(enumerate(self.snapshots(kept.id)))
            old = [row for k, row in there if row[0] < new.earliest or (k >= 2 and row[0] != new.earliest)]
            self.db.executemany("delete from snapshots where model = ? and seq = ?", ((kept.id, s) for s, _ in old))
        return new


@contextmanager
def witnessing() -> Iterator[None]:
    """Convert errors of writing a witness: learning must end, since a later start could not detect lost examples."""
    try:
        yield
    except OSError as error:
        raise DiskError(f"a witness of the journal cannot be written: {error.strerror or error}") from error
