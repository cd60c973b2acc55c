"""Geometries of quasi-additive learners: weights are a link function of a sum of examples ([PD] sec. 4)."""

from math import log
from typing import Any

import numpy as np

from onmargin._core.geometries.additive import Balanced, Entropic, PNorm
from onmargin._core.geometries.geometry import Euclidean, Geometry
from onmargin.models.ensemble import Kind
from onmargin.models.options import option
from onmargin.models.plan import RowRules, Shape
from onmargin.models.rules import NONE, Number

LINKS = ("euclidean", "entropic", "pnorm")


# Why weights on the simplex need the number of features.
OF_SIMPLEX = "weights on the simplex start at 1 / n_features:"


def norm() -> Any:
    """Return the option p of the p-norm geometry."""
    return option(None, Number(2, 500), NONE)


def default_p(n_features: int) -> float:
    """Return 2 ln n, where the p-norm geometry does best for sparse targets."""
    return max(2.0, 2 * log(max(n_features, 1)))


def why_sized(geometry: str, p: float | None) -> str:
    """Return why a geometry must know the number of features, if it must."""
    if geometry == "entropic":
        return OF_SIMPLEX
    return "p=None is 2 ln(n_features): set p," if geometry == "pnorm" and p is None else ""


def link(
    geometry: str, *, bias: float = 0.0, p: float | None = None, balanced: bool = True, threshold: float = 0.0
) -> dict[str, Any]:
    """Return what a plan says of weights in a geometry; `balanced` and `threshold` are of the entropic one."""

    def make(shape: Shape, kind: Kind | None, n_columns: int) -> Geometry:
        n_features = shape.n_features
        if geometry == "euclidean":
            return Euclidean(n_features, n_columns, np.float64, sparse=shape.sparse, bias=bias)
        if geometry == "pnorm":
            return PNorm(n_features, n_columns, default_p(n_features) if p is None else float(p))
        if balanced:
            return Balanced(n_features, n_columns)
        return Entropic(n_features, n_columns, threshold=threshold if n_columns == 1 else 0.0)

    return {"weights": make, "rows": RowRules((np.dtype(np.float64),), why_sized(geometry, p))}
