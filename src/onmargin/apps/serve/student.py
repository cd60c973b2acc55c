"""A model that is taught in JSON: what it takes, checked without learning, and what it answers."""

from collections.abc import Callable, Generator, Iterable
from copy import deepcopy
from dataclasses import dataclass
from math import inf
from reprlib import repr as shown  # of something that may be long
from typing import Any

import numpy as np

from onmargin._core.several.tasks import Several
from onmargin._core.text.names import Names
from onmargin._core.text.reader import Reader
from onmargin.apps.serve.costs import Costs
from onmargin.apps.serve.problems import BadExampleError, ProblemError
from onmargin.apps.serve.schema import Example, Expert
from onmargin.apps.serve.slices import at_once
from onmargin.apps.tasks import made, model_class, n_features
from onmargin.stream._labels import check_label

LARGEST = 1e100  # of numbers, as for those that are not written in names
SINGLE = 1e15  # the same where weights have single precision


@dataclass(frozen=True)
class Room:
    """How large a model may become."""

    features: int = 2**20
    classes: int = 1000
    weights: int = 2**25


def read(task: str, x: Any) -> Any:
    """An example as the model of a task takes it: a list of numbers is a vector, one of lists or dicts a sequence."""
    sequence = isinstance(x, list) and set(map(type, x)) <= {list, dict}
    if task == "tag":
        if not sequence:
            raise TypeError(f"x must be a list of tokens, each a dict or a list of names; got {shown(x)}")
    elif sequence and x:
        raise TypeError(f"x must be a dict, a list of numbers or of names, or a text; got {shown(x)}")
    elif isinstance(x, list) and any(isinstance(part, float) for part in x):
        if not all(isinstance(part, float) for part in x):
            raise TypeError(f"a vector has numbers only, and a list of names strings only; got {shown(x)}")
        return np.array(x)
    return x


def _class(model: Any, y: Any) -> set[Any]:
    return {check_label(y, model.classes_)}


def _rank(model: Any, y: Any) -> set[Any]:
    if isinstance(y, list) or y not in model.ranks:
        raise ValueError(f"y must be one of the ranks {list(model.ranks)!r:.200}; got {y!r:.100}")
    return set()


def _number(model: Any, y: Any) -> set[Any]:
    if not isinstance(y, int | float):
        raise TypeError(f"y must be a number; got {y!r:.100}")
    return set()


def _labels(model: Any, y: Any) -> set[Any]:
    return set(model._check_target(y))


def _tags(model: Any, y: Any) -> set[Any]:
    if not isinstance(y, list):
        raise TypeError(f"y must be a list of labels, one for each token; got {y!r:.100}")
    known = list(model._codes)[:1]
    return {check_label(label, known) for label in y}


# The labels of a target, which is refused if a model that has begun could not learn it.
TARGETS: dict[str, Callable[[Any, Any], set[Any]]] = {
    "classify": _class,
    "regress": _number,
    "rank": _labels,
    "ordinal": _rank,
    "novelty": lambda model, y: set(),
    "tag": _tags,
}


class NotYetError(Exception):
    """Whether examples can be learned is known once those before them are."""


