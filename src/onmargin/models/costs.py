"""The costs of predicting one class for another."""

from collections.abc import Sequence
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
