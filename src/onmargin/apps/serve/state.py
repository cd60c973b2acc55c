"""The state of a model: its learner, the number of examples learned, and the errors of its predictions.

The same examples give the same state, to the last bit: a state is a snapshot plus the examples after it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from pathlib import Path
from typing import Annotated, Any

import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.journal import ModelRow
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.confidence import QuantileTracker
from onmargin.confidence.tracking import trackers_of
from onmargin.io import load_with_notes, save

MOST_CELLS = 2500  # maximum number of cells of the confusion matrix
MOST_POINTS = 400  # maximum number of points of the curve
FOREIGN = ("recipe",)  # note of `onmargin train`, which `onmargin predict` needs

Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
Cell = str | schema.Whole | float  # a label, or a rank

encode = msgspec.json.encode
decode = msgspec.json.Decoder(schema.Recorded).decode


@dataclass
class Curve:
    """Sums of mistakes and losses after some numbers of examples; the points get sparser as examples are added."""

    stride: int = 1
    points: list[tuple[int, int, float]] = field(default_factory=list)

    def add(self, seq: int, mistakes: int, loss: float) -> None:
        if seq % self.stride == 0:
            self.points.append((seq, mistakes, loss))
            if len(self.points) >= MOST_POINTS:
                self.stride *= 2
                self.points = [point for point in self.points if point[0] % self.stride == 0]


def _mistaken(task: str, prediction: Any, y: Any) -> bool:
    """Return whether an earlier prediction is a mistake, as the learner counts them."""
    if prediction is None:
        return True
    if task == "rank":  # labels in order, or the relevant ones: the right ones must come first
        return set(prediction[: len(y)]) != set(y) or len(prediction) < len(y)
    return bool(prediction != y)


@dataclass
class State:
    """The learned state after the first `seq` examples, and their checksum.

    `corrected` is the number of mistakes minus the number counted by the learner: an example whose label arrived later
    is evaluated with its earlier prediction. `errors` are the number and the sum of absolute errors, for numbers.
    """

    learner: JsonLearner
    seq: int = 0
    chain: int = 0
    skipped: int = 0
    curve: Curve = field(default_factory=Curve)
    confusion: Counter[tuple[Any, Any]] = field(default_factory=Counter)
    corrected: int = 0
    errors: tuple[int, float] = (0, 0.0)
    covering: "Covering | None" = None
    notes: dict[str, Any] = field(default_factory=dict)  # notes of the file that the model was uploaded from

    def learn(self, example: schema.Example) -> Any:
        """Learn the next example; return the prediction before, or the kept one."""
        self.seq += 1
        given = getattr(example, "given", msgspec.UNSET)
        task = self.learner.task
        before = 0 if given is msgspec.UNSET else self.totals.mistakes
        try:
            judged = None if self.covering is None else self.covering.shares(self.learner, example.x)
            prediction = self.learner.learn(example)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            # Checked examples can be learned. If a check misses a problem, the example is skipped here and in replays.
            self.skipped += 1
            return None
        totals = self.totals
        if self.covering is not None:
            self.covering.judge(judged, example.y)
        if given is not msgspec.UNSET:
            prediction = given.prediction
            if task not in {"regress", "novelty"}:
                self.corrected += _mistaken(task, prediction, example.y) - (totals.mistakes - before)
        self.curve.add(self.seq, totals.mistakes + self.corrected, totals.loss)
        if task == "regress" and prediction is not None:
            self.errors = self.errors[0] + 1, self.errors[1] + abs(example.y - prediction)
        if task in {"classify", "ordinal"} and prediction is not None:
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

    @property
    def progressive(self) -> schema.Progressive:
        """Return the errors of predictions made before examples were learned, or when they were kept."""
        totals = self.totals
        if self.learner.task == "regress":
            return schema.Progressive(self.errors[0], None, self.errors[1])
        return schema.Progressive(totals.rounds, totals.mistakes + self.corrected, None)

    def save(self, path: Path, kept: ModelRow) -> None:
        """Write a snapshot atomically; it includes the model and its number of rewinds."""
        notes = Notes(
            kept.name,
            self.learner.task,  # type: ignore[arg-type]
            msgspec.json.decode(kept.parameters),
            kept.rewinds,
            self.seq,
            self.chain,
            self.skipped,
            self.curve.stride,
            self.curve.points,
            [(*cell, count) for cell, count in self.confusion.items()],
            self.corrected,
            self.errors,
            None if self.covering is None else self.covering.numbers(),
        )
        save(self.learner.model, path, notes=self.notes | msgspec.json.decode(encode(notes)))

    def rehearse(self) -> None:
        """Use the state in every way that does not need a request; whatever is wrong with a loaded model raises.

        A model that takes too long to predict is refused. One that takes too long to learn can only be read: the
        service refuses every example for it.
        """
        learner, example = self.learner, self.learner.sample()
        x = example.x
        features = learner.expand(x)
        learner.costs.check(features)
        if learner.costs.allows_learning(features) and not learner.predict_only:
            learner.learn(example)
            self.learn(example)
        encode((self.totals, self.progressive, learner.experts(), learner.predict(x), learner.scores(x)))
        if self.covering is not None:
            encode(self.covering.answer(learner, x))
        if learner.task == "classify":
            encode(learner.probabilities(x))
        if learner.task != "tag":
            learner.explain(x, None, learner.features + 1)


class Covering:
    """Prediction sets or intervals with a requested coverage: see `onmargin.confidence`."""

    def __init__(self, task: str, coverage: float) -> None:
        self._task = task
        self.tracker = QuantileTracker(coverage, scores="positive" if task == "regress" else "bounded")
        self.size = 0.0  # sum of the sizes of sets, or of the widths of finite intervals
        self.sized = 0

    @classmethod
    def of(cls, task: str, numbers: Mapping[str, float]) -> "Covering":
        """Restore the object from its numbers."""
        made = cls(task, numbers["coverage"])
        made.tracker.__setstate__(dict(numbers))
        made.size, made.sized = float(numbers["size"]), msgspec.convert(numbers["sized"], Count)
        if not 0 <= made.size < inf:
            raise ValueError(f"the size of sets must be finite and not negative; got {made.size}")
        return made

    @classmethod
    def from_saved(cls, task: str, saved: Any) -> "Covering":
        """Return the object for the prediction sets or intervals of a model file."""
        made, options = cls(task, saved.coverage), saved.get_params()
        others = [name for name in ("by_class", "nonempty", "asymmetric") if options.get(name)]
        if others or task not in {"classify", "regress"} or options["rate"] != made.tracker.rate:
            what = f"{others[0]}=True" if others else f"rate={options['rate']:g}, or for the task {task}"
            raise ValueError(f"prediction sets or intervals with {what} cannot be served")
        found, (made.tracker,) = saved.coverage_, trackers_of(saved)
        if isfinite(found.size):
            made.size, made.sized = found.size * made.tracker.rounds, made.tracker.rounds
        return made

    def numbers(self) -> dict[str, float]:
        tracker = self.tracker
        return {
            "coverage": tracker.coverage,
            "rounds": tracker.rounds,
            "misses": tracker.misses,
            "level": tracker.level,
            "unit": tracker.unit,
            "size": self.size,
            "sized": self.sized,
        }

    def shares(self, learner: JsonLearner, x: Any) -> Any:
        """Return the output for `judge`: the class probabilities of an example, or its prediction."""
        if not learner.begun:
            return None
        return learner.predict(x) if self._task == "regress" else dict(learner.probabilities(x))

    def judge(self, shares: Any, y: Any) -> None:
        """Count an example, and update the threshold."""
        if shares is None:
            return
        tracker = self.tracker
        if self._task == "regress":
            if tracker.threshold < inf:
                self.size += 2 * max(tracker.threshold, 0.0)
                self.sized += 1
            tracker.update(abs(y - shares))
            return
        self.size += len(self.labels(shares))
        self.sized += 1
        tracker.update(1 - shares[y] if y in shares else inf)

    def labels(self, shares: Mapping[Any, float]) -> list[Any]:
        """Return the labels of a set, the most likely first."""
        ranked = sorted(shares, key=lambda label: -shares[label])
        return [label for label in ranked if 1 - shares[label] <= self.tracker.threshold]

    def interval(self, prediction: float) -> tuple[float | None, float | None]:
        """Return the ends of an interval, with None for an infinite end."""
        radius = self.tracker.threshold
        return (None, None) if radius == inf else (prediction - max(radius, 0.0), prediction + max(radius, 0.0))

    def answer(self, learner: JsonLearner, x: Any) -> Any:
        """Return the set or the interval of an example; None if nothing was learned yet."""
        shares = self.shares(learner, x)
        if shares is None:
            return None
        return self.interval(shares) if self._task == "regress" else self.labels(shares)

    def describe(self) -> schema.Coverage:
        tracker = self.tracker
        covered = 1 - tracker.misses / tracker.rounds if tracker.rounds else None
        size = self.size / self.sized if self.sized else None
        return schema.Coverage(tracker.coverage, tracker.rounds, covered, size)


class Notes(msgspec.Struct):
    """The notes in a snapshot: a model, and its state without the learner."""

    name: schema.Name
    task: schema.Task
    parameters: dict[str, Any]
    rewinds: Count
    seq: Count
    chain: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
    skipped: Count
    stride: Annotated[int, msgspec.Meta(ge=1, le=2**62)]
    points: Annotated[list[tuple[Count, Count, float]], msgspec.Meta(max_length=MOST_POINTS - 1)]
    confusion: Annotated[list[tuple[Cell, Cell, Count]], msgspec.Meta(max_length=MOST_CELLS)]
    corrected: Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]
    errors: tuple[Count, Annotated[float, msgspec.Meta(ge=0)]]
    covering: dict[str, int | float] | None

    def state(self, model: Any, room: Room) -> State:
        """Return the state of these notes and a model; ValueError if they contradict each other."""
        if self.task != model.task:
            raise ValueError(f"task must be {model.task!r}, as of the model; got {self.task!r}")
        state = State(JsonLearner(self.task, model, room), self.seq, self.chain, self.skipped)
        ends = [0, *(point[0] for point in self.points)]
        losses = [self.errors[1], *(point[2] for point in self.points)]
        counts = [self.skipped, self.corrected, self.errors[0], sum(cell[2] for cell in self.confusion), ends[-1]]
        if max(counts) > self.seq or ends != sorted(set(ends)) or not all(map(isfinite, losses)):
            raise ValueError(f"the numbers of examples or losses do not fit {self.seq} examples")
        if any(end % self.stride for end in ends):
            raise ValueError(f"the curve must have points at multiples of stride, which is {self.stride}")
        if state.totals.mistakes + self.corrected < 0:
            raise ValueError(f"corrected must be at least {-state.totals.mistakes}; got {self.corrected}")
        state.curve = Curve(self.stride, self.points)
        state.confusion = Counter({(y, prediction): count for y, prediction, count in self.confusion})
        state.corrected, state.errors = self.corrected, self.errors
        if self.covering is not None:
            state.covering = Covering.of(self.task, self.covering)
        return state


@dataclass
class Snapshot:
    """A loaded snapshot: a state, and the description of its model."""

    state: State
    rewinds: int
    name: str
    parameters: dict[str, Any]

    @classmethod
    def read(cls, model: Any, notes: Mapping[str, Any], room: Room) -> "Snapshot":
        """Return the snapshot of a loaded model file; ValueError if its notes are not those of a snapshot."""
        found = msgspec.convert(dict(notes), Notes)
        state = found.state(model, room)
        state.notes = {name: notes[name] for name in FOREIGN if name in notes}
        return cls(state, found.rewinds, found.name, found.parameters)

    @classmethod
    def load(cls, path: Path, room: Room) -> "Snapshot | None":
        """Read a snapshot; None if it is damaged or missing."""
        try:
            return cls.read(*load_with_notes(path), room)
        except Exception:  # whatever a damaged file raises, an earlier snapshot is needed
            return None