class Student:
    """A model of a task; how much memory it takes is bounded by `room`.

    `check` refuses what `learn` would. It does not learn, and so answers for the model as it is: where it says True,
    what is accepted next may depend on what was checked, which must be learned first. Where it raises `NotYetError`,
    what was checked before must be learned first. `promised` is then the most names that this may bring; whoever drops
    it sets it to 0.
    """

    def __init__(self, task: str, model: Any, room: Room) -> None:
        self.task = task
        self.model = model
        self.room = room
        self.promised = 0
        self.costs = Costs(self)
        self._known: set[Any] = set()

    @classmethod
    def begin(cls, task: str, parameters: dict[str, Any], room: Room) -> "Student":
        """A model that has learned nothing."""
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}
        auto = given.pop("auto", False)
        if not isinstance(auto, bool):
            raise ProblemError(f"auto must be true or false; got {auto!r:.100}", 422)
        try:
            kind = model_class(task, auto=auto)
        except ValueError as error:
            raise ProblemError(str(error), 422) from error
        if given.get("C") == "inf":
            given["C"] = inf
        if task == "ordinal" and "ranks" not in given:
            raise ProblemError('an ordinal model needs the ranks from low to high: {"ranks": [1, 2, 3]}', 422)
        try:
            model = made(kind, given)
        except (TypeError, ValueError) as error:
            raise ProblemError(str(error), 422) from error
        student = cls(task, model, room)
        size, most = int(student.reading("n_features") or 1), room.weights // student.abreast
        if size > most:
            raise ProblemError(f"n_features must be at most {most} here; got {size}", 422)
        return student

    @property
    def begun(self) -> bool:
        return hasattr(self.model, "_learner")

    def reading(self, name: str) -> Any:
        """An option of how examples are read; None, where the model has none of that name."""
        return getattr(getattr(self.model, "features_", self.model), name, None)

    @property
    def abreast(self) -> int:
        """How many models learn side by side; vectors may have more than the names that are expected before."""
        return max(1, len(self._models()))

    def _models(self) -> list[str]:
        """The names of models that learn side by side, if there are several."""
        if hasattr(self.model, "models_"):
            return list(self.model.models_)
        return list(self.model._called()) if hasattr(self.model, "_called") else []

    @property
    def classes(self) -> list[Any]:
        classes = getattr(self.model, "classes_", [])
        return classes.tolist() if isinstance(classes, np.ndarray) else list(classes)

    @property
    def features(self) -> int:
        return n_features(self.model)

    def experts(self) -> list[Expert]:
        """How models that learn side by side stand, if there are several."""
        task = self.model._learner.task if self.begun else None
        if not isinstance(task, Several):
            return []
        weights = task.state()["weights"].tolist()
        votes = weights if task.hedge else [float(k == task.leader) for k in range(len(weights))]
        found = zip(self._models(), task.losses().tolist(), votes, strict=True)
        return [Expert(*one, leads=k == task.leader) for k, one in enumerate(found)]

    def check(self, examples: list[Example]) -> bool:
        """Refuse examples that cannot all be learned; whether they must be learned before others are checked."""
        return at_once(self.checking(examples))

    def checking(self, examples: list[Example]) -> Generator[None, None, bool]:
        """Do what `check` does, and yield after each example."""
        labelled = self.task in {"classify", "rank", "tag"}
        if not self.begun or (labelled and len(self.model.classes_) == 0):
            yield from self._rehearse(examples)
            return True
        met: set[Any] = set()
        for k, example in enumerate(examples):
            try:
                met |= self._check(example)
            except (TypeError, ValueError) as error:
                raise BadExampleError(f"example {k}: {error}") from error
            yield
        if len(self._known) != len(getattr(self.model, "classes_", ())):
            self._known = set(self.classes)
        new = met - self._known
        close = self._check_room(examples, len(new))
        return bool(new) or close

    def _check(self, example: Example) -> set[Any]:
        self._check_numbers(example)
        self.costs.check_lengths(example.x, example.y)
        self.costs.check(example.x)
        x = read(self.task, example.x)
        self.answer(x)
        if self.reading("separator") and isinstance(x, list):
            self._names_of(x)  # numbers that are written in names are looked at too
        if self.task == "tag" and isinstance(example.y, list) and len(example.y) != len(x):
            raise ValueError(f"x has {len(x)} tokens, and y has {len(example.y)} labels")
        return TARGETS[self.task](self.model, example.y)

    def _check_numbers(self, example: Example) -> None:
        if self.task == "tag" and example.weight == 0:
            raise ValueError("the weight of a sequence must be positive; got 0")
        if self.reading("dtype") == "float32":
            x = example.x.values() if isinstance(example.x, dict) else example.x
            for value in (*x, example.y):
                if isinstance(value, float) and abs(value) > SINGLE:
                    raise ValueError(f"numbers are at most {SINGLE:g} where weights are float32; got {value!r}")

    def _rehearse(self, examples: list[Example]) -> Generator[None, None, None]:
        """Learn examples on a copy, which is small: the model has yet to learn what its examples are."""
        copy = Student(self.task, deepcopy(self.model), self.room)
        for k, example in enumerate(examples):
            try:
                self._check_numbers(example)
                copy.costs.check_lengths(example.x, example.y)
                copy.costs.check(example.x)
                copy.learn(example)
                if copy.begun:
                    copy._check(example)
            except (TypeError, ValueError) as error:
                raise BadExampleError(f"example {k}: {error}") from error
            yield
        copy._check_size(copy.features, len(copy.classes))

    def _check_room(self, examples: list[Example], n_new: int) -> bool:
        """Refuse what would make the model too large; whether it comes close."""
        columns = len(self.classes) + n_new
        if n_new:
            self._check_size(self.features, columns)
        if self.task != "tag" and (self.reading("n_features") or not self._named()):
            return False
        most = sum(self._most(example.x) for example in examples)
        limit = min(self.room.features, self.room.weights // (self.abreast * max(1, columns)))
        if self.features + self.promised + most <= limit:
            self.promised += most
            return False
        if self.promised:
            raise NotYetError
        names = {name for example in examples for name in self._names_of(read(self.task, example.x))}
        n_names = sum(self.model._names.get(name) < 0 for name in names)
        if n_names:
            self._check_size(self.features + n_names, columns)
        return True

    def _check_size(self, features: int, columns: int) -> None:
        room = self.room
        if columns > room.classes:
            raise BadExampleError(f"the model would have {columns} labels, and {room.classes} are allowed here")
        if self._named() and features > room.features:
            raise BadExampleError(
                f"the model would have {features} names of features, and {room.features} are allowed here: create it "
                'with "n_features": a power of two to hash them'
            )
        if features * max(1, columns) * self.abreast > room.weights:
            several = f" of {self.abreast} models" if self.abreast > 1 else ""
            raise BadExampleError(
                f"the model would have {features} features for each of {columns} labels{several}, and {room.weights} "
                'weights are allowed here: create it with a smaller "n_features"'
            )

    def _named(self) -> bool:
        """Whether features go by names that are kept."""
        if not self.begun:
            return True
        return self.model._names is not None and not self.reading("n_features")

    def _most(self, x: Any) -> int:
        """The most names that an example can have."""
        if isinstance(x, str):
            shortest, longest = self.reading("ngrams")
            return (len(x) + 1) // 2 * int(longest - shortest + 1)
        return sum(map(len, x)) if self.task == "tag" else len(x)

    def _names_of(self, x: Any) -> Iterable[str]:
        """The names in an example."""
        names = Names()
        if isinstance(x, np.ndarray):
            return []
        if self.task == "tag":
            reader = Reader(names, grow=True, dtype=np.float64, separator=self.reading("separator"))
        else:
            reader = self.model._reader(names)
        for part in x if self.task == "tag" else [x]:
            reader.read(part)
        known = names.names
        largest = SINGLE if reader.dtype == np.float32 else LARGEST
        if np.any(np.abs(reader.arrays()[0]) > largest):
            raise ValueError(f"numbers are at most {largest:g}; got {x!r:.100}")
        return known

    def answer(self, x: Any) -> Any:
        """The prediction for an example that was read; None: nothing was learned yet."""
        if not self.begun:
            return None
        if self.task == "rank":
            return sorted(self.model.predict_one(x)) if self.model.calibrate else self.model.rank_one(x)
        return self.model.predict_one(x)

    def predict(self, x: Any) -> Any:
        """The prediction for an example; one that cannot be read is refused."""
        try:
            return self.answer(read(self.task, x))
        except (TypeError, ValueError) as error:
            raise BadExampleError(str(error)) from error

    def scores(self, x: Any) -> Any:
        """Scores by label, as pairs; a number where there is one; None for sequences."""
        if self.task == "tag" or not self.begun:
            return None
        scores = self.model.scores_one(read(self.task, x))
        return list(scores.items()) if isinstance(scores, dict) else scores

    def learn(self, example: Example) -> Any:
        """Learn an example, and say what was predicted of it before."""
        self.promised = 0
        x = read(self.task, example.x)
        prediction = self.answer(x)
        if self.task == "tag":
            self.model.partial_fit([x], [example.y], sample_weight=[example.weight])
        else:
            self.model.learn_one(x, example.y, example.weight)
        return prediction

    def explain(self, x: Any, label: Any, top: int) -> tuple[Any, float | None, dict[Any, float]]:
        """A label, its intercept and what each feature adds to its score."""
        if self.task == "tag":
            raise ProblemError("a sequence is not explained; ask for the weights of a label", 422)
        if not self.begun:
            return label, 0.0, {}
        try:
            self.costs.check(x)
            x = read(self.task, x)
            if label is None and self.task == "rank":
                label = next(iter(self.model.rank_one(x)), None)
            elif label is None and self.task == "classify":
                label = self.model.predict_one(x)
            parts = self.model.explain(x, label, top=top)
            return label, None if self.task == "novelty" else self.model.intercept(label), parts
        except (TypeError, ValueError) as error:
            raise BadExampleError(str(error)) from error

    def weights(self, label: Any, top: int) -> dict[Any, float]:
        """The heaviest features of a label."""
        if not self.begun:
            return {}
        try:
            return dict(self.model.weights(label, top=top))
        except (TypeError, ValueError) as error:
            raise ProblemError(str(error), 422) from error
