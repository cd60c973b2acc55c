"""Joint features of structures, by index or by name, with the weights that models read and the rows of the core."""

from collections.abc import Hashable, Mapping
from math import isfinite
from reprlib import repr as shortened
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onmargin._checks import check_sparse
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.rows import Rows
from onmargin._core.text.names import Names
from onmargin._parts import Part
from onmargin.learner import Learner, Vector

# sqrt(cost) of the rival and the cost of the prediction: two numbers per round.
_TARGETS = np.array([0, 2], dtype=np.intp)
_LARGEST = np.iinfo(np.int32).max


class Features(Protocol):
    """The kind of joint features of a model, determined by its first result."""

    @property
    def size(self) -> int:
        """The number of features, or of those known so far."""
        ...

    def fits(self, n_features: int) -> bool:
        """Return whether this number of weights is enough for all features."""
        ...

    def read(self, given: Any) -> Any:
        """Return the checked result of `joint_features` in a form that can be compared."""
        ...

    def same(self, one: Any, other: Any) -> bool:
        """Return whether two results are equal."""
        ...

    def products(self, weights: Any, features: Any) -> Vector:
        """Return the products whose sum is the score of some features."""
        ...

    def learn(self, learner: Learner[Euclidean], right: Any, wrong: Any, target: Vector, weight: Vector | None) -> None:
        """Run one round whose row is `right` minus `wrong`."""
        ...

    def weights_that_learn(self, geometry: Euclidean) -> Any:
        """Return the current weights, as the model reads them."""
        ...

    def weights_that_predict(self, geometry: Euclidean) -> Any:
        """Return the weights that predict: the averaged ones, if any."""
        ...

    def restore(self, size: int, geometry: Euclidean) -> None:
        """Forget all features but the first, and all weights but those of the geometry."""
        ...


def features_like(given: Any, n_features: int | None) -> Features:
    """Return the kind of the features `given`; `n_features` is needed if they do not determine their number."""
    if isinstance(given, Mapping):
        return Named()
    width = _parts(given)[2]
    if width is None and n_features is None:
        raise ValueError(
            "model.joint_features gives (indices, values), from which the number of features is not known: give the "
            "model an attribute n_features"
        )
    width = n_features if width is None else width
    if not isinstance(width, int | np.integer) or not 0 < width <= _LARGEST:
        raise ValueError(f"features must be from 1 to {_LARGEST}; got {width!r}")
    return Indexed(int(width))


