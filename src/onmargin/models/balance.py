"""The "balanced" class weights: n / (K n_c), so that every class weighs the same in sum."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from onmargin.learner import Vector

# The class of each example, whether it is learned at all, and the examples of each class before -> a factor an example.
Balance = Callable[[NDArray[np.intp], NDArray[np.bool_], Vector], Vector]


def balanced(codes: NDArray[np.intp], live: NDArray[np.bool_], before: Vector) -> Vector:
    """From the counts of these examples alone."""
    counts = np.bincount(codes[live], minlength=len(before))
    factors: Vector = live.sum() / (len(before) * np.maximum(counts, 1))
    return factors[codes]


def balanced_so_far(codes: NDArray[np.intp], live: NDArray[np.bool_], before: Vector) -> Vector:
    """From the counts as they stand when an example is learned, itself included."""
    learned = np.flatnonzero(live)
    by_class = learned[np.argsort(codes[learned], kind="stable")]
    earlier = np.arange(len(learned)) - np.searchsorted(codes[by_class], codes[by_class])
    factors = np.ones(len(codes))
    factors[by_class] = 1 / (len(before) * (before[codes[by_class]] + earlier + 1))
    factors[learned] *= before.sum() + np.arange(1, len(learned) + 1)
    return factors
