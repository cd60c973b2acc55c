"""Base class of stream classifiers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.calibration import Calibration
from onmargin._core.stream import check_weight
from onmargin.models.costs import classes_of_cost
from onmargin.models.labels import Label, Labels, check_label, weigh_by_counts_so_far
from onmargin.models.reliability import Reliability
from onmargin.stream._learner import Classes, StreamLearner


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(Classes, StreamLearner):
    """A stream classifier over a linear model; new classes may appear at any time.

    Attributes
    ----------
    classes_ : list
        The labels seen so far, sorted.
    reliability_ : Reliability
        How good the probabilities were, each computed before its example was learned: log loss, Brier score and
        calibration error.
    """

    task = "classify"
    _labelled = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        classes_of_cost(getattr(self, "cost", None))

    def _by_class(self) -> Mapping[Any, float] | str | None:
        """Return the factors on C per class, if the family has them."""
        return getattr(self, "class_weight", None)

    def _check_target(self, y: Any) -> Any:
        classes = self.classes_
        label = check_label(y, classes)
        if len(classes) == 2 and label not in classes:
            self._model.check_room(np.array([label]))
        known = classes_of_cost(getattr(self, "cost", None))
        if known and label not in known:
            raise ValueError(f"cost is a matrix for the classes 0 to {len(known) - 1}; got the label {label!r:.100}")
        return label

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: a dict of features with numbers or categories, a list of feature names, a text, or an array or
            sparse row of numbers. The first example learned determines whether features are identified by name or by
            position.
        y : str or int
            The label; a new label becomes a class. All labels must be strings, or all integers.
        weight : float, default=1.0
            Factor on C, at least 0; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated model.
        """
        if self._by_class() is not None:
            with self._turns:
                self._learn_weighted(x, y, weight)
            return self
        loop = self._loop
        if loop is None or not loop.learn_label(x, y, weight):
            self._learn_new(x, y, weight)
        return self

    def _learn_weighted(self, x: Any, y: Any, weight: float) -> None:
        """Learn an example with its weight times that of its class; the caller holds the lock."""
        if check_weight(weight) == 0:
            return
        label = self._check_target(y)
        loop = self._loop
        if loop is None or label not in loop.targets:
            self._learn_new(x, label, weight)
            return
        before, rounds = self._model.labels, self._n_rounds()
        try:
            factor = self._count(label)  # first, because an interrupt may follow the round
            loop.learn_label(x, label, weight * factor)
        except BaseException:
            if self._n_rounds() == rounds:
                self._model.labels = before
            raise

    def _count(self, label: Label) -> float:
        """Count an example of a class, and return the weight of the class."""
        by_class, labels = self._by_class(), self._model.labels
        if by_class is None:
            return 1.0
        code = np.array([labels.by_label[label]])
        self._model.labels = labels.with_examples(code)
        return float(labels.weights(by_class, code, np.ones(1, bool), weigh_by_counts_so_far)[0])

    def _learn_new(self, x: Any, y: Any, weight: float) -> None:
        """Learn an example whose label is new, or the first one of a new loop."""
        if check_weight(weight) == 0:
            return
        label, begun = self._check_target(y), self._has_begun
        with self._open_loop(x) as loop:
            if label in loop.targets:
                loop.learn_label(x, label, weight * self._count(label))
                return
            loop.read(x)
            if begun:  # options may have changed since
                self._model.use_plan(self.plan())
            self._model.add_labels([label, *classes_of_cost(getattr(self, "cost", None))])
            self._model.set_task()
            loop.targets = self._model.labels.target_by_label()
            loop.use_model()
            loop.run_round(np.array([loop.targets[label]]), weight * self._count(label))

    @property
    def class_counts_(self) -> dict[Label, int]:
        """Number of examples by class, which are counted if there is a `class_weight`."""
        if self._by_class() is None:
            raise AttributeError("classes are counted only with class_weight")
        labels = self._model.labels if self._has_begun else Labels()
        return {label: int(count) for label, count in zip(labels.known, labels.counts, strict=True) if count}

    def predict_one(self, x: Any) -> Any:
        """Predict the class of highest score.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        label : str or int or None
            The label. Ties go to the first class; with two classes, a score of zero predicts ``classes_[1]``. None if
            nothing was learned yet.
        """
        loop = self._loop or self._get_loop()
        if loop is None:
            return None
        classes = self.classes_
        best = loop.best(x)
        if classes is not self.classes_:  # another thread has added a class
            return self.predict_one(x)
        return classes[best if len(classes) > 1 else 0]

    def scores_one(self, x: Any) -> dict[Label, float]:
        """Return the score of each class.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        scores : dict
            Scores by label; with two classes, the margin and its negative.
        """
        loop = self._get_loop()
        if loop is None:
            return {}
        with self._turns:
            scores = loop.scores(x)
            if self._model.labels.n_classes == 2:
                scores = [-scores[0], scores[0]]
            return dict(zip(self.classes_, scores, strict=False))

    def predict_proba_one(self, x: Any) -> dict[Label, float]:
        """Return the probability of each class, calibrated on the stream learned so far.

        The class of highest score need not be the most probable one: calibration corrects scores that favor a class.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        probabilities : dict
            Probabilities by label, which sum to 1; empty if nothing was learned yet.
        """
        loop = self._get_loop()
        if loop is None:
            return {}
        with self._turns:
            if len(self.classes_) < 2:
                return dict.fromkeys(self.classes_, 1.0)
            return dict(zip(self.classes_, loop.probabilities(x), strict=True))

    def predict_proba_many(self, X: Iterable[Any]) -> list[dict[Label, float]]:
        """Return the probabilities of several examples; the same as calling `predict_proba_one` for each.

        Parameters
        ----------
        X : iterable, data frame, or matrix of shape (n_samples, n_features)
            Examples, as for `learn_many`; a data frame as for `predict_many`.

        Returns
        -------
        probabilities : list of dict
            One dict per example.
        """
        return [self.predict_proba_one(x) for x in self._each(X)]

    @property
    def reliability_(self) -> Reliability:
        """Reliability of the probabilities, each computed before its example was learned."""
        return Reliability.of(self._model.calibration if self._has_begun else Calibration())

    def _find_best_label(self, x: Any) -> Any:
        return self.predict_one(x)

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        n = self._model.labels.n_classes
        if label is None and n > 2:
            raise ValueError(f"each class has weights of its own: give label=, one of {self.classes_!r:.200}")
        code = n - 1 if label is None else self._model.labels.code_of(label)
        direction = np.array([2.0 * code - 1]) if n == 2 else np.eye(n)[code]
        return direction, float(direction @ self._intercepts())
