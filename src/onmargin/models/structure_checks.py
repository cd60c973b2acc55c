"""Requirements for models of structures, and checks of their methods."""

from math import inf, sqrt
from reprlib import repr as shortened
from typing import Any, Protocol

from onmargin.models.joint_features import Features


class StructureModel(Protocol):
    """The user's model of structures: joint features, the search for the best structure, and costs.

    For ``update="max_loss"`` there is also ``cost_augmented_argmax(weights, x, y)``.
    """

    def joint_features(self, x: Any, y: Any, /) -> Any: ...

    def argmax(self, weights: Any, x: Any, /) -> Any: ...

    def cost(self, y: Any, z: Any, /) -> Any: ...


# Scores may be summed in another order than here, and in single precision.
_ROUNDING = 1e-6


def check_model(model: Any, update: str) -> None:
    """Refuse a model that lacks a method, naming all that are missing."""
    if isinstance(model, type):
        raise ValueError(f"model must be an object, not a class: give model={model.__name__}()")
    wanted = {"joint_features": "(x, y)", "argmax": "(weights, x)", "cost": "(y, z)"}
    missing = [name + arguments for name, arguments in wanted.items() if not callable(getattr(model, name, None))]
    if missing:
        raise ValueError(
            "model must have the methods joint_features(x, y), argmax(weights, x) and cost(y, z); "
            f"{type(model).__name__} has no {', no '.join(missing)}"
        )
    if update == "max_loss" and not callable(getattr(model, "cost_augmented_argmax", None)):
        raise ValueError(
            "update='max_loss' needs model.cost_augmented_argmax(weights, x, y), the z of highest score plus "
            f"sqrt(cost(y, z)); {type(model).__name__} has none. Give it one, or set_params(update='prediction')."
        )


def cost_of(model: StructureModel, y: Any, z: Any) -> float:
    """Return the cost of z where y is right, checked."""
    given = model.cost(y, z)
    try:
        cost = -1.0 if isinstance(given, str) else float(given)
    except (TypeError, ValueError, OverflowError):
        cost = -1.0
    if not 0 <= cost < inf:
        raise ValueError(f"model.cost(y, z) must give a finite number at least 0; got {given!r} for z = {shortened(z)}")
    return cost


class Inspector:
    """Checks one round, computed with `weights`, for inconsistent results of the model."""

    def __init__(self, model: StructureModel, features: Features, weights: Any, x: Any, y: Any) -> None:
        self.model, self.features, self.weights = model, features, weights
        self.x, self.y = x, y

    def check_prediction(self, predicted: Any) -> None:
        """Check that features are deterministic, the right structure costs nothing, and the best one is found."""
        if predicted is None:
            raise ValueError("model.argmax must return a structure; got None")
        if not self.features.same(self._read(self.y), self._read(self.y)):
            raise ValueError(f"model.joint_features(x, y) must give the same each time; not so for {shortened(self.y)}")
        if (cost := cost_of(self.model, self.y, self.y)) != 0:
            raise ValueError(f"model.cost(y, y) must be 0; got {cost!r} for {shortened(self.y)}")
        self._compare("argmax", "w . joint_features(x, z)", predicted, self.y, augmented=False)

    def check_rival(self, rival: Any, predicted: Any) -> None:
        """Check that the augmented search finds a structure at least as good as the known ones."""
        if rival is None:
            raise ValueError("model.cost_augmented_argmax must return a structure; got None")
        for other in (self.y, predicted):
            objective = "w . joint_features(x, z) + sqrt(cost(y, z))"
            self._compare("cost_augmented_argmax", objective, rival, other, augmented=True)

    def _compare(self, method: str, objective: str, found: Any, other: Any, *, augmented: bool) -> None:
        (value, size), (least, least_size) = (self._objective(z, augmented=augmented) for z in (found, other))
        if value < least - _ROUNDING * (size + least_size):
            raise ValueError(
                f"model.{method} does not maximize {objective}: {shortened(found)}, which it returned, has {value:.6g} "
                f"and {shortened(other)} has {least:.6g}. If its search is approximate, or cannot reach every right "
                "structure, set check_rounds=0."
            )

    def _objective(self, z: Any, *, augmented: bool) -> tuple[float, float]:
        """Return the objective and the size of its terms."""
        products = self.features.products(self.weights, self._read(z))
        root = sqrt(cost_of(self.model, self.y, z)) if augmented else 0.0
        return float(products.sum()) + root, float(abs(products).sum()) + root

    def _read(self, z: Any) -> Any:
        return self.features.read(self.model.joint_features(self.x, z))
