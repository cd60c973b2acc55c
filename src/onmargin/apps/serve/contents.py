"""Read-only inspection of the folder of a service: each model, or the reason why it cannot be used."""

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from onmargin.apps.serve.journal import Journal, ModelRow
from onmargin.apps.serve.journal_file import JournalError
from onmargin.apps.serve.json_learner import Room
from onmargin.apps.serve.restoring import ADVICE, check_ahead, check_witness, learner_of, restore
from onmargin.apps.serve.served_model import MOST_KEYS
from onmargin.apps.serve.state import Snapshot, State
from onmargin.apps.serve.witness import Seen, WitnessError

SNAPSHOT = re.compile(r"(\d+)-(\d+)-[0-9a-f]{8}\.safetensors")
UNFINISHED = re.compile(r"\.?\d+-\d+-[0-9a-f]{8}\.safetensors\.[0-9a-f]+\.tmp")


def snapshot_files(folder: Path) -> dict[int, list[Path]]:
    """Return the existing snapshots by the number of their model, the latest first; other files are ignored."""
    found: dict[int, list[Path]] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if (match := SNAPSHOT.fullmatch(path.name)) is not None:
            found.setdefault(int(match[1]), []).append(path)
    for files in found.values():
        files.sort(key=lambda path: -int(path.name.split("-")[1]))
    return found


@dataclass
class Found:
    """A model in a folder, or the problem with it. If `gone`, it was deleted or not completely created."""

    id: int
    name: str
    kept: ModelRow | None = None
    state: State | None = None
    n_keys: int = 0
    keys: list[tuple[str, int, int]] = field(default_factory=list)
    problem: str | None = None
    gone: bool = False


def missing(folder: Path) -> str | None:
    """Return the problem with a folder that has no journal, if it had models."""
    path = folder / "journal.sqlite"
    names = {f"number {number}" for number in snapshot_files(folder / "snapshots")}
    witnessed = Journal.seen(folder)
    names |= {_name(number, seen) for number, seen in witnessed.items() if not _absent(seen)}
    names -= {f"number {number}" for number, seen in witnessed.items() if isinstance(seen, Seen)}
    if not names:
        return None
    return f"{path} is missing, and there were models: {', '.join(sorted(names))}. {ADVICE}"


def _absent(seen: Seen | WitnessError | None) -> bool:
    return isinstance(seen, Seen) and seen.absent


def _name(number: int, seen: Seen | WitnessError | None) -> str:
    return seen.model if isinstance(seen, Seen) else f"number {number}"


def read_folder(journal: Journal, room: Room, *, thorough: bool = False) -> list[Found]:
    """Return all models of a folder; if `thorough`, check every example and snapshot."""
    snapshots = snapshot_files(journal.path.parent / "snapshots")
    witnessed = Journal.seen(journal.path.parent)
    try:
        there = journal.ids()
        problem = "it is missing in the journal"
    except JournalError as error:
        there = []
        problem = str(error)
    found = []
    for number in sorted({*there, *witnessed, *snapshots}):
        seen = witnessed.get(number)
        one = Found(number, _name(number, seen))
        found.append(one)
        if number not in there:
            one.gone = _absent(seen)
            one.problem = f"{problem}. {ADVICE}"
            continue
        try:
            one.kept = journal.kept(number)
            one.name = one.kept.name
            learner_of(one.kept)
            if not isinstance(seen, Seen):
                raise JournalError(
                    f"{seen or 'its witness is missing'}, so that lost examples would go unseen. {ADVICE}"
                )
            if not seen.is_of(one.name):
                raise JournalError(f"its witness is of model {seen.model!r}. {ADVICE}")
            one.state = _state(journal, one.kept, seen, snapshots.get(number, ()), room)
            one.n_keys, one.keys = journal.keys(one.kept, MOST_KEYS)
            if thorough:
                _look_through(journal, one.kept, one.state.seq, room)
        except JournalError as error:
            one.problem = str(error)
        except Exception as error:  # one model must not keep the others from being served
            one.problem = f"it cannot be restored: {error!r:.200}. {ADVICE}"
    return found


def _state(journal: Journal, kept: ModelRow, seen: Seen, files: Iterable[Path], room: Room) -> State:
    """Return the state of a model after all acknowledged examples."""
    state = restore(journal, kept, journal.path.parent / "snapshots", room)
    check_witness(journal, kept, state, seen)
    check_ahead(state.seq, kept.rewinds, files, room)
    return state


def _look_through(journal: Journal, kept: ModelRow, last: int, room: Room) -> None:
    """Read every example and snapshot of a model."""
    n = sum(1 for _ in journal.all_rows(kept.id, kept.earliest, None if kept.earliest else 0))
    if n != last - kept.earliest:
        raise JournalError(f"the journal is damaged: {last - kept.earliest - n} examples are missing. {ADVICE}")
    journal.held.inspect(kept.id, thorough=True)
    for _, file in journal.snapshots(kept.id):
        path = journal.path.parent / "snapshots" / file
        if Snapshot.load(path, room) is None:
            raise JournalError(f"the snapshot {path} is damaged or missing. {ADVICE}")


def open_to_read(folder: Path) -> Journal | None:
    """Return the journal of a folder, opened read-only; None if it was never begun."""
    path = folder / "journal.sqlite"
    journal = _readable(path) if path.exists() and path.stat().st_size else None
    if journal is None or not journal.begun:
        if journal is not None:
            journal.close()
        if (problem := missing(folder)) is not None:
            raise JournalError(problem)
        return None
    return journal


def _readable(path: Path) -> Journal:
    """Return a journal for reading.

    If the disk is full, it is opened for writing, which needs no room for an index. The same is done if the power was
    cut while SQLite created the file, since SQLite must roll that back.
    """
    try:
        return Journal(path, writable=False)
    except JournalError as error:
        cause = error.__cause__
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        unfinished = code == sqlite3.SQLITE_READONLY and Path(f"{path}-journal").exists()
        if not unfinished and code not in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}:
            raise
        return Journal(path)
