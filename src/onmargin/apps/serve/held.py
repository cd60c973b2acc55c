"""Predictions kept for labels that arrive later: the features and the prediction, by number.

Each model has rows in the table `held`, and in `held_counts` how many they are, the sum of their checksums, and the
number of the last one, which the witness has as well, so that lost predictions are noticed. The oldest predictions are
dropped beyond limits on time, number and bytes.
"""

import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    from onmargin.apps.serve.journal_file import JournalFile


@dataclass(frozen=True)
class HeldLimits:
    """Limits on the time, number and bytes of kept predictions."""

    seconds: float = 7 * 86400.0
    number: int = 100_000
    size: int = 2**28  # bytes


@dataclass(frozen=True)
class Hold:
    """A prediction to keep: its model, its number, and the example with the prediction, as JSON."""

    model: int
    number: int
    body: bytes


_STARTED = time.time() - time.monotonic()


def steady_time() -> float:
    """Return the time by the clock at the start and the time since: a clock that is set ahead drops nothing."""
    return _STARTED + time.monotonic()


_head = struct.Struct("<qqd").pack  # packs a row without the body, for its checksum


def _check(model: int, number: int, at: float, body: bytes) -> int:
    return crc32(body, crc32(_head(model, number, at)))


class Counts(NamedTuple):
    """The number of the last prediction that was kept, how many there are, and the sum of their checksums."""

    last: int = 0
    number: int = 0
    sum: int = 0

    def check(self, model: int) -> int:
        return crc32(b"%d:%d:%d:%d" % (model, *self))


class HeldTable:
    """The table of kept predictions of a journal."""

    def __init__(self, file: "JournalFile") -> None:
        self._file = file
        self._sizes: dict[int, tuple[int, int]] = {}  # the number of rows and of bytes by model

    def last(self, model: int) -> int:
        """Return the number of the last prediction that was kept; 0 if there is none."""
        return self._counts(model).last

    def _counts(self, model: int) -> Counts:
        if not self._file.begun:
            return Counts()
        with self._file.reading():
            row = self._file.db.execute(
                "select last, number, sum, hash from held_counts where model = ?", (model,)
            ).fetchone()
            if row is None:
                return Counts()
            counts = Counts(*row[:3])
            if row[3] != counts.check(model):
                raise ValueError("the number of kept predictions is not what it was")
            return counts

    def inspect(self, model: int, *, thorough: bool = False) -> None:
        """Raise an error if predictions are missing; if `thorough`, also if one of them was changed."""
        counts = self._counts(model)
        if not self._file.begun:
            return
        with self._file.reading():
            found = self._file.db.execute(
                "select count(*), coalesce(sum(hash), 0) from held where model = ?", (model,)
            ).fetchone()
            if tuple(found) != (counts.number, counts.sum):
                raise ValueError("the kept predictions are not what they were")
            if thorough and len(self.rows(model)) != counts.number:
                raise ValueError("a kept prediction is not what it was")

    def body(self, model: int, number: int) -> bytes | None:
        """Return the kept prediction with a number; None if it was labeled, has expired or never existed."""
        if not self._file.begun:
            return None
        with self._file.reading():
            row = self._file.db.execute(
                "select at, cast(body as blob), hash from held where model = ? and number = ?", (model, number)
            ).fetchone()
            if row is None:
                return None
            if row[2] != _check(model, number, row[0], row[1]):
                raise ValueError(f"the kept prediction {number} is not what it was")
            return bytes(row[1])

    def rows(self, model: int) -> list[tuple[int, float, bytes]]:
        """Return the numbers, times and bodies of all kept predictions that are not damaged."""
        if not self._file.begun:
            return []
        with self._file.reading():
            rows = self._file.db.execute(
                "select number, at, cast(body as blob), hash from held where model = ? order by number", (model,)
            ).fetchall()
        return [(number, at, body) for number, at, body, check in rows if check == _check(model, number, at, body)]

    def size(self, model: int) -> tuple[int, int]:
        """Return the number of kept predictions, and their bytes."""
        if model not in self._sizes and self._file.begun:
            with self._file.reading():
                found = self._file.db.execute(
                    "select count(*), coalesce(sum(length(body)), 0) from held where model = ?", (model,)
                ).fetchone()
            self._sizes[model] = int(found[0]), int(found[1])
        return self._sizes.get(model, (0, 0))

    def forget_sizes(self) -> None:
        """Discard the cached sizes after a transaction was rolled back."""
        self._sizes.clear()

    def add(self, holds: Iterable[Hold], now: float) -> None:
        """Store predictions, within a transaction."""
        changed: dict[int, Counts] = {}
        for hold in holds:
            n, size = self.size(hold.model)
            check = _check(hold.model, hold.number, now, hold.body)
            self._file.db.execute(
                "insert into held values (?, ?, ?, ?, ?)", (hold.model, hold.number, now, hold.body, check)
            )
            self._sizes[hold.model] = n + 1, size + len(hold.body)
            last, number, sum_ = changed.get(hold.model) or self._counts(hold.model)
            changed[hold.model] = Counts(max(hold.number, last), number + 1, sum_ + check)
        for model, counts in changed.items():
            self._store(model, counts)

    def _store(self, model: int, counts: Counts) -> None:
        """Store the counts of a model, within a transaction."""
        self._file.db.execute(
            "insert or replace into held_counts values (?, ?, ?, ?, ?)", (model, *counts, counts.check(model))
        )

    def remove(self, model: int, numbers: Iterable[int]) -> None:
        """Remove predictions, within a transaction. The sizes are updated: to count the rest again would be slow."""
        n, size = self.size(model)
        last, kept, sum_ = self._counts(model)
        db = self._file.db
        for row in ((model, number) for number in numbers):
            found = db.execute("select length(body), hash from held where model = ? and number = ?", row).fetchone()
            if found is not None:
                db.execute("delete from held where model = ? and number = ?", row)
                n, size = n - 1, size - found[0]
                kept, sum_ = kept - 1, sum_ - found[1]
        self._sizes[model] = n, size
        self._store(model, Counts(last, kept, sum_))

    def expire(self, model: int, limits: HeldLimits) -> int:
        """Drop predictions beyond the limits, the oldest first, within a transaction; return their number."""
        n, size = self.size(model)
        db, dropped, freed = self._file.db, 0, 0
        oldest = steady_time() - limits.seconds
        found = db.execute("select number, at, length(body) from held where model = ? order by number", (model,))
        numbers = []
        for number, at, length in found:
            if at >= oldest and n - dropped <= limits.number and size - freed <= limits.size:
                break
            numbers.append(number)
            dropped += 1
            freed += length
        found.close()
        if numbers:
            self.remove(model, numbers)
        return dropped