class Indexed(Part):
    """A fixed number of features by index; models read weights from an array."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._shown: tuple[Euclidean, Vector] | None = None  # the weights that the model read last

    def __reduce__(self) -> tuple[Any, ...]:
        return Indexed, (self.size,)

    def fits(self, n_features: int) -> bool:
        return self.size == n_features

    def read(self, given: Any) -> "Vector | Entries":
        if isinstance(given, Mapping):
            raise ValueError(
                f"model.joint_features must give vectors of {self.size} features, as at first; got {shortened(given)}"
            )
        if type(given) is np.ndarray and given.dtype == np.float64 and given.shape == (self.size,) and _finite(given):
            return given
        indices, values, width = _parts(given)
        if width not in {None, self.size}:
            raise ValueError(f"model.joint_features must give {self.size} features, as at first; got {width}")
        if not _finite(values):
            raise ValueError(f"model.joint_features must give finite numbers; got {shortened(given)}")
        if indices is None:
            return values
        entries = _add_up(indices, values)
        if len(indices) and not 0 <= entries.indices[0] <= entries.indices[-1] < self.size:
            raise ValueError(
                f"model.joint_features must give indices from 0 to {self.size - 1}; got {indices.min()} to "
                f"{indices.max()}"
            )
        return entries

    def same(self, one: "Vector | Entries", other: "Vector | Entries") -> bool:
        return all(map(np.array_equal, _entries(one), _entries(other)))

    def products(self, weights: Vector, features: "Vector | Entries") -> Vector:
        indices, values = _entries(features)
        products: Vector = weights[indices] * values
        return products

    def learn(
        self,
        learner: Learner[Euclidean],
        right: "Vector | Entries",
        wrong: "Vector | Entries",
        target: Vector,
        weight: Vector | None,
    ) -> None:
        if isinstance(right, np.ndarray) and isinstance(wrong, np.ndarray):
            rows = Rows((right - wrong)[None], self.size)
        else:
            rows = self._difference(_entries(right), _entries(wrong))
        learner.learn(rows, target, weight, targets=_TARGETS)

    def _difference(self, right: "Entries", wrong: "Entries") -> Rows:
        if np.array_equal(right.indices, wrong.indices):  # the difference is zero if the prediction is right
            indices, values = right.indices, right.values - wrong.values
        else:
            indices, values = _add_up(
                np.concatenate([right.indices, wrong.indices]), np.concatenate([right.values, -wrong.values])
            )
        return _row(indices, values, self.size)

    def weights_that_learn(self, geometry: Euclidean) -> Vector:
        if self._shown is None or self._shown[0] is not geometry:
            self._shown = geometry, _read_only(geometry.weights[0])
        return self._shown[1]

    def weights_that_predict(self, geometry: Euclidean) -> Vector:
        return _read_only(geometry.mean()[0][0])

    def restore(self, size: int, geometry: Euclidean) -> None:
        pass


class Named(Part):
    """Features by name, any number of them; models read weights from a mapping.

    The mapping is a copy of the weights of the geometry, because models read names far more often than weights change.
    """

    def __init__(self) -> None:
        self.places: dict[Hashable, int] = {}  # index in the weights of the geometry, in the order of the names
        self.weights = NamedWeights()

    def __reduce__(self) -> tuple[Any, ...]:
        names: list[Any] = list(self.places)
        by_text = all(type(name) is str for name in names)  # stored as one array in files
        weights = np.array(list(self.weights.values()), dtype=np.float64)
        return Named, (), {"names": Names(names) if by_text else names, "weights": weights}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        names = state["names"].names if isinstance(state["names"], Names) else state["names"]
        self.places = {name: place for place, name in enumerate(names)}
        if len(self.places) < len(names):
            raise ValueError("names must be unique")
        if not np.isfinite(state["weights"]).all():
            raise ValueError("weights of features must be finite")
        self.weights = NamedWeights(zip(names, state["weights"].tolist(), strict=True))

    @property
    def size(self) -> int:
        return len(self.places)

    def fits(self, n_features: int) -> bool:
        return self.size <= n_features

    def read(self, given: Any) -> dict[Hashable, float]:
        if not isinstance(given, Mapping):
            raise ValueError(
                f"model.joint_features must give a dict of name: value, as at first; got {shortened(given)}"
            )
        try:
            features = {name: float(value) for name, value in given.items()}
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"model.joint_features must give numbers; got {shortened(given)}: {error}") from error
        if not isfinite(sum(features.values())) and not np.isfinite(list(features.values())).all():
            raise ValueError(f"model.joint_features must give finite numbers; got {shortened(given)}")
        return features

    def same(self, one: dict[Hashable, float], other: dict[Hashable, float]) -> bool:
        return one == other

    def products(self, weights: "NamedWeights", features: dict[Hashable, float]) -> Vector:
        return np.array([weights[name] * value for name, value in features.items()], dtype=np.float64)

    def learn(
        self,
        learner: Learner[Euclidean],
        right: dict[Hashable, float],
        wrong: dict[Hashable, float],
        target: Vector,
        weight: Vector | None,
    ) -> None:
        row = dict(right)
        for name, value in wrong.items():
            row[name] = row.get(name, 0.0) - value
        row = {name: value for name, value in row.items() if value}  # a name that cancels out needs no weight
        places = self.places
        indices = np.array([places.setdefault(name, len(places)) for name in row], dtype=np.int32)
        if len(places) > learner.geometry.n_features:
            learner.geometry = learner.geometry.resize(2 * len(places))
        values = np.array(list(row.values()), dtype=np.float64)
        learner.learn(_row(indices, values, learner.geometry.n_features), target, weight, targets=_TARGETS)
        dict.update(self.weights, zip(row, learner.geometry.weights[0, indices].tolist(), strict=True))

    def weights_that_learn(self, geometry: Euclidean) -> "NamedWeights":
        return self.weights

    def weights_that_predict(self, geometry: Euclidean) -> "NamedWeights":
        weights = geometry.mean()[0]
        return self.weights if weights is geometry.weights else self._by_name(weights)

    def restore(self, size: int, geometry: Euclidean) -> None:
        while self.size > size:
            self.places.popitem()  # newest first
        self.weights = self._by_name(geometry.weights)

    def _by_name(self, weights: NDArray[Any]) -> "NamedWeights":
        return NamedWeights(zip(self.places, weights[0, : self.size].tolist(), strict=True))


class NamedWeights(dict[Hashable, float]):
    """Read-only weights by name; the weight of an unknown name is 0."""

    __slots__ = ()

    def __missing__(self, name: Hashable) -> float:
        return 0.0

    def score(self, features: Mapping[Any, float]) -> float:
        """Return the sum of weight times value over the features of a structure or of a part of it."""
        return sum((self[name] * value for name, value in features.items()), 0.0)

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedWeights, (dict(self),)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("the weights passed to a model are read-only: dict(weights) is a copy that can be changed")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse


class Entries(NamedTuple):
    """The entries of a sparse vector, with increasing indices."""

    indices: NDArray[Any]
    values: Vector


def _parts(given: Any) -> tuple[NDArray[Any] | None, Vector, int | None]:
    """Return indices (None for a vector), values and, if known, the number of features."""
    try:
        if sparse.issparse(given):
            entries = check_sparse(given, name="features").tocoo()
            if entries.shape[:-1] not in {(), (1,)}:
                raise ValueError(f"they have shape {entries.shape}")
            return entries.col, np.asarray(entries.data, dtype=np.float64), entries.shape[-1]
        if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1:
            indices, values = np.asarray(given[0]), np.asarray(given[1], dtype=np.float64)
            if indices.shape != values.shape or (len(indices) and indices.dtype.kind not in "iu"):
                raise ValueError("indices must be whole numbers, as many as values")
            return indices, values, None
        dense = np.asarray(given, dtype=np.float64)
        if dense.ndim != 1 and dense.shape[:-1] != (1,):
            raise ValueError(f"they have shape {dense.shape}")
    except (TypeError, ValueError) as error:
        raise ValueError(
            "model.joint_features must give a dict of name: value, a vector, a sparse row or a pair (indices, values); "
            f"got {shortened(given)}: {error}"
        ) from error
    return None, dense.ravel(), dense.size


def _entries(features: Vector | Entries) -> Entries:
    """Return the non-zero entries of a vector."""
    if isinstance(features, Entries):
        return features
    indices = np.flatnonzero(features)
    return Entries(indices, features[indices])


def _add_up(indices: NDArray[Any], values: Vector) -> Entries:
    """Add values of the same index."""
    if not (indices[1:] > indices[:-1]).all():
        indices, places = np.unique(indices, return_inverse=True)
        values = np.bincount(places, values, len(indices)).astype(np.float64, copy=False)
    return Entries(indices, values)


def _row(indices: NDArray[Any], values: Vector, n_features: int) -> Rows:
    ends = np.array([0, len(indices)], dtype=np.int64)
    return Rows(values, n_features, indices.astype(np.int32, copy=False), ends)


def _finite(values: Vector) -> bool:
    """Return whether all values are finite; their squares, which are summed faster, may overflow."""
    return isfinite(values.dot(values)) or bool(np.isfinite(values).all())


def _read_only(weights: NDArray[Any]) -> NDArray[Any]:
    view = weights.view()
    view.flags.writeable = False
    return view
