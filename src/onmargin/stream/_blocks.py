"""Compiled loops over the rows of a matrix or the examples of a list whose labels are known."""

from collections.abc import Iterator
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.rows import Rows

_FEW = 8  # classes that are compared with all labels, which is faster than sorting the labels


def widen(model: Any, rows: Rows) -> Rows:
    """Widen the weights or the sparse rows so that both have the same width."""
    if not rows.is_sparse() or not hasattr(model, "_learner"):
        return rows
    with model._turns:
        model._get_loop()
        geometry = model._learner.geometry
        if rows.n_features > geometry.n_features:
            model._learner.geometry = geometry.resize(rows.n_features)
            model._loop = None
    return rows.widened(max(rows.n_features, geometry.n_features))


def learn_closed(learner: Any, rows: Rows, y: Any, weight: Any, targets: Any = None) -> None:
    """Learn rows that are seen once, and close the learner even if an interrupt comes."""
    learner.check_learns()
    try:
        try:
            learner.learn(rows, y, weight, targets=targets)
        finally:
            learner.close()
    except BaseException:  # an interrupt may come before the learner is closed
        learner.close()
        raise


def learn_known(model: Any, rows: Rows, y: Any, weights: Any) -> Iterator[int]:
    """Learn rows up to one whose label is unknown, yield its index, and continue after it.

    The caller must learn the yielded row itself. The result is the same, bit for bit, as one row at a time.
    """
    factors = None if weights is None else np.ascontiguousarray(weights, np.float64)
    done = 0
    while done < rows.n_rows:
        targets = _targets(model, y[done:])
        if factors is not None:
            targets[~(factors[done:] >= 0) | np.isinf(factors[done:])] = nan
        if getattr(model._loop, "nonnegative", None) is not None:
            targets[_negative(rows)[done:]] = nan
        unknown = np.flatnonzero(np.isnan(targets))
        stop = done + (int(unknown[0]) if len(unknown) else len(targets))
        if stop > done and rows.n_features == model._learner.geometry.n_features:
            for start, end in model._learner.stretches(rows, done, stop):
                part = None if factors is None else factors[start:end]
                with model._turns:
                    learn_closed(model._learner, rows.part(start, end), targets[start - done : end - done], part)
            done = stop
        if done < rows.n_rows:
            yield done
            done += 1


def learn_readily(model: Any, X: tuple[Any, ...], y: list[Any], weights: list[float] | None) -> Iterator[int]:
    """Do the same as `learn_known` for examples with named features; the caller adds the label or gets the error."""
    done = 0
    while done < len(X):
        loop = model._get_loop()
        if loop is not None:
            done = loop.learn_many(X, y, weights, done, model._labelled)
        if done < len(X):
            yield done
            done += 1


def _negative(rows: Rows) -> NDArray[np.bool_]:
    """Return which rows have a negative value."""
    values, _, ends = rows.owners
    found: NDArray[np.bool_] = np.zeros(rows.n_rows, bool)
    if ends is None:
        found[:] = (values < 0).any(axis=1)
        return found
    places = ends[0] + np.flatnonzero(values[ends[0] : ends[-1]] < 0)
    found[np.searchsorted(ends, places, side="right") - 1] = True
    return found


def _targets(model: Any, y: Any) -> NDArray[np.float64]:
    """Return the targets of the task for labels; nan for labels that must first be added or refused."""
    if model._get_loop() is None or model._names is not None:
        return np.full(len(y), nan)
    if model._labelled:
        known = model._loop.targets
        if not isinstance(y, np.ndarray):
            return np.array([known.get(label, nan) if isinstance(label, str | int) else nan for label in y])
        if y.dtype.kind in "iu" and len(known) <= _FEW:
            targets = np.full(len(y), nan)
            for label, target in known.items():
                if isinstance(label, int):
                    targets[y == label] = target
            return targets
        found, places = np.unique(y, return_inverse=True)
        return np.array([known.get(label, nan) for label in found.tolist()])[places]
    try:
        targets = np.array(y, np.float64)
    except (TypeError, ValueError):
        return np.full(len(y), nan)
    with np.errstate(over="ignore"):
        targets[~np.isfinite(targets.astype(model.features_.dtype))] = nan
    return targets
