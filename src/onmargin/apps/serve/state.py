"""The state of a model: its learner, the number of examples learned, and the errors of its predictions.

The same examples give the same state, to the last bit: a state is a snapshot plus the examples after it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from onmargin.apps.serve import schema
from onmargin.apps.serve.journal import Kept
from onmargin.apps.serve.json_learner import JsonLearner, Room
from onmargin.confidence import QuantileTracker
from onmargin.io import ModelFileError, load_with_notes, save

MOST_CELLS = 2500  # maximum number of cells of the confusion matrix
MOST_POINTS = 400  # maximum number of points of the curve
FOREIGN = ("features", "settings")  # notes of `onmargin train`, which `onmargin predict` needs

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

    def save(self, path: Path, kept: Kept) -> None:
        """Write a snapshot atomically; it includes the model and its number of rewinds."""
        notes = self.notes | {
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
            "corrected": self.corrected,
            "errors": list(self.errors),
        }
        if self.covering is not None:
            notes["covering"] = self.covering.numbers()
        save(self.learner.model, path, notes=notes)


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
        for name in ("rounds", "misses", "level", "unit"):
            setattr(made.tracker, name, numbers[name])
        made.size, made.sized = numbers["size"], int(numbers["sized"])
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


@dataclass
class Snapshot:
    """A loaded snapshot: a state, and the description of its model."""

    state: State
    rewinds: int
    name: str
    parameters: dict[str, Any]

    @classmethod
    def load(cls, path: Path, room: Room) -> "Snapshot | None":
        """Read a snapshot; None if it is damaged or missing."""
        try:
            model, notes = load_with_notes(path)
            state = State(JsonLearner(notes["task"], model, room), notes["seq"], notes["chain"], notes["skipped"])
            _read_notes(state, notes)
            return cls(state, notes["rewinds"], notes["name"], notes["parameters"])
        except (OSError, ModelFileError, KeyError, TypeError, ValueError):
            return None


def _read_notes(state: State, notes: Mapping[str, Any]) -> None:
    """Restore the notes of a snapshot."""
    state.curve = Curve(notes["stride"], [tuple(point) for point in notes["points"]])
    state.confusion = Counter({(y, prediction): count for y, prediction, count in notes["confusion"]})
    state.corrected = notes["corrected"]
    n, errors = notes["errors"]
    state.errors = n, errors
    if "covering" in notes:
        state.covering = Covering.of(state.learner.task, notes["covering"])
    state.notes = {name: notes[name] for name in FOREIGN if name in notes}
