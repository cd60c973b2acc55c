"""Rows grouped in trials: their offsets, sets and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._checks import plain
from onmargin.learner import Offsets, Vector


def read_trials(groups: ArrayLike | None, sets: ArrayLike | None, n_rows: int) -> tuple[Offsets, Vector | None, Any]:
    """Return the offsets of the trials, each row's set number (None if a trial is one set), and the group ids."""
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
    """Return one id per row, none missing."""
    try:
        ids = np.asarray(given)
        if ids.shape != (n_rows,):
            raise ValueError(f"got shape {ids.shape}")
        missing = ids != ids  # noqa: PLR0124
        if ids.dtype.kind == "O":
            missing |= [value is None or hash(value) is None for value in ids]  # an unhashable id raises an error
        if missing.any():
            row = int(missing.argmax())
            raise ValueError(f"row {row} has {plain(ids[row])!r}")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of {n_rows} ids, one per row of X: {error}") from error
    return ids


def codes(ids: NDArray[Any]) -> NDArray[np.intp]:
    """Return numbers from 0, the same for equal ids."""
    if ids.dtype.kind != "O":
        return np.asarray(np.unique(ids, return_inverse=True)[1])
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in ids], dtype=np.intp)


def trial_ends(groups: NDArray[Any]) -> Offsets:
    """Return the offsets of the trials, which are runs of equal ids; refuse an id that reappears after another one."""
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
    """Return the sets of each trial as 1, 2, ..., in order of first occurrence."""
    trial = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    code = codes(sets)
    _, first, pair = np.unique(trial * (code.max() + 1) + code, return_index=True, return_inverse=True)
    # Trials do not overlap, so the sets of a trial are adjacent in the order of their first rows.
    place = np.empty_like(first)
    place[np.argsort(first)] = np.arange(len(first))
    number = place[pair]
    return np.asarray(number - number[ends[:-1]][trial] + 1.0)


def trial_weights(weight: Vector | None, ends: Offsets) -> Vector | None:
    """Return the weight of each trial, which all its rows must share."""
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
    """Return the labels; refuse any number other than two."""
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
    """Return the targets of each trial, followed by its prices if there are any, and the offsets of both."""
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
