"""Classes with a prototype each: their columns of weights, their counts and the weights of their examples."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from onmargin.estimators._online import MatrixLike
from onmargin.estimators._simplex import MarginOption
from onmargin.estimators._validation import ValidatedLearner
from onmargin.learner import Vector
from onmargin.models.balance import Balance
from onmargin.models.columns import mix_classes


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

    def _width(self) -> int:
        return len(self.classes_) if len(self.classes_) > 2 else 1

    def _meet(self, labels: NDArray[Any]) -> None:
        """Make room for labels not seen before; margins between the others stay as they are."""
        known, classes = self.classes_, np.union1d(self.classes_, labels)
        if len(classes) > max(len(known), 2):
            half = 0.5 if self.strategy == "joint" else 1.0
            self._recombine(mix_classes(np.searchsorted(classes, known), len(classes), half))
        counts = np.zeros(len(classes))
        counts[np.searchsorted(classes, known)] = self.class_counts_
        self.classes_, self.class_counts_ = classes, counts

    def decision_function(self, X: MatrixLike) -> NDArray[np.float64]:
        """Scores: how far on the side of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one score, positive for ``classes_[1]``; otherwise one a class.
        """
        scores = self._scores(X)
        return scores if len(self.classes_) > 2 else scores[:, 0]

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """The class of highest score.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Examples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            A label for each example; of equal scores the first class wins, and with two classes a score of zero is
            ``classes_[1]``.
        """
        scores = self._scores(X)
        return self._labels(scores)

    def _labels(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        combined = self._combined()
        task = self._learner.task if combined is None else combined.judge
        labels: NDArray[Any] = self.classes_[task.decode(scores)]
        return labels

    def _quality(self, scores: NDArray[np.float64], y: NDArray[Any]) -> float:
        return float(np.mean(self._labels(scores) == y))

    def _splitter(self) -> StratifiedShuffleSplit:
        return StratifiedShuffleSplit(test_size=self.validation_fraction, random_state=self.random_state)
