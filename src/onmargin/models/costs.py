"""The costs of predicting one class for another."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
    try:
        matrix = np.ascontiguousarray(cost, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost must be finite numbers: {error}") from error
    if not np.isfinite(matrix).all():
        raise ValueError(f"cost must be finite numbers; got {matrix.tolist()}")
    if matrix.shape != (n, n):
        raise ValueError(
            f"cost must have shape ({n}, {n}) for the classes {list(classes)!r:.200}; got {matrix.shape}. "
            "In partial_fit give classes= in the first call."
        )
    if (matrix < 0).any() or np.diagonal(matrix).any():
        raise ValueError(f"cost must be at least 0, and 0 on the diagonal; got {matrix.tolist()}")
    return matrix


def classes_of_cost(cost: Any) -> list[int]:
    """Return the classes that a matrix of costs is for, where examples come one by one: 0 to one less than its size."""
    if isinstance(cost, Mapping):
        _by_name(cost, [])  # which refuses others
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
