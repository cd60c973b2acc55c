"""Conversion of a given competitor to one vector."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.tasks.sequence import Sequence
from onmargin._core.tasks.task import Structured, Task, Uniclass
from onmargin._core.tasks.trial import Ordinal
from onmargin.estimators._checks import check_numbers

Vector = NDArray[np.float64]


def as_vector(run: Any, competitor: Any, problem: Any) -> Vector:
    """Return one vector from weights, a tuple of weights and intercepts, or a fitted estimator of the same kind."""
    if getattr(run, "kernel", None) is not None:
        return _expansion(run, check_numbers(competitor, "competitor"), problem)
    task = type(run._learner.task)
    if task is Structured:
        return _structures(competitor, problem)
    names, join = ATTRIBUTES.get(task, (("coef_", "intercept_"), _columns))
    if hasattr(competitor, names[0]):
        given = [getattr(competitor, name) for name in names if hasattr(competitor, name)]
    else:
        given = list(competitor) if isinstance(competitor, tuple) else [competitor]
    if not 0 < len(given) <= len(names):
        raise ValueError(f"competitor must be {_words(names)}; got a tuple of {len(given)}")
    arrays = [
        check_numbers(part.toarray() if hasattr(part, "toarray") else part, f"competitor's {name}")
        for part, name in zip(given, names, strict=False)
    ]
    try:
        return np.asarray(join(run, problem, *arrays), dtype=np.float64).reshape(problem.n_weights)
    except ValueError as error:
        shapes = [array.shape for array in arrays]
        raise ValueError(f"competitor must be {_words(names)}, of the shapes of this learner; got {shapes}") from error


def _expansion(run: Any, coefficients: Vector, problem: Any) -> Vector:
    """Map coefficients of the rows, one row per column of scores, to weights in the coordinates of their span."""
    if not hasattr(problem, "linear"):
        raise ValueError("competitor must be None for a ball in the feature space of a kernel")
    X, columns = problem.linear.X, problem.linear.n_columns
    if coefficients.size != columns * X.shape[0]:
        raise ValueError(
            f"competitor must have shape ({columns}, {X.shape[0]}) with a kernel, one coefficient per row; got "
            f"{coefficients.shape}"
        )
    return np.asarray(coefficients.reshape(columns, -1) @ X).ravel()


def _structures(competitor: Any, problem: Any) -> Vector:
    """Return the weights from a fitted estimator, a mapping by name, or an array in the order of the features."""
    given = competitor.weights_ if hasattr(competitor, "weights_") else competitor
    if isinstance(given, Mapping):
        check_numbers(list(given.values()) or [0.0], "competitor")
        return np.asarray(problem.vector(given))
    if problem.places is not None:
        raise ValueError("competitor must be a mapping from names to weights, or a fitted estimator")
    u = check_numbers(given, "competitor").ravel()
    if u.shape != (problem.width,):
        raise ValueError(f"competitor must have {problem.width} weights, one per feature; got {u.size}")
    return np.asarray(u, dtype=np.float64)


def _words(names: tuple[str, ...]) -> str:
    return f"a fitted estimator of this kind, or its {names[0]}, or a tuple of {', '.join(names)}"


def _bias(run: Any) -> float:
    bias = float(getattr(run._learner.geometry, "bias", 0.0))
    return 0.0 if np.isnan(bias) else bias


def _columns(run: Any, problem: Any, coef: Vector, intercept: Any = 0.0) -> Vector:
    """Join one row of weights per column, each with the intercept coordinate's weight; missing columns are zero."""
    coef = np.atleast_2d(coef)
    bias, columns = _bias(run), _n_columns(run)
    offsets = np.broadcast_to(np.ravel(intercept) if np.ndim(intercept) else float(intercept), (len(coef),))
    if bias > 0:
        coef = np.column_stack([coef, offsets / bias])
    return np.vstack([coef, np.zeros((max(columns - len(coef), 0), coef.shape[1]))]).ravel()


def _n_columns(run: Any) -> int:
    """Return the number of columns if there is a calibration label, otherwise 0.

    The calibration label has one more column, which is zero if the other weights are differences to it.
    """
    return int(run._learner.geometry.n_columns) if getattr(run, "_has_calibration_label", False) else 0


def _thresholds(run: Any, problem: Any, coef: Vector, thresholds: Vector) -> Vector:
    return np.concatenate([coef.ravel(), thresholds.ravel()])


def _ball(run: Any, problem: Any, center: Vector, radius: Any = 0.0) -> Vector:
    """Return the center relative to its start; with a learned radius, the height is one additional coordinate."""
    if run.max_radius is None:
        return np.asarray(center - problem.start_at)
    limit = float(run.max_radius)
    if not 0 <= radius <= limit:
        raise ValueError(f"a radius from 0 to max_radius={limit:g}")
    return np.append(center - problem.start_at, np.sqrt(limit**2 - radius**2) - limit)


def _chain(run: Any, problem: Any, coef: Vector, transitions: Vector, intercept: Any = 0.0) -> Vector:
    return np.concatenate([_columns(run, problem, coef, intercept), transitions.ravel()])


# Attributes of competitors by task, and the function that joins them to a vector; other tasks have linear weights.
ATTRIBUTES: dict[type[Task], tuple[tuple[str, ...], Callable[..., Vector]]] = {
    Ordinal: (("coef_", "thresholds_"), _thresholds),
    Uniclass: (("center_", "radius_"), _ball),
    Sequence: (("coef_", "transitions_", "intercept_"), _chain),
}
