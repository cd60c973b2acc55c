"""Codes of labels, and classes that appear in the middle of a stream."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._checks import plain


def label_codes(
    y: NDArray[Any], classes: NDArray[Any], weight: NDArray[Any] | None = None, *, remedy: str
) -> NDArray[np.intp]:
    """Return the index of each label among the classes, in their given order; arbitrary for a label of weight 0."""
    order = np.argsort(classes, kind="stable")
    codes = order[np.minimum(np.searchsorted(classes, y, sorter=order), len(order) - 1)]
    strange = classes[codes] != y
    if weight is not None:
        strange &= weight > 0
    if strange.any():
        label = plain(y[strange][0])
        raise ValueError(f"y has the label {label!r}, which is not among the classes {classes.tolist()}. {remedy}")
    return codes


def nearest_codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the index of each label among the sorted classes; arbitrary for an unknown label."""
    last = len(classes) - 1
    if y.dtype == classes.dtype == np.int64 and last >= 0 and int(classes[last]) - int(classes[0]) == last:
        codes: NDArray[np.intp] = np.clip(y - classes[0], 0, last)  # consecutive integers give their own index
        return codes
    return np.minimum(np.searchsorted(classes, y), last)


def segments(y: NDArray[Any], classes: NDArray[Any], live: NDArray[np.bool_]) -> list[tuple[int, int, NDArray[Any]]]:
    """Split y where a label is learned for the first time: (start, stop, the label that is new at start, if any).

    Pieces in which nothing is learned are left out.
    """
    new = live.copy()
    if len(classes):
        new &= classes[nearest_codes(y, classes)] != y
    if not new.any():
        return [(0, len(y), y[:0])] if live.any() else []
    places = np.flatnonzero(new)
    first = set(places[np.unique(y[new], return_index=True)[1]].tolist())
    cuts = []
    for start, stop in pairwise(sorted({0, len(y)} | first)):
        if live[start:stop].any():
            cuts.append((start, stop, y[start : start + (start in first)]))
    return cuts
