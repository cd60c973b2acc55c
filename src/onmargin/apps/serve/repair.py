"""`onmargin serve --check` and `--repair`: check of a folder, and recovery of its intact data to a new folder."""

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import msgspec

from onmargin.apps.serve.contents import missing, read_folder, snapshot_files
from onmargin.apps.serve.held import Hold
from onmargin.apps.serve.journal import MOST_EXAMPLES, Entry, Journal, ModelRow, Row
from onmargin.apps.serve.journal_file import JournalError, LockedError
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.problems import ProblemError
from onmargin.apps.serve.restoring import learner_of
from onmargin.apps.serve.state import Snapshot, State, decode
from onmargin.apps.serve.witness import Seen


@dataclass
class Report:
    """Report on a folder, with one line per model, and whether everything is intact."""

    lines: list[str]
    good: bool = True

    def add(self, line: str, *, good: bool) -> None:
        self.lines.append(line)
        self.good = self.good and good


def check(folder: Path, room: Room) -> Report:
    """Read everything in a folder without any change."""
    report = Report([])
    path = folder / "journal.sqlite"
    try:
        journal = Journal(path, writable=False) if path.exists() and path.stat().st_size else None
    except LockedError:
        raise
    except JournalError as error:
        report.add(str(error), good=False)
        return report
    if journal is None or not journal.begun:
        problem = missing(folder)
        report.add(problem or f"{path} does not exist: there are no models", good=problem is None)
        return report
    with closing(journal):
        journal.inspect()
        if not journal.sound:
            report.add(f"{journal.path} is damaged: pages of the file are not in their place", good=False)
        for one in read_folder(journal, room, thorough=True):
            if one.gone:
                report.add(f"{one.name}: it was being created or deleted, and is not there", good=True)
            elif one.problem is not None:
                report.add(f"{one.name}: {one.problem}", good=False)
            elif one.state is not None and one.kept is not None:
                report.add(
                    f"{one.name}: intact, {one.state.seq} examples, journaled from {one.kept.earliest + 1} on",
                    good=True,
                )
    return report


def repair(folder: Path, target: Path, room: Room) -> Report:
    """Recover the intact data of a folder to a new one; the old folder is not changed."""
    if target.exists() and any(target.iterdir()):
        raise JournalError(f"{target} must be a folder that is empty or does not exist")
    old = _Old(folder, room)
    target.mkdir(0o700, parents=True, exist_ok=True)
    for name in ("snapshots", "witness"):
        (target / name).mkdir()
    report = Report([])
    with closing(old), closing(Journal(target / "journal.sqlite")) as new:
        for number in old.numbers():
            found = _Salvaged(number, f"model-{number}", 0, old)
            try:
                found = old.salvaged(number)
                report.add(_moved(found, new, target / "snapshots"), good=True)
            except Exception as error:  # one model must not keep the others from being repaired
                _remove(new, found.name, target / "snapshots")
                report.add(f"{found.name}: nothing could be kept: {error!r:.200}", good=False)
    return report


def _remove(new: Journal, name: str, snapshots: Path) -> None:
    """Remove an incomplete model from the new folder."""
    for number in new.ids():
        if new.kept(number).name == name:
            new.delete(number)
            for path in snapshot_files(snapshots).get(number, ()):
                path.unlink()
            new.unwatch(number)


@dataclass
class _Salvaged:
    """The recoverable data of a model: a state to start from, the numbers of the examples after it, and their keys."""

    number: int
    name: str
    acknowledged: int  # number of acknowledged examples, as far as is known
    old: "_Old"
    start: State | None = None
    parameters: bytes = b""
    until: int = 0

    def rows(self) -> Iterator[Row]:
        if self.old.journal is not None and self.start is not None:
            yield from self.old.journal.all_rows(self.number, self.start.seq, self.start.chain, self.until)


