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


# Up to this many labels are searched for: fewer calls of NumPy matter more than what each does.
FEW = 1000


def are_consecutive(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Return whether classes are consecutive integers, so that labels of the same type give their own index."""
    last = len(classes) - 1
    return y.dtype == classes.dtype == np.int64 and last >= 0 and int(classes[last]) - int(classes[0]) == last


def nearest_codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the index of each label among the sorted classes; arbitrary for an unknown label."""
    if len(y) > FEW and all_known(y, classes):
        return y - classes[0] if classes[0] else y
    return np.minimum(classes.searchsorted(y), len(classes) - 1)


def all_known(y: NDArray[Any], classes: NDArray[Any]) -> bool:
    """Return whether it is quickly seen that all labels are classes."""
    return are_consecutive(y, classes) and bool(classes[0] <= y.min() and y.max() <= classes[-1])


def segments(
    y: NDArray[Any], classes: NDArray[Any], live: NDArray[np.bool_] | None
) -> list[tuple[int, int, NDArray[Any]]]:
    """Split y where a label is learned for the first time: (start, stop, the label that is new at start, if any).

    `live` are the examples that are learned; if None, all. Pieces in which nothing is learned are left out.
    """
    whole = [(0, len(y), y[:0])] if (len(y) if live is None else live.any()) else []
    if len(y) > FEW and all_known(y, classes):
        return whole
    new = classes[nearest_codes(y, classes)] != y if len(classes) else np.ones(len(y), np.bool_)
    if live is not None:
        new &= live
    if not new.any():
        return whole
    places = np.flatnonzero(new)
    first = set(places[np.unique(y[new], return_index=True)[1]].tolist())
    cuts = []
    for start, stop in pairwise(sorted({0, len(y)} | first)):
        if live is None or live[start:stop].any():
            cuts.append((start, stop, y[start : start + (start in first)]))
    return cuts
