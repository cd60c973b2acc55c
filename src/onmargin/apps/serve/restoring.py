"""Restoring a model: its last snapshot, and the checked examples in the journal after it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from onmargin.apps.serve.journal import MOST_EXAMPLES, Journal, ModelRow
from onmargin.apps.serve.journal_file import JournalError
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.apps.serve.problems import ConflictError, ProblemError
from onmargin.apps.serve.state import Covering, Snapshot, State, decode
from onmargin.apps.serve.witness import Seen

COVERAGE = "prediction_sets"  # key of the coverage among the parameters of a model in the journal

ADVICE = (
    "Restore the folder from a copy, or have `onmargin serve --data FOLDER --repair NEW` write what can be kept to a "
    "new folder"
)


def check_ahead(last: int, rewinds: int, files: Iterable[Path], room: Room) -> None:
    """Refuse a journal that has fewer examples than one of its snapshots."""
    for path in files:
        seq = int(path.name.split("-")[1])
        if seq > last and (found := Snapshot.load(path, room)) is not None and found.rewinds >= rewinds:
            raise JournalError(
                f"the journal is damaged: it ends at example {last}, and there is a snapshot of {seq}, {path}. {ADVICE}"
            )


def restore(journal: Journal, kept: ModelRow, folder: Path, room: Room, until: int | None = None) -> State:
    """Return the state after `until` examples, or all: the latest snapshot before, and the journal from there on."""
    last = max(journal.last(kept.id), kept.earliest)
    state = None
    for seq, file in journal.snapshots(kept.id):
        if seq > last:
            raise JournalError(
                f"the journal is damaged: it ends at example {last}, and a snapshot of {seq} was taken. {ADVICE}"
            )
        if state is None and kept.earliest <= seq <= (MOST_EXAMPLES if until is None else until):
            state = _loaded(folder / file, seq, journal.chain(kept.id, seq), room)
    if state is None:
        if kept.earliest > 0:
            raise JournalError(
                f"the snapshot after {kept.earliest} examples cannot be read, and those are no longer in the journal. "
                f"{ADVICE}"
            )
        try:
            state = learner_of(kept).begin(room)
        except (ProblemError, msgspec.DecodeError) as error:
            raise JournalError(f"its parameters are not accepted by this version: {error}") from error
    replay(journal, kept.id, state, until)
    return state


class Described(NamedTuple):
    """Specification of a model: the name of its learner, its task, its parameters, and the coverage of its sets."""

    model: str | None
    task: str
    parameters: dict[str, Any]
    coverage: float | None = None

    def begin(self, room: Room) -> State:
        """Return an untrained state."""
        state = State(JsonLearner.begin(self.model, self.task, self.parameters, room))
        if self.coverage is not None:
            state.covering = Covering(self.task, self.coverage)
        return state


def learner_of(kept: ModelRow) -> Described:
    """Return the specification of a model; the name of its learner and the coverage are among the parameters."""
    parameters = msgspec.json.decode(kept.parameters)
    model = parameters.pop("model", None)
    coverage = parameters.pop(COVERAGE, None)
    return Described(model, kept.task, parameters, coverage)


def _loaded(path: Path, seq: int, chain: int | None, room: Room) -> State | None:
    """Return the state of a snapshot, or None if it cannot be used and an earlier one is needed."""
    found = Snapshot.load(path, room)
    if found is None or found.state.seq != seq or chain not in {None, found.state.chain}:
        return None
    return found.state


def replay(journal: Journal, model: int, state: State, until: int | None) -> None:
    """Learn the examples of the journal after a state."""
    for row in journal.all_rows(model, state.seq, state.chain, MOST_EXAMPLES if until is None else until):
        try:
            example = decode(row.body)
        except msgspec.DecodeError as error:
            raise JournalError(f"example {row.seq} cannot be read: {error}") from error
        try:
            state.learn(example)
        except Exception as error:
            raise JournalError(f"example {row.seq} cannot be learned: {error!r:.200}. {ADVICE}") from error
        state.chain = row.chain
    if until is not None and state.seq < until:
        raise ConflictError(f"there are {state.seq} examples, and {until} is after them")


def check_witness(journal: Journal, kept: ModelRow, state: State, seen: Seen) -> None:
    """Refuse a journal that has fewer or other examples than its witness recorded."""
    journal.held.inspect(kept.id)
    held = journal.held.last(kept.id)
    if seen.point.held > held:
        raise JournalError(
            f"the journal is damaged: {seen.point.held} predictions were kept for their labels, and it has {held}. "
            f"{ADVICE}"
        )
    if seen.next is not None and (seen.next.seq, seen.next.chain, seen.next.rewinds) == (
        state.seq,
        state.chain,
        kept.rewinds,
    ):
        return
    point = seen.point
    if point.seq > state.seq:
        raise JournalError(
            f"the journal is damaged: it ends at example {state.seq}, and {point.seq} were acknowledged. {ADVICE}"
        )
    chain = state.chain if point.seq == state.seq else journal.chain(kept.id, point.seq)
    known = point.seq > kept.earliest or point.seq == state.seq > 0
    if point.rewinds != kept.rewinds or (known and chain != point.chain):
        raise JournalError(
            f"the journal is damaged: its example {point.seq} is not the one that was acknowledged. {ADVICE}"
        )
