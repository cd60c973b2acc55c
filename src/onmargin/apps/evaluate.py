"""How good predictions are, in memory that does not grow with the files."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

from onmargin.apps.chunk_learner import ChunkLearner
from onmargin.apps.chunks import Chunk
from onmargin.apps.failure import Failure
from onmargin.apps.loaded import examples, load_learner
from onmargin.apps.report import Report
from onmargin.apps.tasks import TARGETS

_SHOWN = 20  # classes of a confusion table, at most


class Measure(Protocol):
    """Takes in what is right and what was predicted, and says how good that is."""

    def add(self, y: Any, predicted: Any) -> None: ...

    def report(self) -> Report: ...


def evaluate(model: str, files: tuple[str, ...], format: str | None) -> Report:
    """What there is to say about a model's predictions on files."""
    learner, settings = load_learner(model)
    measure = _MEASURES[learner.task]()
    n_examples = 0
    for path, first, chunk in examples(files, settings, format, labels=learner.task != "novelty"):
        try:
            _add(measure, learner, chunk)
        except (TypeError, ValueError) as error:
            raise Failure(f"{path}, records {first} to {first + len(chunk) - 1}: {error}") from error
        n_examples += len(chunk)
    if not n_examples:
        raise Failure(f"there are no examples in {', '.join(files)}")
    return {"model": model, "task": learner.task, "examples": n_examples, **measure.report()}


def _add(measure: Measure, learner: ChunkLearner, chunk: Chunk) -> None:
    labels = chunk.y if chunk.y is not None else [None] * len(chunk)
    target = TARGETS[learner.task]
    # Numbers of an array become Python's, for equality and for JSON.
    labels = labels.tolist() if hasattr(labels, "tolist") else labels
    for y, predicted in zip(labels, learner.predict(chunk), strict=True):
        measure.add(target(y), predicted)


class Classes:
    """Accuracy, and what was taken for what."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[Any, Any]] = Counter()

    def add(self, y: Any, predicted: Any) -> None:
        self.pairs[y, predicted] += 1

    def report(self) -> Report:
        total = sum(self.pairs.values())
        right = sum(n for (y, predicted), n in self.pairs.items() if y == predicted)
        labels = sorted({label for pair in self.pairs for label in pair}, key=lambda label: (str(type(label)), label))
        report: Report = {"accuracy": right / total, "error": 1 - right / total}
        if len(labels) <= _SHOWN:
            report["confusion (row: right, column: predicted)"] = {
                str(y): {str(predicted): self.pairs[y, predicted] for predicted in labels} for y in labels
            }
        return report


class Ranks(Classes):
    """The same with the distance of ranks."""

    def report(self) -> Report:
        total = sum(self.pairs.values())
        distance = sum(n * abs(y - predicted) for (y, predicted), n in self.pairs.items())
        return {"mean absolute error": distance / total, **super().report()}


class Numbers:
    """Errors of numbers."""

    def __init__(self) -> None:
        self.n = 0
        self.absolute = self.squared = self.mean = self.spread = 0.0

    def add(self, y: float, predicted: float) -> None:
        error = y - predicted
        self.n += 1
        self.absolute += abs(error)
        self.squared += error * error
        # Welford: the sum of squares about the mean so far.
        away = y - self.mean
        self.mean += away / self.n
        self.spread += away * (y - self.mean)

    def report(self) -> Report:
        report: Report = {
            "mean absolute error": self.absolute / self.n,
            "root mean squared error": (self.squared / self.n) ** 0.5,
        }
        return report | ({"R squared": 1 - self.squared / self.spread} if self.spread > 0 else {})


class Sets:
    """Sets of labels: those that are right as a whole, and precision and recall of the labels."""

    def __init__(self) -> None:
        self.n = self.right = self.true = self.found = self.correct = 0

    def add(self, y: list[Any], predicted: Any) -> None:
        true, found = set(y), set(predicted)
        self.n += 1
        self.right += true == found
        self.true += len(true)
        self.found += len(found)
        self.correct += len(true & found)

    def report(self) -> Report:
        return {
            "sets right": self.right / self.n,
            "precision": self.correct / self.found if self.found else 0.0,
            "recall": self.correct / self.true if self.true else 0.0,
            "F1": 2 * self.correct / (self.true + self.found) if self.true + self.found else 0.0,
        }


class Novelties:
    """How many examples are outside; with labels 1 and -1 also how many of them should be."""

    def __init__(self) -> None:
        self.n = self.outside = 0

    def add(self, y: None, predicted: Any) -> None:
        self.n += 1
        self.outside += predicted == -1

    def report(self) -> Report:
        return {"outside": self.outside, "part outside": self.outside / self.n}


class Tags:
    """Tokens, sentences and spans; the labels are kept, the tokens are not."""

    def __init__(self) -> None:
        self.true: list[list[str]] = []
        self.predicted: list[list[str]] = []

    def add(self, y: list[str], predicted: list[str]) -> None:
        self.true.append(y)
        self.predicted.append(predicted)

    def report(self) -> Report:
        from onmargin.evaluate import tagging_report

        def table(parts: dict[Any, Any]) -> Report:
            return {
                str(name): {"there": m.true, "found": m.found, "precision": m.precision, "recall": m.recall, "F1": m.f1}
                for name, m in parts.items()
            }

        report = tagging_report(self.true, self.predicted, _scheme(self.true))
        total: Report = {
            "tokens": report.n_tokens,
            "accuracy": report.accuracy,
            "sequences right": report.sequence_accuracy,
        }
        if report.spans is None:
            return total | {"labels": table(report.labels)}
        return total | {
            "precision": report.precision,
            "recall": report.recall,
            "F1": report.f1,
            "spans": table(report.types),
        }


def _scheme(labels: list[list[str]]) -> str | None:
    """What labels mark: spans, if all are O or look like B-NP; nothing but themselves otherwise."""
    kinds = {label for row in labels for label in row} - {"O"}
    if not all(re.fullmatch(r"(?:B|I|E|S)-.+", label) for label in kinds):
        return None
    return "iobes" if any(label[0] in "ES" for label in kinds) else "bio"


_MEASURES: dict[str, Callable[[], Measure]] = {
    "classify": Classes,
    "regress": Numbers,
    "rank": Sets,
    "ordinal": Ranks,
    "novelty": Novelties,
    "tag": Tags,
}
