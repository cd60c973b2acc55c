"""Linear weights: the values of `geometry`, and the creation of weights for rows of a shape."""

from collections.abc import Callable
from typing import Any

from onmargin._core.geometries.diagonal import Adaptive, Diagonal, Normalized
from onmargin._core.geometries.geometry import Euclidean, Geometry
from onmargin.models.columns import intercept_value
from onmargin.models.ensemble import Kind, first_averaged, grid
from onmargin.models.experts import Ensemble, Expert, Experts, Weights, same_task
from onmargin.models.plan import Shape
from onmargin.models.updates import projection

METRICS: dict[str, type[Diagonal]] = {"adaptive": Adaptive, "normalized": Normalized}
# The power of 1 / |x|^2 with which a step scales.
_PER_NORM: dict[Any, float] = {Euclidean: 1.0, Adaptive: 0.5, Normalized: 0.0}
GEOMETRIES: dict[str, type[Geometry]] = {"euclidean": Euclidean, **METRICS}


def weights(options: Any, kind: Kind) -> Callable[[Shape, Kind | None, int], Geometry]:
    """Return what makes weights of `kind`, or another, with an intercept and averages as the options say."""
    bias = intercept_value(fit=options.fit_intercept, scaling=options.intercept_scaling)
    average = first_averaged(options.average) if hasattr(options, "average") else 0

    def make(shape: Shape, other: Kind | None, n_columns: int) -> Geometry:
        return (other or kind)(
            shape.n_features, n_columns, shape.dtype, sparse=shape.sparse, bias=bias, average=average
        )

    return make


def alternatives(options: Any, kind: Kind, step: Any, *, by_loss: bool) -> Ensemble | None:
    """Return the models of several values of C, or of current and averaged weights; None if there is one model."""
    if options.average == "best":
        current = Expert("current", Weights(kind), "", step)
        experts: tuple[Expert, ...] = (current, current.as_average()._replace(name="averaged"))
    else:
        values = grid(getattr(options, "C", 1.0))
        experts = tuple([Expert(f"C={C:g}", Weights(kind), "", projection(C, options.loss)) for C in values])
    hedge = getattr(options, "combine", "leader") == "hedge"
    units = _units(options, kind) if isinstance(getattr(options, "C", 1.0), str) else None
    return (
        Ensemble(Experts(experts, experts), same_task, hedge=hedge, by_loss=by_loss, units=units) if experts else None
    )


def _units(options: Any, kind: Kind) -> dict[str, Any]:
    """Return what C="auto" is in units of: 1 / q, q being the curvature, and for capped steps those of the loss.

    For plain weights q is |x|^2. In the metric of AdaGrad it grows with |x|, and in the normalized one it does not.
    """
    return {"per_norm": _PER_NORM[kind], "in_targets": options.loss == "epsilon_insensitive"}


def swept(options: Any) -> dict[str, Any]:
    """Return the options that cannot change after training has started."""
    return {"C": grid(getattr(options, "C", 1.0)), "average": "best" if options.average == "best" else False}
