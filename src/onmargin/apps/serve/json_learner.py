"""Learner of JSON examples, which are checked before they are learned; its size is limited."""

from collections.abc import Callable, Generator
from copy import deepcopy
from dataclasses import dataclass
from math import inf, isqrt
from reprlib import repr as shown  # shortens long values
from typing import Any

import numpy as np

from onmargin.apps.learners import is_fitted, learner_class, make_learner, n_features, usual_learner
from onmargin.apps.serve.costs import Costs
from onmargin.apps.serve.problems import BadExampleError, ConflictError, ProblemError
from onmargin.apps.serve.schema import Example, Expert
from onmargin.apps.serve.slices import at_once
from onmargin.learner import is_predict_only

LARGEST = 1e100  # largest number in names, as for other numbers
MOST_COLUMNS = 10_000  # features of a model whose columns are compared with those of a table
MOST_TOKEN_FEATURES = 200_000  # features of a sequence whose tokens have columns
SINGLE = 1e15  # largest number for weights in single precision


@dataclass(frozen=True)
class Room:
    """Limits on the size of a model."""

    features: int = 2**20
    classes: int = 1000
    weights: int = 2**25


def read(task: str, x: Any) -> Any:
    """Convert an example for the model of a task: a list of numbers is a vector, one of lists or dicts a sequence."""
    if task == "tag":
        # A model whose tokens have one column takes words; others refuse them.
        if not (isinstance(x, list) and set(map(type, x)) <= {list, dict, str}):
            raise TypeError(f"x must be a list of tokens, each a dict or a list of names; got {shown(x)}")
    elif isinstance(x, list) and x and set(map(type, x)) <= {list, dict}:
        raise TypeError(f"x must be a dict, a list of numbers or of names, or a text; got {shown(x)}")
    elif isinstance(x, list) and any(isinstance(part, float) for part in x):
        if not all(isinstance(part, float) for part in x):
            raise TypeError(f"a vector has numbers only, and a list of names strings only; got {shown(x)}")
        return np.array(x)
    return x


# The labels in the target of an example, for tasks that add new labels during learning.
LABELS: dict[str, Callable[[Any], set[Any]]] = {"classify": lambda y: {y}, "rank": set, "tag": set}


def _python(value: Any) -> Any:
    """Convert a JSON parameter to Python: sequences become tuples, and "inf" becomes infinity."""
    if isinstance(value, list):
        return tuple(map(_python, value))
    return inf if value == "inf" else value


class NotYetError(Exception):
    """Whether examples can be learned is not known until the examples before them are learned."""


