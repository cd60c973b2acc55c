"""Class weights: given ones, and "balanced" ones, n / (K n_c), which give every class the same total weight."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin.errors import ParameterError
from onmargin.learner import Vector

# The class of each example, whether it is learned, and earlier examples per class -> one factor per example.
Balance = Callable[[NDArray[np.intp], NDArray[np.bool_], Vector], Vector]


def balanced(codes: NDArray[np.intp], live: NDArray[np.bool_], before: Vector) -> Vector:
    """Return the factors from the counts of these examples only."""
    counts = np.bincount(codes[live], minlength=len(before))
    factors: Vector = live.sum() / (len(before) * np.maximum(counts, 1))
    return factors[codes]


def balanced_so_far(codes: NDArray[np.intp], live: NDArray[np.bool_], before: Vector) -> Vector:
    """Return the factors from the counts up to and including each example."""
    learned = np.flatnonzero(live)
    by_class = learned[np.argsort(codes[learned], kind="stable")]
    earlier = np.arange(len(learned)) - np.searchsorted(codes[by_class], codes[by_class])
    factors = np.ones(len(codes))
    factors[by_class] = 1 / (len(before) * (before[codes[by_class]] + earlier + 1))
    factors[learned] *= before.sum() + np.arange(1, len(learned) + 1)
    return factors


def class_factors(class_weight: Mapping[Any, float], classes: Sequence[Any]) -> list[float]:
    """Return the factor of each class: 1 where none is given."""
    for label in class_weight:
        if classes and isinstance(label, str) != isinstance(classes[0], str):
            raise ParameterError(
                f"labels must be all strings or all numbers: class_weight names {label!r:.80}, and {classes[0]!r:.80} "
                "is a class",
                ["class_weight"],
            )
    return [float(class_weight.get(label, 1.0)) for label in classes]


def balanced_factor(n_classes: int, of_class: float, of_all: float) -> float:
    """Return the factor of one example, by the counts of its class and of all classes, itself included."""
    return 1 / (n_classes * of_class) * of_all
