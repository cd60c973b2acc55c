"""A model that is served: a student, how far it has come, and what is shown of it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.journal import MOST_EXAMPLES, Journal, JournalError, Kept, chained
from onmargin.apps.serve.problems import ConflictError
from onmargin.apps.serve.student import Room, Student
from onmargin.io import ModelFileError, load_with_notes, save

MOST_CELLS = 2500  # of the confusion matrix
MOST_POINTS = 400  # of the curve
MOST_KEYS = 65_536  # of which retries are known
LONG = 16  # predictions for a retry are kept of requests that are no longer than this

encode = msgspec.json.encode
decode = msgspec.json.Decoder(schema.Example).decode


@dataclass
class Curve:
    """Sums of mistakes and losses after some numbers of examples; the more there are, the further apart."""

    stride: int = 1
    points: list[tuple[int, int, float]] = field(default_factory=list)

    def add(self, seq: int, totals: Any) -> None:
        if seq % self.stride == 0:
            self.points.append((seq, totals.mistakes, totals.loss))
            if len(self.points) >= MOST_POINTS:
                self.stride *= 2
                self.points = [point for point in self.points if point[0] % self.stride == 0]


@dataclass
class State:
    """What was learned by the first `seq` examples, and their checksum. The same examples make the same state."""

    student: Student
    seq: int = 0
    chain: int = 0
    skipped: int = 0
    curve: Curve = field(default_factory=Curve)
    confusion: Counter[tuple[Any, Any]] = field(default_factory=Counter)

    def learn(self, example: schema.Example) -> Any:
        """Learn the next example; what was predicted of it."""
        self.seq += 1
        try:
            prediction = self.student.learn(example)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            # What was checked is learned. If a check has a hole, the example is passed over, here and in every replay.
            self.skipped += 1
            return None
        self.curve.add(self.seq, self.totals)
        if self.student.task in {"classify", "ordinal"} and prediction is not None:
            cell = (example.y, prediction)
            if len(self.confusion) < MOST_CELLS or cell in self.confusion:
                self.confusion[cell] += 1
        return prediction

    @property
    def totals(self) -> schema.Totals:
        if not self.student.begun:
            return schema.Totals(0, 0, 0, 0.0, 0.0, 0.0)
        totals = self.student.model.totals_
        return schema.Totals(
            totals.rounds, totals.mistakes, totals.updates, totals.loss, totals.squared_loss, totals.dual_value
        )

    def save(self, path: Path) -> None:
        """Write a snapshot, in one step."""
        notes = {
            "task": self.student.task,
            "seq": self.seq,
            "chain": self.chain,
            "skipped": self.skipped,
            "stride": self.curve.stride,
            "points": [list(point) for point in self.curve.points],
            "confusion": [[*cell, count] for cell, count in self.confusion.items()],
        }
        save(self.student.model, path, notes=notes)

    @classmethod
    def load(cls, path: Path, room: Room) -> "State":
        model, notes = load_with_notes(path)
        curve = Curve(notes["stride"], [tuple(point) for point in notes["points"]])
        confusion = Counter({(y, prediction): count for y, prediction, count in notes["confusion"]})
        return cls(
            Student(notes["task"], model, room), notes["seq"], notes["chain"], notes["skipped"], curve, confusion
        )


def restore(journal: Journal, kept: Kept, folder: Path, room: Room, until: int | None = None) -> State:
    """The state after `until` examples, or all of them: the latest snapshot before, and the journal from there on."""
    last = journal.last(kept.id)
    state = None
    for seq, file in journal.snapshots(kept.id):
        if seq > max(last, kept.earliest):
            raise JournalError(
                f"{journal.path} is damaged: it ends at example {last} of model {kept.name!r}, and there is a snapshot "
                f"of {seq}. Restore it from a copy"
            )
        if state is None and kept.earliest <= seq <= (MOST_EXAMPLES if until is None else until):
            state = _loaded(folder / file, seq, journal.chain(kept.id, seq), room)
    if state is None:
        if kept.earliest > 0:
            raise JournalError(f"the snapshot of model {kept.name!r} after {kept.earliest} examples cannot be read")
        state = State(Student.begin(kept.task, msgspec.json.decode(kept.parameters), room))
    replay(journal, kept.id, state, until)
    return state


def _loaded(path: Path, seq: int, chain: int | None, room: Room) -> State | None:
    """A snapshot; None: it cannot be used, and an earlier one will do."""
    try:
        state = State.load(path, room)
    except (OSError, ModelFileError, KeyError):
        return None
    return state if state.seq == seq and chain in {None, state.chain} else None


def replay(journal: Journal, model: int, state: State, until: int | None) -> None:
    """Learn what the journal has after a state."""
    for row in journal.all_rows(model, state.seq, MOST_EXAMPLES if until is None else until):
        state.chain = chained(state.chain, row.body)
        if row.seq != state.seq + 1 or row.chain != state.chain:
            raise JournalError(
                f"{journal.path} is damaged: example {state.seq + 1} of model {model} is not what it was. "
                "Restore it from a copy"
            )
        state.learn(decode(row.body))
    if until is not None and state.seq < until:
        raise ConflictError(f"there are {state.seq} examples, and {until} is after them")


class Served:
    """A model by name; its state is replaced as a whole when it is rewound."""

    def __init__(self, kept: Kept, state: State, keys: Iterable[tuple[str, int, int]] = ()) -> None:
        self.id = kept.id
        self.name = kept.name
        self.task: Any = kept.task
        self.parameters = msgspec.json.decode(kept.parameters)
        self.earliest = kept.earliest
        self.state = state
        self.saved = state.seq  # the last snapshot
        self.deleted = False
        self.certified: tuple[tuple[int, int], schema.Certificate] | None = None
        # Requests that were learned, by key: numbers, and what was predicted.
        self.keys = {key: schema.Learned(first, last, None, repeated=True) for key, first, last in keys}

    def kept(self) -> Kept:
        return Kept(self.id, self.name, self.task, msgspec.json.encode(self.parameters), self.earliest)

    def remember(self, key: str, learned: schema.Learned) -> None:
        """Know a request if it comes again."""
        predictions = learned.predictions if len(learned.predictions or ()) <= LONG else None
        self.keys[key] = schema.Learned(learned.first, learned.last, predictions, repeated=True)
        while len(self.keys) > MOST_KEYS:
            del self.keys[next(iter(self.keys))]

    @property
    def oldest_key(self) -> int:
        """The number from which on keys are known."""
        return next((learned.last for learned in islice(self.keys.values(), 1)), 0)

    def describe(self) -> schema.Model:
        state = self.state
        return schema.Model(
            self.name,
            self.task,
            self.parameters,
            state.seq,
            self.earliest,
            state.student.classes,
            state.student.features,
            state.totals,
        )
