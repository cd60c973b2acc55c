"""State of stream learners: how a model begins, is opened for an example, and is checked and copied."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from onmargin._core.stream import Player
from onmargin._core.text.names import Index, Names
from onmargin._core.text.reader import Reader
from onmargin._core.text.words import Frequencies
from onmargin._core.turns import Turns
from onmargin.errors import ParameterError
from onmargin.features.records import AS_THEY_COME, RecordFeatures, reading
from onmargin.learner import STRETCH, Learner, matrix_of, threads
from onmargin.models.options import check_options
from onmargin.models.plan import Model, Plan, Shape, check_begun
from onmargin.stream._examples import Vectors, is_sparse, is_vector
from onmargin.stream._players import KernelPlayer


@dataclass(kw_only=True, eq=False, repr=False)
class StreamState:
    """Parameters and state of a stream learner: a `Model`, the names of its features, and what plays its rounds.

    Parameters
    ----------
    features : RecordFeatures or None, default=None
        How examples are read: whether names are kept or hashed, how texts are split into words, the type of the
        weights. If None, ``RecordFeatures()``.
    """

    # The player and the thread lock are not part of the learned state: a copy creates its own.
    __slots__ = ("__dict__", "__weakref__", "_player", "_turns")

    features: RecordFeatures | None = reading()

    plan: ClassVar[Callable[..., Plan]]  # of the options: how they learn

    _player_type: ClassVar[type[Player]] = Player

    def __post_init__(self) -> None:
        self._player: Player | None = None
        self._turns = Turns()
        self._check_parameters()

    def _targets(self) -> dict[Any, float]:
        """Return the target of the task for each known label."""
        return {}

    def _check_parameters(self) -> None:
        check_options(self)
        plan = self.plan()
        kernel = getattr(self, "kernel", None)
        if kernel is not None and (kernel == "precomputed" or self._player_type is not Player):
            what = "kernel='precomputed'" if kernel == "precomputed" else "a kernel over a window of examples"
            raise ParameterError(f"{what} needs a matrix: use onmargin.{type(self).__name__}", ["kernel"])
        if self.features_.dtype not in {str(dtype) for dtype in plan.dtypes}:
            raise ParameterError(
                "these options need weights of double precision: features=RecordFeatures(dtype='float64')", ["features"]
            )

    def _check_learned(self) -> None:
        """Refuse a state loaded from a file that is inconsistent, or does not match the parameters."""
        model = check_begun(self, type(self)(**self.get_params()))
        if model is None:
            return
        self._check_model(model)
        geometry, names, frequencies = self._learner.geometry, self._names, vars(self).get("_frequencies")
        if geometry.dtype != self.features_.dtype:
            raise ValueError(f"weights are {geometry.dtype}, and features={self.features!r} asks for another type")
        if names is not None and (type(names) is not type(self.features_.index()) or len(names) > geometry.n_features):
            raise ValueError(
                f"a {type(names).__name__} of {len(names)} names does not fit weights for {geometry.n_features} "
                f"features and features={self.features!r}"
            )
        if not isinstance(frequencies, Frequencies | None):
            raise ValueError(f"frequencies of words are a {type(frequencies).__name__}")

    def _check_model(self, model: Model) -> None:
        """Refuse a model from a file whose parts are not those of the parameters."""
        model.check(self.plan(), self._known(), self._columns())

    def _known(self) -> list[Any]:
        """Return the labels that have their own columns; refuse invalid ones from a file."""
        return []

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Not used, present for compatibility with scikit-learn.

        Returns
        -------
        parameters : dict
            The parameters that the model was created with.
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

    @property
    def features_(self) -> RecordFeatures:
        """How examples are read into features."""
        return self.features or AS_THEY_COME

    @property
    def _learner(self) -> Learner[Any]:
        return self._model.learner

    @contextmanager
    def _opening(self, x: Any) -> Iterator[Player]:
        """Yield the player for an example like x. If the first example cannot be learned, the model stays empty.

        Other threads wait until the block ends.
        """
        with self._turns:
            before = dict(vars(self))
            model, names = before.get("_model"), before.get("_names")
            parts = [] if model is None else [(part, dict(vars(part))) for part in (model, model.learner)]
            rounds, known = self._n_rounds(), 0 if names is None else len(names)
            try:
                if model is None:
                    self._begin(x)
                yield self._opened()  # type: ignore[misc]
            except BaseException:
                if self._n_rounds() == rounds:  # otherwise the example was learned before the interrupt
                    for part, state in parts:
                        part.__dict__ = state
                    self.__dict__, self._player = before, None
                    if names is not None:
                        names.forget(known)
                    if before.get("_frequencies") is not None:
                        before["_frequencies"].forget()
                raise

    def _n_rounds(self) -> int:
        return int(self._learner._totals.rounds) if "_model" in vars(self) else 0

    def _begin(self, x: Any, *, table: bool = True) -> None:
        """Begin an untrained model for examples like x, which may be a record of a table."""
        self._names: Index | None = None
        if is_vector(x):
            if self.features_.n_features is not None:
                raise ValueError("n_features is the size of a table of names, and vectors have none: leave it out")
            n_features = Vectors(None, self.features_.dtype)(x).n_features
        else:
            self._names = self.features_.index()
            n_features = len(self._names)
        self._frequencies = Frequencies() if self.features_.idf else None
        sparse = self._names is not None or is_sparse(x)
        self._start(x, Shape(n_features, self.features_.dtype, sparse, self._entries(x) if table else 0))
        first_step = self._model.plan.first_step
        if first_step is not None:
            self._learner.step = first_step(self._row(x))
            self._player = None

    def _row(self, x: Any) -> Any:
        """Return the first example as the matrix with which an estimator would begin."""
        player: Any = self._opened()
        places, values = player.features(x, new=True)
        if self._names is None and not is_sparse(x):
            return np.array([values])
        from scipy import sparse

        return sparse.csr_matrix((values, places, [0, len(places)]), shape=(1, self._learner.geometry.n_features))

    def _entries(self, x: Any) -> int:
        """Return the number of features of the first example if it may be a record of a table, otherwise 0."""
        ensemble = self.plan().ensemble
        if self.features_.n_features is not None or not isinstance(x, Mapping) or ensemble is None:
            return 0
        return len(self.features_.read(x, zeros=True)) if ensemble.experts.table else 0

    def _start(self, x: Any, shape: Shape) -> None:
        """Begin an untrained model for examples like x."""
        plan = self.plan()
        if plan.sized and isinstance(self._names, Names):
            raise ParameterError(
                f"{plan.sized} hash the names of features to a fixed number of places, such as "
                "features=RecordFeatures(n_features=2**18), or learn vectors",
                ["features"],
            )
        self._model = Model.begin(plan, shape, None if self._kernel is None else self._like(x, shape), self._columns())
        self._model.arrange(getattr(self, "classes_", ()))

    @property
    def _kernel(self) -> Any:
        return getattr(self, "kernel", None)

    def _like(self, x: Any, shape: Shape) -> Any:
        """Return the first example as a matrix, to initialize a kernel."""
        if self._names is None:
            return matrix_of(Vectors(None, shape.dtype)(x))
        from scipy import sparse

        reader = self.features_.reader(self.features_.index())
        reader.read(x)
        return sparse.csr_matrix(reader.arrays(), shape=(1, shape.n_features or len(reader.names)), dtype=shape.dtype)

    def _columns(self) -> int:
        """Return the initial number of columns of a model."""
        return 1

    def _opened(self) -> Player | None:
        """Return the player, or None if nothing was learned yet."""
        if self._player is None and "_model" in vars(self):
            with self._turns:
                kind = self._player_type if self._kernel is None else KernelPlayer
                if not hasattr(self._model, "plan"):
                    self._model.adopt(self.plan())
                if self._names is None:
                    player = kind(self._model, None, self._vectors(), self._turns)
                else:
                    player = kind(self._model, self._reader(self._names), None, self._turns)
                player.targets = self._targets()
                player.stretch = STRETCH
                player.n_threads = threads(self.features_.n_jobs)
                player.nonnegative = self.plan().nonnegative
                self._player = self._player or player
        return self._player

    def _vectors(self) -> Vectors:
        return Vectors(self.n_features_ if "_model" in vars(self) else None, self.features_.dtype)

    def _reader(self, names: Index) -> Reader:
        return self.features_.reader(names, vars(self).get("_frequencies"))

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    @property
    def n_features_(self) -> int:
        """Number of features: names seen so far, size of the hash table, or length of the vectors."""
        if "_model" not in vars(self):
            return self.features_.n_features or 0
        return int(self._learner.geometry.n_features) if self._names is None else len(self._names)
