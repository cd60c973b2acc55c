"""What can be learned: the model of each task, what its labels must be, and what it says of itself."""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import click

from onmargin.apps.chunks import Chunk
from onmargin.apps.failure import Failure
from onmargin.apps.formats import Settings
from onmargin.errors import ExampleError, ParameterError
from onmargin.io.sharding import Batch
from onmargin.io.svmlight import SparseRows

Notes = dict[str, Any]


def whole(label: Any) -> Any:
    """A whole number as an integer: files often have 1.0 or 1 where they mean a name."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _class(label: Any) -> Any:
    if label is None or isinstance(label, list | tuple):
        raise ValueError(f"a label is a string or a whole number; got {label!r:.60}")
    if isinstance(label, float) and not label.is_integer():
        raise ValueError(f"labels are names or whole numbers; got {label!r}. For real numbers say --task regress")
    return whole(label)


def _number(label: Any) -> float:
    if isinstance(label, bool) or not isinstance(label, int | float):
        raise ValueError(f"a target is a number; got {label!r:.60}. For names say --task classify")
    return float(label)


def _set(labels: Any) -> list[Any]:
    if not isinstance(labels, list | tuple):
        raise ValueError(f"labels to rank are a list; got {labels!r:.60}. For one label say --task classify")
    return [whole(label) for label in labels]


@dataclass(frozen=True)
class Kind:
    """A task: the class of its model in `onmargin.stream`, what a label must be, and what its error is called."""

    model: str
    target: Callable[[Any], Any]
    error: str = "error"


KINDS = {
    "classify": Kind("PassiveAggressiveClassifier", _class),
    "regress": Kind("PassiveAggressiveRegressor", _number, "loss"),
    "rank": Kind("LabelRanker", _set),
    "ordinal": Kind("OrdinalRegressor", _class),
    "novelty": Kind("PassiveAggressiveUniclass", lambda label: None, "loss"),
}

AUTO = ("classify", "regress")  # with experts


def guess_task(chunk: Chunk, settings: Settings) -> str:
    """By the labels of the first examples."""
    if settings.kind == "sequences":
        return "tag"
    if isinstance(chunk.X, SparseRows) and not settings.multilabel:
        return "regress" if (chunk.y % 1).any() else "classify"
    labels = [] if chunk.y is None else list(chunk.y)
    if not labels or all(label is None for label in labels):
        raise Failure("the examples have no labels: say --task novelty to learn what is usual, or name the --label")
    if any(isinstance(label, list | tuple) for label in labels):
        return "rank"
    if all(isinstance(label, int | float) for label in labels) and not all(float(y).is_integer() for y in labels):
        return "regress"
    return "classify"


def begin(task: str, settings: Settings, parameters: dict[str, Any]) -> "Pupil":
    """A new model for a task, and for examples that are read as `settings` say."""
    if (task == "tag") != (settings.kind == "sequences"):
        raise Failure(f"--task {task} does not go with {settings.format} files")
    parameters = dict(parameters)
    bits = parameters.pop("hash", None)
    if bits is not None:
        if settings.kind != "records":
            raise click.UsageError(
                f"--hash is for features with names; those of {settings.format} files are kept apart"
            )
        parameters["n_features"] = 2**bits
    try:
        kind = model_class(task, auto=parameters.pop("auto", False))
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if settings.kind == "rows" and task != "novelty":
        parameters.setdefault("dtype", settings.dtype)
    if task == "ordinal" and "ranks" not in parameters:
        raise click.UsageError("--task ordinal needs the ranks from low to high, such as --set 'ranks=[1, 2, 3]'")
    try:
        model = made(kind, parameters)
    except (TypeError, ValueError) as error:
        # The advice of a ParameterError is for callers from Python.
        raise click.UsageError(error.problem if isinstance(error, ParameterError) else str(error)) from error
    return Pupil(task, model, _features(settings))


def made(kind: Any, parameters: dict[str, Any]) -> Any:
    """Make a learner; parameters of how records are read stand beside its own."""
    names = [name for name in signature(kind).parameters if name != "features"]
    reading = []
    if "features" in signature(kind).parameters:
        from onmargin.features.records import RecordFeatures

        reading = list(signature(RecordFeatures).parameters)
    unknown = sorted(parameters.keys() - {*names, *reading})
    if unknown:
        accepted = ", ".join([*names, *reading])
        raise ParameterError(f"{kind.__name__} has no parameter {' or '.join(unknown)}; it has {accepted}", unknown)
    given = {name: value for name, value in parameters.items() if name in names}
    if reading:
        given["features"] = RecordFeatures(**{name: parameters[name] for name in reading if name in parameters})
    model = kind(**given)
    model._check_parameters()
    return model


def model_class(task: str, *, auto: bool = False) -> Any:
    """The class of a task's model, or of the one that chooses for itself."""
    if auto and task not in AUTO:
        raise ValueError(f"there are experts for {' and '.join(AUTO)} only; got {task}")
    if task == "tag":
        from onmargin import SequenceTagger

        return SequenceTagger
    from onmargin import stream

    return getattr(stream, KINDS[task].model.replace("PassiveAggressive", "Auto") if auto else KINDS[task].model)


def _features(settings: Settings) -> Notes:
    """The templates that make features of tokens in columns."""
    if settings.format not in {"conll", "conllu"}:
        if settings.templates:
            raise click.UsageError(f"--template is for tokens in columns; {settings.format} files have none")
        return {}
    from onmargin.features.window import CHUNKING, WindowFeatures

    n = max(1, settings.columns)
    columns = ["w", "pos", *(f"c{k}" for k in range(2, n))][:n]
    templates = list(settings.templates) or [t for t in CHUNKING if n > 1 or "pos" not in t]
    try:
        WindowFeatures(columns, templates)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--template") from error
    return {"columns": columns, "templates": templates}


