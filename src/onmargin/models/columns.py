"""Columns of weights: one per class or label, their intercepts, and how new ones are added."""

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = Sequence[int] | NDArray[Any]


def intercept_value(*, fit: bool, scaling: float | str) -> float:
    """Return the value of the intercept coordinate: nan if the first row sets it, 0 without an intercept."""
    if not fit:
        return 0.0
    return nan if scaling == "auto" else float(scaling)


def class_columns(
    places: Places, n_classes: int, geometry: Any, *, half: float | None = None
) -> NDArray[np.float64] | None:
    """Return the columns of all classes as combinations of the known ones, which move to `places`; None if unchanged.

    New ones start at zero. Two classes have one column w, which stands for -half w and half w: the difference of two
    prototypes, or with half = 1 the score of one class against the other. If None, the geometry knows `half`.
    """
    known = len(places)
    if n_classes <= max(known, 2):
        return None
    if known == 2:
        half = geometry.half if half is None else half
        columns = np.array([[-half], [half]])
    else:
        columns = np.eye(known, max(known, 1))
    mixed = np.zeros((n_classes, columns.shape[1]))
    mixed[places] = columns
    return mixed


def label_columns(
    places: Places, n_labels: int, geometry: Any = None, *, calibrated: bool
) -> NDArray[np.float64] | None:
    """Return the same for labels with a column each; the calibration label stays last."""
    known = len(places)
    if n_labels <= known:
        return None
    mixed = np.zeros((n_labels + calibrated, max(known + calibrated, 1)))
    mixed[places, np.arange(known)] = 1
    if calibrated:
        mixed[-1, -1] = 1
    return mixed
