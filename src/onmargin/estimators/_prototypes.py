"""Classes with a prototype each: their columns of weights, their counts and the weights of their examples."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin.estimators._balance import Balance
from onmargin.estimators._classes import mixing
from onmargin.estimators._simplex import MarginOption
from onmargin.estimators._validation import ValidatedLearner
from onmargin.learner import Vector


class PrototypeLearner(MarginOption, ValidatedLearner):
    """An estimator of classes that may turn up at any time."""

    strategy: str
    class_weight: Mapping[Any, float] | str | None

    classes_: NDArray[Any]
    class_counts_: Vector

    def _codes(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """The class of each label; any, where a label is not known because its examples weigh nothing."""
        return np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)

    def _target(self, codes: NDArray[np.intp]) -> Vector:
        """Classes as the task wants them: -1 and +1 for two, otherwise the column."""
        target = codes.astype(np.float64)
        return 2 * target - 1 if len(self.classes_) == 2 else target

    def _weighted(self, codes: NDArray[np.intp], weight: Vector | None, balance: Balance) -> Vector | None:
        """Example weights times class weights, "balanced" ones by the given rule; counts the classes."""
        live = np.ones(len(codes), bool) if weight is None else weight > 0
        before = self.class_counts_
        self.class_counts_ = before + np.bincount(codes[live], minlength=len(before))
        if self.class_weight is None:
            return weight
        if isinstance(self.class_weight, Mapping):
            table = [self.class_weight.get(label, 1.0) for label in self.classes_.tolist()]
            factors = np.array(table, dtype=np.float64)[codes]
        else:
            factors = balance(codes, live, before)
        return factors if weight is None else weight * factors

    def _meet(self, labels: NDArray[Any]) -> None:
        """Make room for labels not seen before; margins between the others stay as they are."""
        known, classes = self.classes_, np.union1d(self.classes_, labels)
        if len(classes) > max(len(known), 2):
            half = 0.5 if self.strategy == "joint" else 1.0
            self._learner.geometry = self._learner.geometry.recombined(mixing(known, classes, half))
        counts = np.zeros(len(classes))
        counts[np.searchsorted(classes, known)] = self.class_counts_
        self.classes_, self.class_counts_ = classes, counts