class _Old:
    """The folder to repair."""

    def __init__(self, folder: Path, room: Room) -> None:
        self.room = room
        self._files = snapshot_files(folder / "snapshots")
        self._witnessed = Journal.seen(folder)
        self.journal = self._opened(folder / "journal.sqlite")

    def _opened(self, path: Path) -> Journal | None:
        if not (path.exists() and path.stat().st_size):  # SQLite would remove the log of an empty file
            return None
        try:
            journal = Journal(path, writable=False)
        except LockedError:
            raise
        except (JournalError, sqlite3.Error):
            return None
        return journal if journal.begun else None

    def close(self) -> None:
        if self.journal is not None:
            self.journal.close()

    def numbers(self) -> list[int]:
        found = {*self._files, *self._witnessed}
        if self.journal is not None:
            with suppress(JournalError):
                found |= set(self.journal.ids())
        kept = {number for number in found if self._kept(number) is not None}
        absent = {number for number, seen in self._witnessed.items() if isinstance(seen, Seen) and seen.absent}
        return sorted(found - (absent - kept))

    def _kept(self, number: int) -> ModelRow | None:
        if self.journal is not None:
            with suppress(JournalError):
                return self.journal.kept(number)
        return None

    def salvaged(self, number: int) -> _Salvaged:
        """Return the recoverable data of a model: as many examples as possible, then as much of their journal."""
        seen = self._witnessed.get(number)
        kept = self._kept(number)
        loaded = [one for path in self._files.get(number, ()) if (one := Snapshot.load(path, self.room)) is not None]
        rewinds = kept.rewinds if kept is not None else max((one.rewinds for one in loaded), default=0)
        snapshots = [one for one in loaded if one.rewinds >= rewinds]
        named = snapshots[0].name if snapshots else f"model-{number}"
        name = kept.name if kept else seen.model if isinstance(seen, Seen) else named
        found = _Salvaged(number, name, seen.point.seq if isinstance(seen, Seen) else 0, self)
        limit = MOST_EXAMPLES
        if isinstance(seen, Seen) and seen.point.rewinds > rewinds:
            limit = seen.point.seq  # examples removed by a rewind must not come back
        starts = [one.state for one in snapshots if one.state.seq <= limit]
        if kept is not None:
            found.parameters = kept.parameters
            if kept.earliest == 0:
                with suppress(ProblemError, msgspec.DecodeError):
                    starts.append(learner_of(kept).begin(self.room))
        elif snapshots:
            found.parameters = msgspec.json.encode(snapshots[0].parameters)
        else:
            return found
        reached = [(min(limit, self._reach(number, start)), start) for start in starts]
        if reached:
            found.until, found.start = max(reached, key=lambda pair: (pair[0], -pair[1].seq))
        return found

    def _reach(self, number: int, start: State) -> int:
        """Return the number of the last example up to which a state can be continued."""
        after, chain, step = start.seq, start.chain, 1000
        while self.journal is not None:
            try:
                rows = self.journal.rows(number, after, chain, after + step)
            except JournalError:
                if step == 1:
                    break
                step = 1  # continue one by one up to the damaged example
                continue
            if not rows:
                break
            after, chain = rows[-1].seq, rows[-1].chain
        return after

    def held(self, number: int) -> list[tuple[int, bytes]]:
        """Return the kept predictions that can be read."""
        if self.journal is not None:
            with suppress(JournalError):
                return [(held, body) for held, _, body in self.journal.held.rows(number)]
        return []

    def keys(self, number: int) -> list[tuple[str, int, int]]:
        return [] if self.journal is None else self.journal.sound_keys(number)


def _moved(found: _Salvaged, new: Journal, snapshots: Path) -> str:
    """Write a model to the new folder; return its line of the report."""
    if found.start is None:
        return f"{found.name}: nothing could be kept"
    state = deepcopy(found.start)
    kept = new.create(found.name, state.learner.task, found.parameters)
    begin = state.seq
    keys = [key for key in found.old.keys(found.number) if key[2] <= found.until]
    older = [key for key in keys if key[2] <= begin]  # keys of examples that are no longer in the journal
    new.add_keys(kept.id, older)
    if begin:
        kept = _with_snapshot(new, kept, state, snapshots, compact=begin, keys=len(older))
    if (failed := _learn_again(found, new, kept, state, keys)) is not None:
        _remove(new, found.name, snapshots)
        found.until = failed - 1
        return _moved(found, new, snapshots)
    if state.seq > begin:
        _with_snapshot(new, kept, state, snapshots, keys=len(keys))
    new.append([], [Hold(kept.id, number, body) for number, body in found.old.held(found.number)])
    lost = found.acknowledged - state.seq
    words = f", and the last {lost} examples that were acknowledged are lost" if lost > 0 else ""
    journal = f"in the journal from {begin + 1} on" if begin else "all in the journal"
    return f"{found.name}: kept {state.seq} examples, {journal}{words}"


def _learn_again(
    found: _Salvaged, new: Journal, kept: ModelRow, state: State, keys: list[tuple[str, int, int]]
) -> int | None:
    """Replay the recoverable examples on a state, and write them to the new journal.

    Returns the number of an example that cannot be learned, or None if there is none.
    """
    starts = {first: (number, key, last) for number, (key, first, last) in enumerate(keys, 1)}
    number, key, last = sum(end <= state.seq for _, _, end in keys), None, 0
    entries: list[Entry] = []
    for row in found.rows():
        if row.seq > last:
            number, key, last = starts.get(row.seq, (number, None, row.seq))
            if len(entries) >= 1000:
                new.append(entries)
                entries = []
            entries.append(Entry(kept.id, row.seq, [], key, number, row.at))
        entries[-1].bodies.append((row.chain, row.body))
        try:
            state.learn(decode(row.body))
        except Exception:
            return row.seq
        state.chain = row.chain
    if entries:
        new.append(entries)
    return None


def _with_snapshot(
    new: Journal, kept: ModelRow, state: State, snapshots: Path, *, compact: int = 0, keys: int = 0
) -> ModelRow:
    file = f"{kept.id}-{state.seq}-{secrets.token_hex(4)}.safetensors"
    state.save(snapshots / file, kept)
    return new.add_snapshot(kept, state.seq, file, compact=compact, keys=keys, keys_from=1)
