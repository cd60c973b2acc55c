"""Rows that come in trials: where each trial begins, the sets it falls into and what it weighs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._checks import plain
from onmargin.learner import Offsets, Vector


def read_trials(groups: ArrayLike | None, sets: ArrayLike | None, n_rows: int) -> tuple[Offsets, Vector | None, Any]:
    """Offsets of the trials, the number of each row's set (None: a trial is one set), and the ids given as groups."""
    if groups is None:
        if sets is not None:
            raise ValueError(
                "sets divides the rows of a trial, but without groups every row is a trial of its own: give groups= too"
            )
        return np.arange(n_rows + 1, dtype=np.intp), None, None
    ids = check_ids(groups, "groups", n_rows)
    ends = trial_ends(ids)
    numbers = None if sets is None else set_numbers(check_ids(sets, "sets", n_rows), ends)
    return ends, numbers, ids


def check_ids(given: ArrayLike, name: str, n_rows: int) -> NDArray[Any]:
    """One id a row, none missing."""
    try:
        ids = np.asarray(given)
        if ids.shape != (n_rows,):
            raise ValueError(f"got shape {ids.shape}")
        missing = ids != ids  # noqa: PLR0124
        if ids.dtype.kind == "O":
            missing |= [value is None or hash(value) is None for value in ids]  # what has no hash is refused
        if missing.any():
            row = int(missing.argmax())
            raise ValueError(f"row {row} has {plain(ids[row])!r}")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of {n_rows} ids, one a row of X: {error}") from error
    return ids


def codes(ids: NDArray[Any]) -> NDArray[np.intp]:
    """Numbers from 0, the same for equal ids."""
    if ids.dtype.kind != "O":
        return np.asarray(np.unique(ids, return_inverse=True)[1])
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in ids], dtype=np.intp)


def trial_ends(groups: NDArray[Any]) -> Offsets:
    """Offsets of the trials, which are runs of equal ids; an id that comes back after another one is refused."""
    starts = np.flatnonzero(np.append(True, groups[1:] != groups[:-1]))
    first = np.unique(codes(groups[starts]), return_index=True)[1]
    if len(first) < len(starts):
        row = starts[np.setdiff1d(np.arange(len(starts)), first)[0]]
        raise ValueError(
            f"groups must keep the rows of a trial together: group {plain(groups[row])!r} comes back at row {row}, "
            "after another one. Sort the rows by group first, with np.argsort(groups, kind='stable')."
        )
    return np.append(starts, len(groups)).astype(np.intp)


def set_numbers(sets: NDArray[Any], ends: Offsets) -> Vector:
    """The sets of each trial as 1, 2, ... in the order in which they first occur in it."""
    trial = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    code = codes(sets)
    _, first, pair = np.unique(trial * (code.max() + 1) + code, return_index=True, return_inverse=True)
    # Trials do not overlap: in the order of their first rows the sets of a trial are neighbors.
    place = np.empty_like(first)
    place[np.argsort(first)] = np.arange(len(first))
    number = place[pair]
    return np.asarray(number - number[ends[:-1]][trial] + 1.0)


def trial_weights(weight: Vector | None, ends: Offsets) -> Vector | None:
    """The weight of each trial, which all its rows must have."""
    if weight is None:
        return None
    first = np.repeat(ends[:-1], np.diff(ends))
    uneven = weight != weight[first]
    if uneven.any():
        row = int(uneven.argmax())
        raise ValueError(
            "sample_weight must be the same for all rows of a trial; "
            f"row {first[row]} has {weight[first[row]]:g}, and row {row} of the same trial {weight[row]:g}"
        )
    return weight[ends[:-1]]


def two_classes(labels: NDArray[Any], call: str) -> NDArray[Any]:
    """The labels, if they are two."""
    if len(labels) == 1:
        raise ValueError(
            f"{call} needs both classes, and there is one class only: {plain(labels[0])!r}. To learn from a stream in "
            "which the other comes later, or never, call partial_fit with classes=."
        )
    if len(labels) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"it has {len(labels)} labels, such as {labels[:3].tolist()}. Use PassiveAggressiveClassifier."
        )
    return labels


def with_prices(target: Vector, ends: Offsets, prices: ArrayLike | None) -> tuple[Vector, Offsets]:
    """The targets of each trial and then its prices, if there are any, and where those of each trial begin."""
    if prices is None:
        return target, ends
    try:
        numbers = np.asarray(prices, dtype=np.float64)
        if numbers.shape != target.shape:
            raise ValueError(f"got shape {numbers.shape}")
        wrong = ~(np.isfinite(numbers) & (numbers >= 0))
        if wrong.any():
            raise ValueError(f"row {wrong.argmax()} has {numbers[wrong][0]:g}")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"prices must be an array of {len(target)} finite numbers of at least 0, one per row of X: {error}"
        ) from error
    joined, rows, lengths = np.empty(2 * len(target)), np.arange(len(target)), np.diff(ends)
    joined[rows + np.repeat(ends[:-1], lengths)] = target
    joined[rows + np.repeat(ends[1:], lengths)] = numbers
    return joined, 2 * ends
