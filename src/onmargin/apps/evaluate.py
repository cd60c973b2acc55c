"""Evaluation of predictions on files, in constant memory where possible."""

import re
from array import array
from collections import Counter
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Protocol

from onmargin.apps.chunk_learner import SIZES, ChunkLearner
from onmargin.apps.chunks import Chunk
from onmargin.apps.failure import Failure
from onmargin.apps.loaded import examples, load_learner, read_recipes, warn
from onmargin.apps.predict import decided
from onmargin.apps.report import Report
from onmargin.apps.tasks import TARGETS
from onmargin.io.format import list_names

_SHOWN = 20  # maximum number of classes in a confusion table


class Measure(Protocol):
    """Protocol of measures, which accumulate targets and predictions and return a report."""

    def add(self, y: Any, predicted: Any, scores: Any) -> None: ...

    def report(self) -> Report: ...


def evaluate(
    model: str,
    files: tuple[str, ...],
    format: str | None,
    given: Mapping[str, Any],
    *,
    abstain: float | None = None,
    strict: bool = False,
) -> Report:
    """Return measures of a model's predictions on files; with `abstain`, also of decisions with that cost."""
    learner, recipe, _ = load_learner(model)
    measure = new_measure(learner)
    covered = None if learner.wrapper is None else Covered(learner)
    decisions = None if abstain is None else Decided(abstain)
    n_examples, n_labels, unknown = 0, 0, Counter[Any]()
    recipes = read_recipes(files, recipe, format, given)
    for path, first, chunk in examples(recipes, learner, recipe, labels=learner.task != "novelty", strict=strict):
        try:
            measure_chunk(measure, learner, chunk)
            targets = _targets(learner, chunk)
            if learner.task in _LABELS:
                labels = [label for y in targets for label in _LABELS[learner.task](y)]
                known = set(learner.model.classes_)
                n_labels += len(labels)
                unknown.update(label for label in labels if label not in known)
            if covered is not None:
                covered.add(targets, learner.covers(chunk))
            if decisions is not None:
                decisions.add(targets, learner.probabilities(chunk))
        except (TypeError, ValueError) as error:
            raise Failure(f"{path}, records {first} to {first + len(chunk) - 1}: {error}") from error
        n_examples += len(chunk)
    if n_labels and unknown.total() == n_labels:
        label = next(iter(unknown))
        warn(f"the model knows none of the labels, such as {label!r:.60}: are they in this column?", strict=strict)
    elif unknown:
        problem = f"{unknown.total()} of {n_labels} labels are unknown to the model, which cannot predict them"
        warn(f"{problem}: {list_names([*unknown], 5)}", strict=False)
    report = {"model": model, "task": learner.task, "examples": n_examples, **measure.report()}
    for more in (covered, decisions):
        report |= {} if more is None else more.report()
    return report


def new_measure(learner: ChunkLearner) -> Measure:
    """Return the measure for the task of a learner."""
    return _MEASURES[learner.task]()


def measure_chunk(measure: Measure, learner: ChunkLearner, chunk: Chunk) -> None:
    """Add the predictions for a chunk to a measure."""
    scores = learner.scores(chunk) if learner.task == "classify" else [None] * len(chunk)
    for y, predicted, score in zip(_targets(learner, chunk), learner.predict(chunk), scores, strict=True):
        measure.add(y, predicted, score)


def _targets(learner: ChunkLearner, chunk: Chunk) -> list[Any]:
    """Return the targets of a chunk in the form of the task."""
    labels = chunk.y if chunk.y is not None else [None] * len(chunk)
    # NumPy numbers become Python numbers, for comparison and for JSON.
    return [TARGETS[learner.task](y) for y in (labels.tolist() if hasattr(labels, "tolist") else labels)]


class Covered:
    """Coverage of prediction sets or intervals, with fixed thresholds from training."""

    def __init__(self, learner: ChunkLearner) -> None:
        self.asked = learner.saved.coverage
        self.name = SIZES[learner.task]
        self.n = self.hits = self.finite = 0
        self.size = 0.0

    def add(self, targets: list[Any], found: list[Any]) -> None:
        for y, one in zip(targets, found, strict=True):
            self.n += 1
            if isinstance(one, tuple):
                low, high = one
                self.hits += low <= y <= high
                size = high - low
            else:
                self.hits += {*y} <= {*one} if isinstance(y, list | set | tuple) else y in one
                size = len(one)
            self.finite += size < inf
            self.size += size if size < inf else 0

    def report(self) -> Report:
        size = self.size / self.finite if self.finite else None
        return {"asked_coverage": self.asked, "coverage": self.hits / self.n, self.name: size}