class JsonLearner:
    """Learner of JSON examples, with memory limited by `room`.

    `check` refuses whatever `learn` would refuse, without learning, so it applies to the current model. If it returns
    True, the examples must be learned before others are checked. If it raises `NotYetError`, the examples checked
    before must be learned first. `checked` examples are checked but not yet learned, and `promised` is the maximum
    number of names that they may add; a caller that drops them calls `forget_checked`.
    """

    def __init__(self, task: str, model: Any, room: Room) -> None:
        self.task = task
        self.model = model
        self.room = room
        self.reading = model.features_  # how examples are read, or the tokens of sequences
        self._window = model.window if task == "tag" else None  # features of tokens that have columns
        self._convert = self.reading.converter()
        self.forget_checked()
        self.costs = Costs(self)
        self.begun = is_fitted(model)
        self.classes: list[Any] = []
        self._known: set[Any] = set()
        self._named: bool | None = None  # whether features are identified by stored names, once that is known
        self._meet_classes()
        self._n_models = 0  # 0 until the model has learned something
        self._safe = (-1, 0)  # a number of labels, and the features up to which examples need not be counted singly

    @classmethod
    def begin(cls, model: str | None, task: str | None, parameters: dict[str, Any], room: Room) -> "JsonLearner":
        """Create an untrained learner by name, or the default learner of a task."""
        given = {name: _python(value) for name, value in parameters.items()}
        try:
            made = make_learner(learner_class(model or usual_learner(task or "classify", given), task), given)
        except (TypeError, ValueError) as error:
            raise ProblemError(str(error), 422) from error
        learner = cls(made.task, made, room)
        size, most = int(learner.reading.n_features or 1), room.weights // learner.n_models
        if size > most:
            raise ProblemError(f"n_features must be at most {most} here; got {size}", 422)
        if learner.reading.n_features and learner.task != "tag" and made.matrix_size(size) > room.weights:
            most = isqrt(room.weights)
            raise ProblemError(f"n_features must be at most {most} for {type(made).__name__}; got {size}", 422)
        return learner

    def forget_checked(self) -> None:
        """Count examples that are checked but not yet learned from zero."""
        self.checked = self.promised = 0

    def _meet_classes(self) -> None:
        """Take over the labels of the model, if there are new ones."""
        found = getattr(self.model, "classes_", ())
        if len(found) != len(self.classes):
            self.classes = found.tolist() if isinstance(found, np.ndarray) else list(found)
            self._known = set(self.classes)

    @property
    def predict_only(self) -> bool:
        """Whether the model cannot learn."""
        return self.begun and is_predict_only(self.model)

    @property
    def n_models(self) -> int:
        """Number of models trained side by side; vectors may have more than the names that are expected before."""
        if self._n_models:
            return self._n_models
        count = max(1, len(self.model.models_))
        if self.begun:
            self._n_models = count
        return count

    def sample(self) -> Example:
        """Return an example that a trained model can learn."""
        label = next(iter(self.classes), "a")
        y = {"classify": label, "ordinal": label, "rank": [label], "tag": [label], "regress": 0.0}.get(self.task)
        if self.task == "tag":
            window = self.model.window
            return Example([["a"] * (1 if window is None else len(window.columns))], y)
        try:
            self.model.predict_one({"a": 1.0})
        except (TypeError, ValueError):
            return Example([1.0] * self.features, y)
        return Example({"a": 1.0}, y)

    @property
    def features(self) -> int:
        return n_features(self.model)

    def experts(self) -> list[Expert]:
        """State of the models trained side by side, if there are several."""
        return [Expert(*one) for one in self.model.model_outcomes_] if self.begun else []

    def check(self, examples: list[Example]) -> bool:
        """Refuse examples that cannot all be learned; return whether they must be learned before others are checked."""
        return at_once(self.checking(examples))

    def checking(self, examples: list[Example]) -> Generator[None, None, bool]:
        """Check examples as `check` does, and yield after each."""
        if not self.begun or (self.task in LABELS and not self.classes):
            yield from self._rehearse(examples)
            return True
        if self.predict_only:
            raise ConflictError(
                "this model can only predict: its file was saved with predict_only=True. Upload a file of the model "
                "that was saved without it"
            )
        met: set[Any] = set()
        for k, example in enumerate(examples):
            try:
                met |= self._check(example)
            except (TypeError, ValueError) as error:
                raise BadExampleError(f"example {k}: {error}") from error
            yield
        new = met - self._known
        close = self._check_room(examples, len(new))
        return bool(new) or close

    def _check(self, example: Example) -> set[Any]:
        """Refuse an example that a trained model cannot learn; return its labels, if the task adds labels."""
        self._check_numbers(example)
        self._check_costs(example, self.checked)
        self.checked += 1
        x = read(self.task, example.x)
        self.model.check_one(x, example.y, example.weight)
        if self.task == "tag":
            self.answer(x)  # predicting takes about as long as learning, and the time of a check is limited
        if self.reading.separator is not None and isinstance(x, list):
            self._check_written(x if self.task == "tag" else [x])
        return LABELS[self.task](example.y) if self.task in LABELS else set()

    def _check_costs(self, example: Example, before: int = 0) -> None:
        """Refuse an example that is too large to be kept, or to be learned after `before` others."""
        x = self.expand(example.x)
        self.costs.check_lengths(x, example.y)
        self.costs.check_learning(x, before)

    def _check_numbers(self, example: Example) -> None:
        if self.task == "tag" and example.weight == 0:
            raise ValueError("the weight of a sequence must be positive; got 0")
        if self.reading.dtype == "float32":
            x: Any = example.x.values() if isinstance(example.x, dict) else example.x
            for value in (*x, example.y):
                if isinstance(value, float) and abs(value) > SINGLE:
                    raise ValueError(f"numbers are at most {SINGLE:g} where weights are float32; got {value!r}")

    def _rehearse(self, examples: list[Example]) -> Generator[None, None, None]:
        """Learn examples on a copy, which is small because the model is still untrained."""
        copy = JsonLearner(self.task, deepcopy(self.model), self.room)
        for k, example in enumerate(examples):
            try:
                self._check_numbers(example)
                copy._check_costs(example)
                copy.learn(example)
                if copy.begun:
                    copy._check(example)
            except (TypeError, ValueError) as error:
                raise BadExampleError(f"example {k}: {error}") from error
            yield
        copy._check_size(copy.features, len(copy.classes))

    def _check_room(self, examples: list[Example], n_new: int) -> bool:
        """Refuse examples that would make the model too large; return whether it comes close to the limit."""
        columns = len(self.classes) + n_new
        most = sum(self._most(example.x) for example in examples)
        self.costs.check_supports(len(examples), most, self.room.weights)
        if n_new:
            self._check_size(self.features, columns)
        if not self.named:
            return False
        if self._safe[0] != columns:
            limit = min(self.room.features, self.room.weights // (self.n_models * max(1, columns)))
            if self.task != "tag" and self.model.matrix_size(limit) > 0:
                limit = min(limit, isqrt(self.room.weights) // (2 * self.n_models))
            self._safe = columns, limit
        if self.features + self.promised + most <= self._safe[1]:
            self.promised += most
            return False
        if self.promised:
            raise NotYetError
        names = {name for example in examples for name in self.model.names_one(read(self.task, example.x))}
        n_names = sum(not self.model.knows(name) for name in names)
        if n_names:
            self._check_size(self.features + n_names, columns)
        return True

    def check_size(self) -> None:
        """Refuse a model that is too large."""
        try:
            self._check_size(self.features, len(self.classes))
        except BadExampleError as error:
            raise ProblemError(str(error).replace("would have", "has"), 422) from error

    def _check_size(self, features: int, columns: int) -> None:
        room = self.room
        if columns > room.classes:
            raise BadExampleError(f"the model would have {columns} labels, and {room.classes} are allowed here")
        if self.named and features > room.features:
            raise BadExampleError(
                f"the model would have {features} names of features, and {room.features} are allowed here: create it "
                'with "n_features": a power of two to hash them'
            )
        weights = features * max(1, columns) * self.n_models
        if weights > room.weights:
            several = f" of {self.n_models} models" if self.n_models > 1 else ""
            raise BadExampleError(
                f"the model would have {features} features for each of {columns} labels{several}, and {room.weights} "
                'weights are allowed here: create it with a smaller "n_features"'
            )
        matrices = 0 if self.task == "tag" else self.model.matrix_size(features)
        if weights + matrices > room.weights:
            raise BadExampleError(
                f"the model would have matrices of {matrices} numbers for {features} features, and {room.weights} are "
                'allowed here: create it with "experts": "linear", or with a learner that keeps no matrices'
            )

    @property
    def named(self) -> bool:
        """Whether features are identified by stored names."""
        if self._named is None:
            if self.task == "tag" or not self.begun:
                return True
            self._named = self.reading.n_features is None and self.model.feature_names_ is not None
        return self._named

    def expand(self, x: Any) -> Any:
        """Return the features that the model makes of the columns of an example; other examples are unchanged."""
        try:
            if self._window is not None and isinstance(x, list):
                templates = len(self._window.all_templates) + 2
                if len(x) * templates > MOST_TOKEN_FEATURES:
                    most = MOST_TOKEN_FEATURES // templates
                    raise ValueError(f"a sequence must have at most {most} tokens here; got {len(x)}")
                return self._window(x)
            if self._convert is None or not isinstance(x, dict):
                return x
            for name in (self.reading.text,) if isinstance(self.reading.text, str) else self.reading.text:
                self.costs.check(str(x.get(name, "")))
            return self._convert(x)
        except (TypeError, ValueError) as error:
            raise BadExampleError(str(error)) from error

    def _most(self, x: Any) -> int:
        """Return the maximum number of names in an example."""
        x = self.expand(x)
        if isinstance(x, str):
            shortest, longest = self.reading.ngrams
            return (len(x) + 1) // 2 * int(longest - shortest + 1)
        return sum(map(len, x)) if self.task == "tag" else len(x)

    def _check_written(self, lists: list[Any]) -> None:
        """Refuse numbers within names that are too large."""
        largest = SINGLE if self.reading.dtype == "float32" else LARGEST
        for names in lists:
            written = [name for name in names if self.reading.separator in name]
            if written and any(abs(value) > largest for value in self.reading.read(written).values()):
                raise ValueError(f"numbers are at most {largest:g}; got {written!r:.100}")

    def answer(self, x: Any) -> Any:
        """Return the prediction for a converted example, or None if nothing was learned yet."""
        if not self.begun:
            return None
        if self.task == "rank":
            return sorted(self.model.predict_one(x)) if self.model.calibrate else self.model.rank_one(x)
        return self.model.predict_one(x)

    def predict(self, x: Any) -> Any:
        """Return the prediction for an example; one that cannot be read is refused."""
        try:
            return self.answer(read(self.task, x))
        except (TypeError, ValueError) as error:
            raise BadExampleError(str(error)) from error

    def check_kept(self, x: Any) -> None:
        """Refuse an example that could not be learned later."""
        try:
            x = self.expand(x)
            self.costs.check_lengths(x, None)
            self.costs.check(x)
        except (TypeError, ValueError) as error:
            raise BadExampleError(str(error)) from error

    def scores(self, x: Any) -> Any:
        """Return scores as pairs with labels, or a single number; None for sequences."""
        if self.task == "tag" or not self.begun:
            return None
        scores = self.model.scores_one(read(self.task, x))
        return list(scores.items()) if isinstance(scores, dict) else scores

    def probabilities(self, x: Any) -> list[tuple[Any, float]]:
        """Return pairs of classes and probabilities; empty if nothing was learned yet."""
        if self.task != "classify":
            raise BadExampleError(f"probabilities are those of classes, and the task is {self.task!r}")
        return list(self.model.predict_proba_one(read(self.task, x)).items()) if self.begun else []

    def learn(self, example: Example) -> Any:
        """Learn an example, and return the prediction before."""
        self.forget_checked()
        x = read(self.task, example.x)
        prediction = self.answer(x)
        if self.task == "tag":
            self.model.partial_fit([x], [example.y], sample_weight=[example.weight])
        else:
            self.model.learn_one(x, example.y, example.weight)
        self.begun = self.begun or is_fitted(self.model)
        self._meet_classes()
        return prediction

    def lacking(self, columns: list[str]) -> list[str]:
        """Return the columns that the model has learned from and a table lacks; none for a model of many features."""
        if self.task == "tag" or not self.begun or self.features > MOST_COLUMNS:
            return []
        return list(self.model.missing_columns(columns))

    def explain(self, x: Any, label: Any, top: int) -> tuple[Any, float | None, dict[Any, float]]:
        """Return a label, its intercept and the contribution of each feature to its score."""
        if self.task == "tag":
            raise ProblemError("sequences have no explanation; request the weights of a label", 422)
        if not self.begun:
            return label, 0.0, {}
        try:
            self.costs.check(self.expand(x))
            x = read(self.task, x)
            if label is None and self.task == "rank":
                label = next(iter(self.model.rank_one(x)), None)
            elif label is None and self.task == "classify":
                label = self.model.predict_one(x)
            parts = self.model.explain(x, label, top=top)
            return label, None if self.task == "novelty" else self.model.intercept(label), dict(parts)
        except (TypeError, ValueError) as error:
            raise BadExampleError(str(error)) from error

    def weights(self, label: Any, top: int) -> dict[Any, float]:
        """Return the heaviest features of a label."""
        if not self.begun:
            return {}
        try:
            return dict(self.model.weights(label, top=top))
        except (TypeError, ValueError) as error:
            raise ProblemError(str(error), 422) from error
