"""What all learners of streams share: reading examples, looking at weights, and what is kept."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.rows import Rows
from onmargin._core.steps.step import Step
from onmargin._core.stream import Player
from onmargin._core.tasks.task import Task
from onmargin._core.text.names import Hashed, Index, Names
from onmargin._core.text.reader import Reader
from onmargin._core.text.words import Frequencies, Text
from onmargin._core.turns import Turns
from onmargin.errors import ExampleError
from onmargin.learner import Learner, Totals
from onmargin.models.rules import FLAG, NOTHING, Character, Number, Rule, Word, check_parameters
from onmargin.stream._blocks import learn_known, learn_readily, widen
from onmargin.stream._examples import Vectors, check_lengths, each, is_sparse, is_vector

# The name of a feature; with hashing and for vectors its place.
Name = str | int


@dataclass(frozen=True)
class PowerOfTwo:
    """The rule for the size of a table."""

    def accepts(self, value: Any) -> bool:
        return Number(2, 2**30, whole=True).accepts(value) and int(value).bit_count() == 1

    def __str__(self) -> str:
        return "a power of two between 2 and 2**30, such as 2**18"


@dataclass(frozen=True)
class Span:
    """The rule for a pair of whole numbers, the first at most the second."""

    def accepts(self, value: Any) -> bool:
        return (
            isinstance(value, tuple | list)
            and len(value) == 2
            and all(map(Number(1, 100, whole=True).accepts, value))
            and value[0] <= value[1]
        )

    def __str__(self) -> str:
        return "a pair of whole numbers from 1 to 100, such as (1, 2)"


class StreamModel:
    """A model that learns one example at a time.

    A subclass stores its parameters, calls `_check_parameters`, and says what is learned (`_task`, `_step`,
    `_geometry`) and of which columns a score is made (`_direction`).
    """

    # The player and the turns of threads are no part of what is learned: a copy makes its own.
    __slots__ = ("__dict__", "__weakref__", "_player", "_turns")

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {
        "C": (Number(0, above=True),),
        "n_features": (NOTHING, PowerOfTwo()),
        "separator": (NOTHING, Character()),
        "dtype": (Word("float64", "float32"),),
        "lowercase": (FLAG,),
        "ngrams": (Span(),),
        "weighting": (Word("tf", "binary", "log"),),
        "normalize": (FLAG,),
        "idf": (FLAG,),
    }

    # Whether the target of an example is a label or, if not, a number; None: it is neither.
    _labelled: ClassVar[bool | None] = None

    n_features: int | None
    separator: str | None
    dtype: str
    lowercase: bool
    ngrams: tuple[int, int]
    weighting: str
    normalize: bool
    idf: bool

    # Of classifiers; those are dataclasses, whose annotations would be parameters.
    class_weight: Mapping[Any, float] | str | None

    _player: Player | None
    _turns: Turns
    _learner: Learner[Any]
    _names: Index | None
    _frequencies: Frequencies | None

    def _task(self) -> Task:
        """What is learned, of the classes known now."""
        raise NotImplementedError

    def _step(self) -> Step:
        raise NotImplementedError

    def _geometry(self, n_features: int, *, sparse: bool) -> Any:
        """Weights that have learned nothing."""
        raise NotImplementedError

    def _targets(self) -> dict[Any, float]:
        """What known labels are for the task."""
        return {}

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        """How the score of a label is made of the vectors of weights, and its intercept."""
        raise NotImplementedError

    def _leading(self, x: Any) -> Any:
        """The label whose score is explained if none is named; None: there is one score."""
        return None

    def _check_parameters(self) -> None:
        check_parameters(self, self._rules)

    def _ready(self) -> None:
        """The parameters are stored: check them."""
        self._player, self._turns = None, Turns()
        self._check_parameters()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Not used, present for scikit-learn's sake.

        Returns
        -------
        parameters : dict
            What the model was made with.
        """
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def __repr__(self) -> str:
        defaults = signature(type(self)).parameters
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._player, self._turns = None, Turns()

    @contextmanager
    def _opening(self, x: Any) -> Iterator[Player]:
        """The player, for an example like x. If it is the first and cannot be learned, nothing is begun.

        Other threads wait until the block is over.
        """
        with self._turns:
            before, player = dict(vars(self)), self._player
            try:
                if not hasattr(self, "_learner"):
                    self._begin(x)
                yield self._opened()  # type: ignore[misc]
            except BaseException:
                vars(self).clear()
                vars(self).update(before)
                self._player = player
                raise

    def _begin(self, x: Any) -> None:
        """A learner that has seen nothing, for examples like x."""
        if is_vector(x):
            if self.n_features is not None:
                raise ValueError("n_features is the size of a table of names, and vectors have none: leave it out")
            n_features, self._names = Vectors(None, self.dtype)(x).n_features, None
        else:
            self._names = Names() if self.n_features is None else Hashed(int(self.n_features).bit_length() - 1)
            n_features = len(self._names)
        self._frequencies = Frequencies() if self.idf else None
        self._start(n_features, sparse=self._names is not None or is_sparse(x))

    def _start(self, n_features: int, *, sparse: bool) -> None:
        """A learner that has seen nothing, for so many features."""
        self._learner = Learner(self._task(), self._step(), self._geometry(n_features, sparse=sparse))

    def _opened(self) -> Player | None:
        """The player; None: nothing was learned yet."""
        if self._player is None and hasattr(self, "_learner"):
            with self._turns:
                if self._names is None:
                    player = Player(self._learner, None, self._vectors(), self._turns)
                else:
                    player = Player(self._learner, self._reader(self._names), None, self._turns)
                player.targets = self._targets()
                self._player = self._player or player
        return self._player

    def _vectors(self) -> Vectors:
        return Vectors(self.n_features_ if hasattr(self, "_learner") else None, self.dtype)

    def _reader(self, names: Index) -> Reader:
        shortest, longest = self.ngrams
        text = Text(
            lowercase=bool(self.lowercase),
            shortest=int(shortest),
            longest=int(longest),
            weighting=self.weighting,
            normalize=bool(self.normalize),
        )
        return Reader(
            names, grow=True, dtype=self.dtype, separator=self.separator, text=text, frequencies=self._frequencies
        )

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        raise NotImplementedError

    def predict_one(self, x: Any) -> Any:
        raise NotImplementedError

    def learn_many(self, X: Iterable[Any], y: Any, weights: Iterable[float] | None = None) -> Self:
        """Learn examples one after the other: the same as so many calls of `learn_one`.

        Parameters
        ----------
        X : iterable, or matrix of shape (n_samples, n_features)
            Examples as `learn_one` takes them. Of an array or a sparse matrix the rows are vectors; a sparse one may be
            wider than those before.
        y : iterable
            Their targets.
        weights : iterable of float or None, default=None
            Their factors on C; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The model, having learned. If an example is refused, those before it are learned, and the error says which
            one it was.
        """
        for i, x, target, weight in self._one_by_one(X, y, weights):
            try:
                self.learn_one(x, target, weight)
            except (TypeError, ValueError) as error:
                raise ExampleError.wrap(error, i) from error
        return self

    def _one_by_one(self, X: Any, y: Any, weights: Any) -> Iterator[tuple[int, Any, Any, float]]:
        """The examples to be learned by themselves, with their numbers: all but those of known labels in a list."""
        if is_vector(X):
            X = widen(self, self._vectors().rows(X, "X"))
        examples = self._each(X)
        check_lengths(X=X, y=y, weights=weights)
        compiled = self._labelled is not None and getattr(self, "class_weight", None) is None
        if isinstance(X, Rows) and compiled:
            y = y if isinstance(y, np.ndarray) else list(y)
            weights = None if weights is None else list(weights)
            for i in learn_known(self, X, y, weights):
                yield i, X.part(i, i + 1), y[i], 1.0 if weights is None else weights[i]
            return
        if isinstance(X, list | tuple) and y is not None and compiled:
            y, weights = list(y), None if weights is None else list(weights)
            check_lengths(X=X, y=y, weights=weights)
            for i in learn_readily(self, tuple(X), y, weights):
                yield i, X[i], y[i], 1.0 if weights is None else weights[i]
            return
        pairs = ((x, None) for x in examples) if y is None else zip(examples, y, strict=True)
        weighted = ((pair, 1.0) for pair in pairs) if weights is None else zip(pairs, weights, strict=True)
        for i, ((x, target), weight) in enumerate(weighted):
            yield i, x, target, weight

    def predict_many(self, X: Iterable[Any]) -> list[Any]:
        """Predict examples: the same as so many calls of `predict_one`.

        Parameters
        ----------
        X : iterable, or matrix of shape (n_samples, n_features)
            Examples, as for `learn_many`.

        Returns
        -------
        predictions : list
            One for each example.
        """
        return [self.predict_one(x) for x in self._each(X)]

    def _each(self, X: Any) -> Iterable[Any]:
        return each(X, self._vectors())

    def weights(self, label: Any = None, top: int | None = None) -> dict[Name, float]:
        """The weights by feature, the heaviest first; averaged ones if `average` is on.

        Parameters
        ----------
        label : str or int or None, default=None
            Whose weights, where each label has its own. None: with two classes those of the second.
        top : int or None, default=None
            How many, at most. None: all that are not zero.

        Returns
        -------
        weights : dict
            Weights by the name of the feature; with hashing and for vectors by its place.
        """
        if not hasattr(self, "_learner"):
            return {}
        direction, _ = self._direction(label)
        return self._named(range(self.n_features_), direction @ self._vectors_of_weights()[:, : self.n_features_], top)

    def explain(self, x: Any, label: Any = None, top: int | None = None) -> dict[Name, float]:
        """What each feature of an example adds to a score, the largest first; with `intercept` they sum to it.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example.
        label : str or int or None, default=None
            Whose score, where each label has its own. None: that of the label predicted.
        top : int or None, default=None
            How many features, at most. None: all that add anything.

        Returns
        -------
        contributions : dict
            Weight times value by the name of the feature; with hashing and for vectors by its place.
        """
        player = self._opened()
        if player is None:
            return {}
        direction, _ = self._direction(self._leading(x) if label is None else label)
        places, values = player.features(x)
        return self._named(places, direction @ self._vectors_of_weights()[:, places] * np.array(values), top)

    def intercept(self, label: Any = None) -> float:
        """The intercept of a score.

        Parameters
        ----------
        label : str or int or None, default=None
            Whose, as for `weights`.

        Returns
        -------
        intercept : float
            What is added to weights times values.
        """
        return float(self._direction(label)[1]) if hasattr(self, "_learner") else 0.0

    def _vectors_of_weights(self) -> Any:
        return self._learner.geometry.mean()[0]

    def _named(self, places: Any, values: NDArray[np.float64], top: int | None) -> dict[Name, float]:
        """Values that are not zero by feature, those of largest size first."""
        if top is not None and not Number(0, whole=True).accepts(top):
            raise ValueError(f"top must be None or an integer at least 0; got {top!r}")
        order = np.argsort(-np.abs(values), kind="stable")
        order = order[values[order] != 0][:top]
        names = self._names.names if isinstance(self._names, Names) else None
        return {int(places[k]) if names is None else names[places[k]]: float(values[k]) for k in order}

    @property
    def n_features_(self) -> int:
        """Number of features: names met so far, places of the table, or numbers in a vector."""
        if not hasattr(self, "_learner"):
            return self.n_features or 0
        return int(self._learner.geometry.n_features) if self._names is None else len(self._names)

    @property
    def totals_(self) -> Totals:
        """What the rounds so far came to."""
        return self._learner.totals if hasattr(self, "_learner") else Totals(0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