class Decided:
    """Cost of predicting the most likely class, or abstaining if the probability of a mistake exceeds its cost."""

    def __init__(self, cost: float) -> None:
        self.cost = cost
        self.n = self.abstained = self.mistakes = 0

    def add(self, targets: list[Any], chances: list[dict[Any, float]]) -> None:
        for y, one in zip(targets, chances, strict=True):
            label = decided(one, self.cost)
            self.n += 1
            self.abstained += label is None
            self.mistakes += label is not None and label != y

    def report(self) -> Report:
        given = self.n - self.abstained
        return {
            "abstained": self.abstained / self.n,
            "error_of_decided": self.mistakes / given if given else None,
            "mean_cost": (self.mistakes + self.cost * self.abstained) / self.n,
        }


class Classes:
    """Accuracy, precision, recall, F1, area under the ROC curve, and confusion matrix.

    With two classes the measures are those of the second class in sorted order; with more they are means over classes.
    The scores of all examples are kept for the ROC curve: 8 bytes each, for up to 20 classes.
    """

    def __init__(self) -> None:
        self.pairs: Counter[tuple[Any, Any]] = Counter()
        self.true: list[Any] = []
        self.scores: dict[Any, array[float]] = {}

    def add(self, y: Any, predicted: Any, scores: Mapping[Any, float] | None) -> None:
        self.pairs[y, predicted] += 1
        if scores is not None and len(scores) <= _SHOWN:
            self.true.append(y)
            for label, score in scores.items():
                self.scores.setdefault(label, array("d")).append(score)

    def report(self) -> Report:
        total = sum(self.pairs.values())
        right = sum(n for (y, predicted), n in self.pairs.items() if y == predicted)
        labels = sorted({label for pair in self.pairs for label in pair}, key=lambda label: (str(type(label)), label))
        classes = {label: self._of_class(label) for label in labels}
        chosen = [classes[labels[-1]]] if len(labels) == 2 else list(classes.values())
        report: Report = {"accuracy": right / total, "error": 1 - right / total}
        if len(labels) == 2:
            report["positive_class"] = labels[1]
        report |= {name: sum(one[name] for one in chosen) / len(chosen) for name in ("precision", "recall", "f1")}
        if (area := self._area(labels)) is not None:
            report["auc"] = area
        if len(labels) <= _SHOWN:
            report["per_class"] = {str(label): one for label, one in classes.items()}
            report["confusion"] = {
                str(y): {str(predicted): self.pairs[y, predicted] for predicted in labels} for y in labels
            }
        return report

    def _of_class(self, label: Any) -> dict[str, Any]:
        hits = self.pairs[label, label]
        true = sum(n for (y, _), n in self.pairs.items() if y == label)
        found = sum(n for (_, predicted), n in self.pairs.items() if predicted == label)
        return {
            "precision": hits / found if found else 0.0,
            "recall": hits / true if true else 0.0,
            "f1": 2 * hits / (true + found) if true + found else 0.0,
            "examples": true,
        }

    def _area(self, labels: list[Any]) -> float | None:
        """Return the area under the ROC curve of the second class, or the one-vs-rest mean over classes."""
        if any(len(scores) != len(self.true) for scores in self.scores.values()):
            return None
        wanted = labels[-1:] if len(labels) == 2 else labels
        areas = [_area_under_curve([y == label for y in self.true], self.scores.get(label)) for label in wanted]
        known = [area for area in areas if area is not None]
        return sum(known) / len(known) if known else None


