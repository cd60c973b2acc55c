"""Predictions kept for labels that arrive later: the features and the prediction, by number.

Each model has rows in the table `held`, and in `held_counts` the number of the last one, which the witness has as well,
so that lost predictions are noticed. Kept predictions are limited in time, number and bytes: the oldest are dropped.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
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


def _check(model: int, number: int, body: bytes) -> int:
    return crc32(body, crc32(b"%d:%d:" % (model, number)))


def _check_count(model: int, last: int) -> int:
    return crc32(b"%d:%d" % (model, last))


class HeldTable:
    """The table of kept predictions of a journal."""

    def __init__(self, file: "JournalFile") -> None:
        self._file = file
        self._sizes: dict[int, tuple[int, int]] = {}  # the number of rows and of bytes by model

    def last(self, model: int) -> int:
        """Return the number of the last prediction that was kept; 0 if there is none."""
        if not self._file.begun:
            return 0
        with self._file.reading():
            row = self._file.db.execute("select last, hash from held_counts where model = ?", (model,)).fetchone()
            if row is None:
                return 0
            if row[1] != _check_count(model, row[0]):
                raise ValueError("the number of kept predictions is not what it was")
            return int(row[0])

    def body(self, model: int, number: int) -> bytes | None:
        """Return the kept prediction with a number; None if it was labeled, has expired or never existed."""
        if not self._file.begun:
            return None
        with self._file.reading():
            row = self._file.db.execute(
                "select cast(body as blob), hash from held where model = ? and number = ?", (model, number)
            ).fetchone()
            if row is None:
                return None
            if row[1] != _check(model, number, row[0]):
                raise ValueError(f"the kept prediction {number} is not what it was")
            return bytes(row[0])

    def rows(self, model: int) -> list[tuple[int, float, bytes]]:
        """Return the numbers, times and bodies of all kept predictions that are not damaged."""
        if not self._file.begun:
            return []
        with self._file.reading():
            rows = self._file.db.execute(
                "select number, at, cast(body as blob), hash from held where model = ? order by number", (model,)
            ).fetchall()
        return [(number, at, body) for number, at, body, check in rows if check == _check(model, number, body)]

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
        lasts: dict[int, int] = {}
        for hold in holds:
            n, size = self.size(hold.model)
            self._file.db.execute(
                "insert into held values (?, ?, ?, ?, ?)",
                (hold.model, hold.number, now, hold.body, _check(hold.model, hold.number, hold.body)),
            )
            self._sizes[hold.model] = n + 1, size + len(hold.body)
            lasts[hold.model] = max(hold.number, lasts.get(hold.model, 0))
        for model, last in lasts.items():
            self.count(model, last)

    def count(self, model: int, last: int) -> None:
        """Store the number of the last kept prediction, within a transaction."""
        self._file.db.execute(
            "insert or replace into held_counts values (?, ?, ?)", (model, last, _check_count(model, last))
        )

    def remove(self, model: int, numbers: Iterable[int]) -> None:
        """Remove predictions, within a transaction. The sizes are updated: to count the rest again would be slow."""
        n, size = self.size(model)
        db = self._file.db
        for row in ((model, number) for number in numbers):
            found = db.execute("select length(body) from held where model = ? and number = ?", row).fetchone()
            if found is not None:
                db.execute("delete from held where model = ? and number = ?", row)
                n, size = n - 1, size - found[0]
        self._sizes[model] = n, size

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
