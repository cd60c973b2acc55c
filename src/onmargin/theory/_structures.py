"""Losses of a competitor on structures: the structure of largest loss, found by the search of the user's model."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from onmargin.models.joint_features import NamedWeights, features_like
from onmargin.models.structure_checks import cost_of
from onmargin.theory.certificate import NoTheorem

Vector = NDArray[np.float64]
# Features of a structure: index among the weights -> value.
Entries = dict[int, float]


@dataclass(frozen=True)
class Structures:
    """True structures, which must beat all others by the root of their cost; u has one weight per feature so far.

    New feature names found by a search are appended at the end; shorter weight vectors are zero there.
    """

    model: Any
    examples: list[tuple[Any, Any]]
    right: list[Entries]
    places: dict[Hashable, int] | None  # None if features are indices
    width: int
    _features: Any = field(repr=False)

    @property
    def n_weights(self) -> int:
        return self.width if self.places is None else len(self.places)

    @property
    def n_rounds(self) -> int:
        return len(self.examples)

    def losses(self, u: Vector) -> Vector:
        return self.rivals(u)[1]

    def rivals(self, u: Vector) -> tuple[list[tuple[Entries, float]], Vector]:
        """Return the structure of largest loss per example, as features and the root of its cost, and the losses."""
        weights = self.as_given(u)
        found, losses = [], []
        for (x, y), right in zip(self.examples, self.right, strict=True):
            rival = self.model.cost_augmented_argmax(weights, x, y)
            root, features = sqrt(cost_of(self.model, y, rival)), self.entries(self.model.joint_features(x, rival))
            found.append((features, root))
            losses.append(max(root + _score(u, features) - _score(u, right), 0.0))
        return found, np.array(losses)

    def planes(self, rivals: list[tuple[Entries, float]]) -> tuple[Any, Vector]:
        """Return the directions from rivals to true structures, one row per example, and the required margins."""
        rows, columns, values = [], [], []
        for i, (right, (wrong, _)) in enumerate(zip(self.right, rivals, strict=True)):
            for entries, sign in ((right, 1.0), (wrong, -1.0)):
                rows += [i] * len(entries)
                columns += list(entries)
                values += [sign * value for value in entries.values()]
        shape = len(rivals), self.n_weights
        return sparse.csr_matrix((values, (rows, columns)), shape=shape), np.array([root for _, root in rivals])

    def as_given(self, u: Vector) -> Any:
        """Return weights in the form that the model expects."""
        if self.places is None:
            return u
        return NamedWeights(zip(self.places, np.pad(u, (0, len(self.places) - len(u))).tolist(), strict=True))

    def entries(self, given: Any) -> Entries:
        """Return the features given by the model, by index."""
        read = self._features.read(given)
        if self.places is not None:
            places = self.places
            return {places.setdefault(name, len(places)): value for name, value in read.items()}
        if isinstance(read, np.ndarray):
            return dict(enumerate(read.tolist()))
        return dict(zip(read.indices.tolist(), read.values.tolist(), strict=True))

    def vector(self, weights: Any) -> Vector:
        """Return one vector from weights by name or from an array."""
        if not isinstance(weights, Mapping):
            return np.asarray(weights, dtype=np.float64).ravel()
        if self.places is None:
            raise ValueError("competitor must be an array: the features of this model have no names")
        for name in weights:
            self.places.setdefault(name, len(self.places))
        return np.array([float(weights.get(name, 0.0)) for name in self.places])


def _score(u: Vector, entries: Entries) -> float:
    return float(sum(u[place] * value for place, value in entries.items() if place < len(u)))


def read_structures(run: Any, X: Any, Y: Any) -> tuple[Structures, float]:
    """Return the structures of the stream, and the largest cost of a prediction in the run."""
    model, examples = run.model, list(zip(X, Y, strict=True))
    if not hasattr(model, "cost_augmented_argmax"):
        raise NoTheorem(
            "the loss of a competitor is its largest over all structures: give the model a method "
            "cost_augmented_argmax(weights, x, y), which searches for that structure"
        )
    features = features_like(model.joint_features(*examples[0]), getattr(model, "n_features", None))
    named = hasattr(features, "places")
    problem = Structures(model, examples, [], {} if named else None, 0 if named else features.size, features)
    problem.right.extend(problem.entries(model.joint_features(x, y)) for x, y in examples)
    again, paid, most = clone(run), 0.0, 0.0
    for x, y in examples:
        total = again.learn_one(x, y).totals_.cost
        paid, most = total, max(most, total - paid)
    return problem, most
