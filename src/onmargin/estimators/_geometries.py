"""The words for `geometry`: what the weights are a link of."""

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
from scipy import sparse

from onmargin._core.geometries.additive import Balanced, Entropic, PNorm
from onmargin._core.geometries.geometry import Euclidean, Geometry


def default_p(n_features: int) -> float:
    """2 ln n: where the p-norm geometry does best for sparse targets."""
    return max(2.0, 2 * log(max(n_features, 1)))


def entropic(n_features: int, n_columns: int, *, balanced: bool, threshold: float) -> Geometry:
    """The simplex, or with `balanced` weights of either sign."""
    return Balanced(n_features, n_columns) if balanced else Entropic(n_features, n_columns, threshold=threshold)


def pnorm(n_features: int, n_columns: int, p: float | None) -> Geometry:
    return PNorm(n_features, n_columns, default_p(n_features) if p is None else float(p))


# n_features, n_columns, X, the estimator -> the geometry
GEOMETRIES: dict[str, Callable[[int, int, Any, Any], Geometry]] = {
    "euclidean": lambda n, k, X, model: Euclidean(n, k, np.float64, sparse=sparse.issparse(X), bias=model._bias()),
    "entropic": lambda n, k, X, model: entropic(n, k, balanced=model.balanced, threshold=model._threshold()),
    "pnorm": lambda n, k, X, model: pnorm(n, k, model.p),
}
