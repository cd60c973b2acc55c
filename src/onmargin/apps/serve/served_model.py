"""A model of the service: its learner, how far it has come, and what is shown of it."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.journal import MOST_EXAMPLES, Journal, JournalError, Kept
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.apps.serve.problems import ConflictError, ProblemError
from onmargin.apps.serve.witness import Seen
from onmargin.io import ModelFileError, load_with_notes, save

MOST_CELLS = 2500  # of the confusion matrix
MOST_POINTS = 400  # of the curve
MOST_KEYS = 65_536  # of which retries are known
LONG = 1024  # bytes of the predictions of a request that are kept for a retry

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

    learner: JsonLearner
    seq: int = 0
    chain: int = 0
    skipped: int = 0
    curve: Curve = field(default_factory=Curve)
    confusion: Counter[tuple[Any, Any]] = field(default_factory=Counter)

    def learn(self, example: schema.Example) -> Any:
        """Learn the next example; what was predicted of it."""
        self.seq += 1
        try:
            prediction = self.learner.learn(example)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            # What was checked is learned. If a check has a hole, the example is passed over, here and in every replay.
            self.skipped += 1
            return None
        self.curve.add(self.seq, self.totals)
        if self.learner.task in {"classify", "ordinal"} and prediction is not None:
            cell = (example.y, prediction)
            if len(self.confusion) < MOST_CELLS or cell in self.confusion:
                self.confusion[cell] += 1
        return prediction

    @property
    def totals(self) -> schema.Totals:
        if not self.learner.begun:
            return schema.Totals(0, 0, 0, 0.0, 0.0, 0.0)
        totals = self.learner.model.totals_
        return schema.Totals(
            totals.rounds, totals.mistakes, totals.updates, totals.loss, totals.squared_loss, totals.dual_value
        )

    def save(self, path: Path, kept: Kept) -> None:
        """Write a snapshot, in one step; it says of which model it is, and how often that was rewound."""
        notes = {
            "name": kept.name,
            "task": self.learner.task,
            "parameters": msgspec.json.decode(kept.parameters),
            "rewinds": kept.rewinds,
            "seq": self.seq,
            "chain": self.chain,
            "skipped": self.skipped,
            "stride": self.curve.stride,
            "points": [list(point) for point in self.curve.points],
            "confusion": [[*cell, count] for cell, count in self.confusion.items()],
        }
        save(self.learner.model, path, notes=notes)


@dataclass
class Snapshot:
    """A snapshot that was read: a state, and what the file says of its model; files of version 1 say less."""

    state: State
    rewinds: int
    name: str | None
    parameters: dict[str, Any] | None

    @classmethod
    def load(cls, path: Path, room: Room) -> "Snapshot | None":
        """Read a snapshot; None if it is damaged or missing."""
        try:
            model, notes = load_with_notes(path)
            curve = Curve(notes["stride"], [tuple(point) for point in notes["points"]])
            confusion = Counter({(y, prediction): count for y, prediction, count in notes["confusion"]})
            learner = JsonLearner(notes["task"], model, room)
            state = State(learner, notes["seq"], notes["chain"], notes["skipped"], curve, confusion)
        except (OSError, ModelFileError, KeyError, TypeError, ValueError):
            return None
        return cls(state, notes.get("rewinds", 0), notes.get("name"), notes.get("parameters"))


def check_ahead(last: int, rewinds: int, files: Iterable[Path], room: Room) -> None:
    """Refuse a journal of which there is a snapshot with more examples than it has."""
    for path in files:
        seq = int(path.name.split("-")[1])
        if seq > last and (found := Snapshot.load(path, room)) is not None and found.rewinds >= rewinds:
            raise JournalError(
                f"the journal is damaged: it ends at example {last}, and there is a snapshot of {seq}, {path}. {ADVICE}"
            )


ADVICE = (
    "Restore the folder from a copy, or have `onmargin serve --data FOLDER --repair NEW` write what can be kept to a "
    "new folder"
)


def restore(journal: Journal, kept: Kept, folder: Path, room: Room, until: int | None = None) -> State:
    """The state after `until` examples, or all of them: the latest snapshot before, and the journal from there on."""
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
            state = State(JsonLearner.begin(*learner_of(kept), room))
        except (ProblemError, msgspec.DecodeError) as error:
            raise JournalError(f"its parameters are not accepted by this version: {error}") from error
    replay(journal, kept.id, state, until)
    return state


def learner_of(kept: Kept) -> tuple[str | None, str, dict[str, Any]]:
    """Return the name of a model's learner, its task and its parameters, with which the name is kept."""
    parameters = msgspec.json.decode(kept.parameters)
    model = parameters.pop("model", None)
    if parameters.pop("auto", False):  # as journals had it before learners were named
        model = "AutoRegressor" if kept.task == "regress" else "AutoClassifier"
    return model, kept.task, parameters


def _loaded(path: Path, seq: int, chain: int | None, room: Room) -> State | None:
    """A snapshot; None: it cannot be used, and an earlier one will do."""
    found = Snapshot.load(path, room)
    if found is None or found.state.seq != seq or chain not in {None, found.state.chain}:
        return None
    return found.state


def replay(journal: Journal, model: int, state: State, until: int | None) -> None:
    """Learn what the journal has after a state."""
    for row in journal.all_rows(model, state.seq, state.chain, MOST_EXAMPLES if until is None else until):
        try:
            example = decode(row.body)
        except msgspec.DecodeError as error:
            raise JournalError(f"example {row.seq} cannot be read: {error}") from error
        state.learn(example)
        state.chain = row.chain
    if until is not None and state.seq < until:
        raise ConflictError(f"there are {state.seq} examples, and {until} is after them")


def check_witness(journal: Journal, kept: Kept, state: State, seen: Seen) -> None:
    """Refuse a journal that has less than its witness has seen, or something else."""
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


class ServedModel:
    """A model by name; its state is replaced as a whole when it is rewound."""

    def __init__(self, kept: Kept, state: State, n_keys: int = 0, keys: Iterable[tuple[str, int, int]] = ()) -> None:
        self.id = kept.id
        self.name = kept.name
        self.task: Any = kept.task
        _, _, self.parameters = learner_of(kept)
        self.kept = kept
        self.state = state
        self.n_keys = n_keys  # requests with a key
        self.saved = state.seq  # the last snapshot
        self.deleted = False
        self.writing = asyncio.Lock()  # a snapshot
        self.certified: tuple[tuple[int, int], schema.Certificate] | None = None
        # Requests that were learned, by key: numbers, and what was predicted.
        self.keys = {key: schema.Learned(first, last, None, repeated=True) for key, first, last in keys}

    @property
    def earliest(self) -> int:
        return self.kept.earliest

    def remember(self, key: str, learned: schema.Learned) -> None:
        """Recognize a request that is sent again."""
        predictions = learned.predictions if len(encode(learned.predictions)) <= LONG else None
        self.n_keys += 1
        self.keys[key] = schema.Learned(learned.first, learned.last, predictions, repeated=True)
        while len(self.keys) > MOST_KEYS:
            del self.keys[next(iter(self.keys))]

    @property
    def keys_from(self) -> int:
        """The number of the first request whose key is known."""
        return self.n_keys - len(self.keys) + 1

    def describe(self) -> schema.Model:
        state = self.state
        return schema.Model(
            self.name,
            self.task,
            type(state.learner.model).__name__,
            self.parameters,
            state.seq,
            self.earliest,
            state.learner.classes,
            state.learner.features,
            state.totals,
        )
