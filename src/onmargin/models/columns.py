"""Columns of weights: one per class or label, their intercepts, and how new ones are added."""

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.geometry import ColumnMap

Places = Sequence[int] | NDArray[Any]


def intercept_value(*, fit: bool, scaling: float | str) -> float:
    """Return the value of the intercept coordinate: nan if the first row sets it, 0 without an intercept."""
    if not fit:
        return 0.0
    return nan if scaling == "auto" else float(scaling)


def class_columns(places: Places, n_classes: int, geometry: Any, *, half: float | None = None) -> ColumnMap | None:
    """Return the columns of all classes as multiples of the known ones, which move to `places`; None if unchanged.

    New ones start at zero. Two classes have one column w, which stands for -half w and half w: the difference of two
    prototypes, or with half = 1 the score of one class against the other. If None, the geometry knows `half`.
    """
    known = len(places)
    if n_classes <= max(known, 2):
        return None
    if known != 2:
        return move_columns(places, n_classes)
    factor = np.zeros(n_classes)
    half = geometry.half if half is None else half
    factor[places] = [-half, half]
    return ColumnMap(np.zeros(n_classes, np.intp), factor)


def move_columns(places: Places, n_columns: int) -> ColumnMap:
    """Return columns of which the known ones move to `places`."""
    source, factor = np.zeros(n_columns, np.intp), np.zeros(n_columns)
    source[places], factor[places] = np.arange(len(places)), 1
    return ColumnMap(source, factor)


def label_columns(places: Places, n_labels: int, geometry: Any = None, *, calibrated: bool) -> ColumnMap | None:
    """Return the same for labels with a column each; the calibration label stays last."""
    known = len(places)
    if n_labels <= known:
        return None
    return move_columns([*places, n_labels] if calibrated else places, n_labels + calibrated)
