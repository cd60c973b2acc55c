"""State of stream learners: how a model begins, is opened for an example, and is checked and copied."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from onmargin._core.steps.step import Step
from onmargin._core.stream import StreamLoop
from onmargin._core.text.names import Index, Names
from onmargin._core.text.reader import Reader
from onmargin._core.text.words import Frequencies
from onmargin._core.turns import Turns
from onmargin.errors import ParameterError
from onmargin.features.records import DEFAULT_FEATURES, RecordFeatures, reading
from onmargin.learner import STRETCH, Totals, matrix_of, threads
from onmargin.models.face import ModelFace
from onmargin.models.model import Model, check_begun
from onmargin.models.options import check_options
from onmargin.models.plan import Plan, Shape
from onmargin.stream._examples import Vectors, is_sparse, is_vector
from onmargin.stream._loops import KernelLoop
from onmargin.transaction import Transaction


@dataclass(kw_only=True, eq=False, repr=False)
class StreamState(ModelFace):
    """Parameters and state of a stream learner: a `Model`, the names of its features, and what runs its rounds.

    Parameters
    ----------
    features : RecordFeatures or None, default=None
        How examples are read: whether names are kept or hashed, how texts are split into words, the type of the
        weights. If None, ``RecordFeatures()``.
    """

    # The loop and the thread lock are not part of the learned state: a copy creates its own.
    __slots__ = ("__dict__", "__weakref__", "_loop", "_turns")

    features: RecordFeatures | None = reading()

    _loop_type: ClassVar[type[StreamLoop]] = StreamLoop

    def __post_init__(self) -> None:
        self._loop: StreamLoop | None = None
        self._turns = Turns()
        self._check_parameters()

    def _check_parameters(self) -> None:
        check_options(self)
        plan = self.plan()
        kernel = getattr(self, "kernel", None)
        if kernel is not None and (kernel == "precomputed" or self._loop_type is not StreamLoop):
            what = "kernel='precomputed'" if kernel == "precomputed" else "a kernel over a window of examples"
            raise ParameterError(f"{what} needs a matrix: use onmargin.{type(self).__name__}", ["kernel"])
        if self.features_.dtype not in {str(dtype) for dtype in plan.rows.dtypes}:
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
        model.labels.check()
        model.check(self.plan(), self._columns())

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

    def _repr_html_(self) -> str:
        """Return the parameters that were set and the totals, for notebooks."""
        from html import escape  # imported here because it takes longer than the rest of this module

        totals: Totals = self.totals_  # type: ignore[attr-defined]
        return f"<p><code>{escape(repr(self))}</code></p>{totals._repr_html_()}"

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._loop, self._turns = None, Turns()

    @property
    def features_(self) -> RecordFeatures:
        """How examples are read into features."""
        return self.features or DEFAULT_FEATURES

    @contextmanager
    def _open_loop(self, x: Any) -> Iterator[StreamLoop]:
        """Yield the loop for an example like x. If the first example cannot be learned, the model stays empty.

        Other threads wait until the block ends.
        """
        with self._turns, Transaction(self, drops_rounds=False) as transaction:
            transaction.undo_by(partial(setattr, self, "_loop", None))
            if (names := vars(self).get("_names")) is not None:
                transaction.undo_by(partial(names.forget, len(names)))
            if (frequencies := vars(self).get("_frequencies")) is not None:
                transaction.undo_by(frequencies.forget)
            if not self._has_begun:
                self._begin(x)
            yield self._get_loop()

    def _begin(self, x: Any, *, table: bool = True) -> None:
        """Begin an untrained model for examples like x, which may be a record of a table."""
        features, plan = self.features_, self.plan()
        self._names: Index | None = None
        if is_vector(x):
            if features.n_features is not None:
                raise ValueError("n_features is the size of a table of names, and vectors have none: leave it out")
            n_features = Vectors(None, features.dtype)(x).n_features
        else:
            self._names = features.index()
            n_features = len(self._names)
        self._frequencies = Frequencies() if features.idf else None
        sparse = self._names is not None or is_sparse(x)
        entries = self._entries(x, plan) if table else 0
        self._start(x, Shape(n_features, features.dtype, sparse, entries), plan)
        if not isinstance(plan.step, Step):
            self._learner.step = plan.step(self._row(x))
            self._loop = None

    def _row(self, x: Any) -> Any:
        """Return the first example as the matrix with which an estimator would begin."""
        loop: Any = self._get_loop()
        places, values = loop.features(x, new=True)
        if self._names is None and not is_sparse(x):
            return np.array([values])
        from scipy import sparse

        return sparse.csr_matrix((values, places, [0, len(places)]), shape=(1, self._learner.geometry.n_features))

    def _entries(self, x: Any, plan: Plan) -> int:
        """Return the number of features of the first example if it may be a record of a table, otherwise 0."""
        ensemble, features = plan.ensemble, self.features_
        is_record = isinstance(x, Mapping) and not isinstance(features.text, str)
        if features.n_features is not None or not is_record or ensemble is None:
            return 0
        return len(features.read(x, zeros=True)) if ensemble.experts.table else 0

    def _start(self, x: Any, shape: Shape, plan: Plan) -> None:
        """Begin an untrained model for examples like x."""
        if plan.rows.sized and isinstance(self._names, Names):
            raise ParameterError(
                f"{plan.rows.sized} hash the names of features to a fixed number of places, such as "
                "features=RecordFeatures(n_features=2**18), or learn vectors",
                ["features"],
            )
        self._model = Model.begin(plan, shape, None if self._kernel is None else self._like(x, shape), self._columns())
        if not plan.classes.calibrated:  # otherwise the task comes with the first label
            self._model.set_task()

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

    def _get_loop(self) -> StreamLoop | None:
        """Return the loop, or None if nothing was learned yet."""
        if self._loop is None and self._has_begun:
            with self._turns:
                kind = self._loop_type if self._kernel is None else KernelLoop
                if not hasattr(self._model, "plan"):
                    self._model.use_plan(self.plan())
                self._model.go_on()
                if self._names is None:
                    loop = kind(self._model, None, self._vectors(), self._turns)
                else:
                    loop = kind(self._model, self._reader(self._names), None, self._turns)
                loop.targets = self._model.labels.target_by_label()
                loop.stretch = STRETCH
                loop.n_threads = threads(self.features_.n_jobs)
                loop.nonnegative = self._model.plan.rows.nonnegative
                self._loop = self._loop or loop
        return self._loop

    def _vectors(self) -> Vectors:
        return Vectors(self.n_features_ if self._has_begun else None, self.features_.dtype)

    def _reader(self, names: Index) -> Reader:
        reader = self.features_.reader(names, vars(self).get("_frequencies"))
        reader.warns = True
        return reader

    @property
    def n_features_(self) -> int:
        """Number of features: names seen so far, size of the hash table, or length of the vectors."""
        if not self._has_begun:
            return self.features_.n_features or 0
        return int(self._learner.geometry.n_features) if self._names is None else len(self._names)