def leading(model: Any) -> str | None:
    """Which of several models has lost least so far, if there are several."""
    standing = getattr(model, "experts_", None) or getattr(model, "sweep_", None)
    return None if standing is None else standing.names[standing.leader]


def n_features(model: Any) -> int:
    """How many features a model knows."""
    names = ("n_features_", "n_features_in_")
    return next((int(getattr(model, name)) for name in names if hasattr(model, name)), 0)


class Pupil:
    """A model that learns chunks of examples for a task."""

    def __init__(self, task: str, model: Any, features: Notes) -> None:
        self.task = task
        self.model = model
        self.features = features
        self._tokens: Callable[[Any], Any] = list
        if features:
            from onmargin.features.window import WindowFeatures

            window = WindowFeatures(features["columns"], features["templates"])
            self._tokens = lambda x: window([tuple(t.values()) if isinstance(t, dict) else t for t in x])

    @property
    def n_examples(self) -> int:
        return int(self.model.totals_.rounds) if hasattr(self.model, "_learner") else 0

    def learn(self, chunk: Chunk) -> None:
        """Learn examples in turn; an `ExampleError` names the first one refused, and those before it are learned."""
        if self.task == "tag":
            self._learn_sequences(chunk)
        elif isinstance(chunk.X, SparseRows):
            self._learn_many(chunk.X, self._row_labels(chunk), None)
        else:
            self._learn_records(chunk)

    def _learn_records(self, chunk: Chunk) -> None:
        labels = [None] * len(chunk) if chunk.y is None else chunk.y
        targets: list[Any] = []
        problem = None
        try:
            # Strings are names of classes as they are.
            classes = self.task == "classify" and set(map(type, labels)) == {str}
            targets.extend(labels if classes else map(KINDS[self.task].target, labels))
        except ValueError as error:
            problem = error
        n = len(targets)
        self._learn_many(chunk.X[:n], targets, None if chunk.weights is None else chunk.weights[:n])
        if problem is not None:
            raise ExampleError(str(problem), n) from problem

    def batch(self, chunk: Chunk) -> Batch:
        """Examples as the model takes them, all at once."""
        if isinstance(chunk.X, SparseRows):
            return Batch(chunk.X, self._row_labels(chunk))
        if self.task == "tag":
            return Batch([self._tokens(x) for x in chunk.X], chunk.y)
        target = KINDS[self.task].target
        return Batch(chunk.X, None if chunk.y is None else [target(y) for y in chunk.y], chunk.weights)

    def _row_labels(self, chunk: Chunk) -> Any:
        whole = self.task in {"classify", "ordinal"} and not (chunk.y % 1).any()
        return chunk.y.astype("int64") if whole else chunk.y

    def _learn_many(self, X: Any, y: Any, weights: Any) -> None:
        try:
            self.model.learn_many(X, y, weights)
        except ExampleError:
            raise
        except (TypeError, ValueError) as error:
            # The error is about all examples of the chunk at once, and none of them is learned.
            raise ExampleError(str(error), 0) from error

    def _learn_sequences(self, chunk: Chunk) -> None:
        labels = [None] * len(chunk) if chunk.y is None else chunk.y
        for k, (x, y) in enumerate(zip(chunk.X, labels, strict=True)):
            try:
                self.model.partial_fit([self._tokens(x)], [y])
            except (TypeError, ValueError) as error:
                raise ExampleError(str(error), k) from error

    def predict(self, chunk: Chunk) -> list[Any]:
        """What is predicted: a label, a number, a tuple of labels, or a list of those of a sequence."""
        if self.task == "tag":
            return list(self.model.predict([self._tokens(x) for x in chunk.X]))
        predicted = self.model.predict_many(self._examples(chunk.X))
        return [tuple(sorted(labels)) for labels in predicted] if self.task == "rank" else list(predicted)

    def scores(self, chunk: Chunk) -> list[Any]:
        """Scores by label, or how far inside the usual; None where a prediction is all there is."""
        if self.task in {"regress", "tag"}:
            return [None] * len(chunk)
        X = self._examples(chunk.X)
        singles = [X.part(k, k + 1) for k in range(len(chunk))] if isinstance(X, SparseRows) else X
        return [self.model.scores_one(x) for x in singles]

    def _examples(self, X: Any) -> Any:
        """Features that were never learned count for nothing."""
        return X.fitted(self.model.n_features_) if isinstance(X, SparseRows) else X

    def measure(self) -> str:
        """How good the predictions were, each before its example was learned."""
        totals = self.model.totals_
        rounds = max(1, totals.rounds)
        if self.task in {"regress", "novelty"}:
            return f"mean loss {totals.loss / rounds:.4g}"
        return f"error {totals.mistakes / rounds:.2%}"

    def summary(self) -> dict[str, Any]:
        """What was learned, for a report."""
        totals = self.model.totals_
        rounds = max(1, totals.rounds)
        classes = list(getattr(self.model, "classes_", []))
        leader = leading(self.model)
        return {
            "examples": totals.rounds,
            **({} if leader is None else {"leading model": leader}),
            **({"classes": len(classes)} if classes else {}),
            "features": n_features(self.model),
            "updates": totals.updates,
            **({} if self.task in {"regress", "novelty"} else {"progressive error": totals.mistakes / rounds}),
            "progressive loss": totals.loss / rounds,
        }
