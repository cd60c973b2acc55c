"""Checks of the labels of a stream."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

Label = str | int | float


def check_label(label: Any, classes: list[Label]) -> Label:
    """Return a label that may become a class; labels are strings or integers, but not both."""
    if isinstance(label, np.generic):
        label = label.item()
    whole = isinstance(label, int) or (isinstance(label, float) and label.is_integer())
    if not (whole or isinstance(label, str)):
        hint = ". For numbers use PassiveAggressiveRegressor." if isinstance(label, float) else ""
        raise TypeError(f"a label must be a string or a whole number; got {label!r:.100}{hint}")
    if classes and isinstance(label, str) != isinstance(classes[0], str):
        raise ValueError(f"labels must be all strings or all numbers: {label!r} is new, and {classes[0]!r} is known")
    return label  # type: ignore[no-any-return]


def check_label_set(y: Any, classes: list[Label]) -> set[Any]:
    """Return the labels of an example that may have any number of them, each of which may become a class."""
    if isinstance(y, str | bytes | Mapping) or not isinstance(y, Iterable):
        hint = f": write {{{y!r}}} for one label" if isinstance(y, str) else ""
        raise TypeError(f"y must be a set, list or tuple of labels; got {y!r:.100}{hint}")
    labels: list[Any] = []
    for label in y:
        labels.append(check_label(label, classes or labels))
    if len(set(labels)) < len(labels):
        raise ValueError(f"y names a label twice: {y!r:.100}")
    return set(labels)


def code_of(label: Any, classes: list[Label]) -> int:
    """Return the index of a label, which must be known."""
    try:
        return classes.index(label)
    except ValueError:
        raise ValueError(f"label {label!r:.100} is not one of {classes!r:.200}") from None
