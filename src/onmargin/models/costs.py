"""The costs of predicting one class for another, or one label of a token."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin.models.rules import Number


def check_cost(cost: Any, classes: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
    """Return the costs as a matrix, with one row and one column per class."""
    n = len(classes)
    if isinstance(cost, str):
        if cost not in {"absolute", "squared"}:
            raise ValueError(f"cost must be 'absolute', 'squared' or a matrix; got {cost!r}")
        distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(np.float64)
        return distance if cost == "absolute" else distance**2
    if isinstance(cost, Mapping):
        cost = _by_name(cost, list(classes))
    matrix = _numbers(cost, "cost")
    if matrix.shape != (n, n):
        raise ValueError(
            f"cost must have shape ({n}, {n}) for the classes {np.asarray(classes).tolist()!r:.200}; got "
            f"{matrix.shape}. In partial_fit give classes= in the first call."
        )
    if (matrix < 0).any() or np.diagonal(matrix).any():
        raise ValueError(f"cost must be at least 0, and 0 on the diagonal; got {matrix.tolist()}")
    return matrix


def classes_of_cost(cost: Any) -> list[int]:
    """Return the classes that a matrix of costs is for, where examples come one by one: 0 to one less than its size."""
    if isinstance(cost, Mapping):
        _by_name(cost, [])  # raises an error for other values
        if names := list(dict.fromkeys(chain(cost, *cost.values()))):
            check_cost(cost, names)
    elif isinstance(cost, str):
        check_cost(cost, [])
    if cost is None or isinstance(cost, str | Mapping):
        return []
    classes = list(range(len(cost) if hasattr(cost, "__len__") else 0))
    check_cost(cost, classes)
    return classes


def _by_name(cost: Mapping[Any, Any], classes: list[Any]) -> list[list[Any]]:
    """Return costs by name as a matrix; a pair that is not named costs 1."""
    if not all(isinstance(row, Mapping) for row in cost.values()):
        raise ValueError(f"cost by name must be {{right class: {{predicted class: cost}}}}; got {cost!r:.100}")
    return [[cost.get(one, {}).get(other, float(one != other)) for other in classes] for one in classes]


def token_cost(given: Any, labels: Sequence[Any]) -> NDArray[np.float64]:
    """Return what predicting a label (column) for the right one (row) counts: 1, or what is given.

    It is given as a dict of factors by right label, or as a matrix.
    """
    n = len(labels)
    cost = 1 - np.eye(n)
    if isinstance(given, Mapping):
        for label, factor in given.items():
            if not Number(0, above=True, below=True).accepts(factor):
                raise ValueError(f"label_cost must be positive numbers; got {factor!r} for {label!r}")
            if label in labels:
                cost[labels.index(label)] *= factor
    elif given is not None:
        cost = _numbers(given, "label_cost")
        if cost.shape != (n, n) or (cost[~np.eye(n, dtype=bool)] <= 0).any() or np.diagonal(cost).any():
            raise ValueError(
                f"label_cost must be positive, 0 on the diagonal, and of shape ({n}, {n}) for the labels "
                f"{list(labels)}; got {given!r}. In partial_fit give classes= in the first call."
            )
    return cost


def _numbers(given: Any, name: str) -> NDArray[np.float64]:
    try:
        matrix = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be finite numbers: {error}") from error
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be finite numbers; got {matrix.tolist()}")
    return matrix
