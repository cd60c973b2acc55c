"""Rows of a matrix or examples of a list, learned by compiled loops as far as their labels are known."""

from collections.abc import Iterator
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.rows import Rows


def widen(model: Any, rows: Rows) -> Rows:
    """Rows as wide as the weights, which grow to theirs; a sparse row is zero where it has nothing."""
    if not rows.is_sparse() or not hasattr(model, "_learner"):
        return rows
    with model._turns:
        geometry = model._learner.geometry
        if rows.n_features > geometry.n_features:
            model._learner.geometry = geometry.resized(rows.n_features)
            model._player = None
    return rows.widened(max(rows.n_features, geometry.n_features))


def learn_closed(learner: Any, rows: Rows, y: Any, weight: Any, targets: Any = None) -> None:
    """Learn rows that are seen once; an interrupt that comes when they are learned changes nothing of it."""
    try:
        try:
            learner.learn(rows, y, weight, targets=targets)
        finally:
            learner.close()
    except BaseException:  # which may have come before it was closed
        learner.close()
        raise


def learn_known(model: Any, rows: Rows, y: Any, weights: Any) -> Iterator[int]:
    """Learn all rows up to one whose label is not known, give its number, and go on after it.

    Who gets it learns that row alone. The rows are as good as one by one, bit for bit.
    """
    factors = None if weights is None else np.ascontiguousarray(weights, np.float64)
    done = 0
    while done < rows.n_rows:
        targets = _targets(model, y[done:])
        if factors is not None:
            targets[~(factors[done:] >= 0) | np.isinf(factors[done:])] = nan
        if getattr(model._player, "nonnegative", None) is not None:
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
    """The same for examples whose features have names; who gets a number meets the label, or the error."""
    done = 0
    while done < len(X):
        player = model._opened()
        if player is not None:
            done = player.learn_many(X, y, weights, done, model._labelled)
        if done < len(X):
            yield done
            done += 1


def _negative(rows: Rows) -> NDArray[np.bool_]:
    """Which rows have a negative number."""
    values, _, ends = rows.owners
    found: NDArray[np.bool_] = np.zeros(rows.n_rows, bool)
    if ends is None:
        found[:] = (values < 0).any(axis=1)
        return found
    places = ends[0] + np.flatnonzero(values[ends[0] : ends[-1]] < 0)
    found[np.searchsorted(ends, places, side="right") - 1] = True
    return found


def _targets(model: Any, y: Any) -> NDArray[np.float64]:
    """What the task takes for labels; nan for those that it must meet, or refuse, first."""
    if model._opened() is None or model._names is not None:
        return np.full(len(y), nan)
    if model._labelled:
        known = model._player.targets
        if not isinstance(y, np.ndarray):
            return np.array([known.get(label, nan) if isinstance(label, str | int) else nan for label in y])
        found, places = np.unique(y, return_inverse=True)
        return np.array([known.get(label, nan) for label in found.tolist()])[places]
    try:
        targets = np.array(y, np.float64)
    except (TypeError, ValueError):
        return np.full(len(y), nan)
    with np.errstate(over="ignore"):
        targets[~np.isfinite(targets.astype(model.features_.dtype))] = nan
    return targets