def _area_under_curve(true: list[bool], scores: "array[float] | None") -> float | None:
    """Return the probability that an example of the class has a higher score than another; ties count one half."""
    import numpy as np

    positive = np.array(true, bool)
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    if scores is None or not n_positive or not n_negative:
        return None
    _, ranks, counts = np.unique(np.array(scores), return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    return float((middle[ranks[positive]].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


class Ranks(Classes):
    """Measures of classes, plus the mean distance of ranks."""

    def report(self) -> Report:
        total = sum(self.pairs.values())
        distance = sum(n * abs(y - predicted) for (y, predicted), n in self.pairs.items())
        return {"mae": distance / total, **super().report()}


class Numbers:
    """Regression errors."""

    def __init__(self) -> None:
        self.n = 0
        self.absolute = self.squared = self.mean = self.spread = 0.0

    def add(self, y: float, predicted: float, scores: None) -> None:
        error = y - predicted
        self.n += 1
        self.absolute += abs(error)
        self.squared += error * error
        # Welford's algorithm: the sum of squares about the running mean.
        away = y - self.mean
        self.mean += away / self.n
        self.spread += away * (y - self.mean)

    def report(self) -> Report:
        report: Report = {
            "mae": self.absolute / self.n,
            "rmse": (self.squared / self.n) ** 0.5,
        }
        return report | ({"r2": 1 - self.squared / self.spread} if self.spread > 0 else {})


class Sets:
    """Measures of label sets: exact matches, and precision and recall of the labels."""

    def __init__(self) -> None:
        self.n = self.right = self.true = self.found = self.correct = 0

    def add(self, y: list[Any], predicted: Any, scores: None) -> None:
        true, found = set(y), set(predicted)
        self.n += 1
        self.right += true == found
        self.true += len(true)
        self.found += len(found)
        self.correct += len(true & found)

    def report(self) -> Report:
        return {
            "exact_match": self.right / self.n,
            "precision": self.correct / self.found if self.found else 0.0,
            "recall": self.correct / self.true if self.true else 0.0,
            "f1": 2 * self.correct / (self.true + self.found) if self.true + self.found else 0.0,
        }


class Novelties:
    """Number and share of the examples that are outside (novelties)."""

    def __init__(self) -> None:
        self.n = self.outside = 0

    def add(self, y: None, predicted: Any, scores: None) -> None:
        self.n += 1
        self.outside += predicted == -1

    def report(self) -> Report:
        return {"outside": self.outside, "outside_share": self.outside / self.n}


class Tags:
    """Measures of tokens, sentences and spans; the labels are kept in memory, the tokens are not."""

    def __init__(self) -> None:
        self.true: list[list[str]] = []
        self.predicted: list[list[str]] = []

    def add(self, y: list[str], predicted: list[str], scores: None) -> None:
        self.true.append(y)
        self.predicted.append(predicted)

    def report(self) -> Report:
        from onmargin.evaluate import tagging_report

        def table(parts: dict[Any, Any]) -> Report:
            return {
                str(name): {
                    "examples": m.true,
                    "found": m.found,
                    "precision": m.precision,
                    "recall": m.recall,
                    "f1": m.f1,
                }
                for name, m in parts.items()
            }

        report = tagging_report(self.true, self.predicted, _scheme(self.true + self.predicted))
        total: Report = {
            "tokens": report.n_tokens,
            "accuracy": report.accuracy,
            "sequence_accuracy": report.sequence_accuracy,
        }
        if report.spans is None:
            return total | {"labels": table(report.labels)}
        return total | {
            "precision": report.precision,
            "recall": report.recall,
            "f1": report.f1,
            "spans": table(report.types),
        }


def _scheme(labels: list[list[str]]) -> str | None:
    """Return the span scheme of labels, if all are O or look like B-NP; otherwise None."""
    kinds = {label for row in labels for label in row} - {"O"}
    if not all(re.fullmatch(r"(?:B|I|E|S)-.+", label) for label in kinds):
        return None
    return "iobes" if any(label[0] in "ES" for label in kinds) else "bio"


# The labels in a target, for tasks whose models predict labels of the training data.
_LABELS: dict[str, Callable[[Any], list[Any]]] = {"classify": lambda y: [y], "rank": list, "tag": list}

_MEASURES: dict[str, Callable[[], Measure]] = {
    "classify": Classes,
    "regress": Numbers,
    "rank": Sets,
    "ordinal": Ranks,
    "novelty": Novelties,
    "tag": Tags,
}
