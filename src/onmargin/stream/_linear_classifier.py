"""Base class of stream classifiers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from onmargin._core.calibration import Calibration
from onmargin._core.stream import check_weight
from onmargin.models.balance import balanced_factor, class_factors
from onmargin.models.columns import check_known
from onmargin.models.costs import classes_of_cost
from onmargin.models.reliability import Reliability
from onmargin.stream._labels import Label, check_label, code_of
from onmargin.stream._learner import StreamLearner


@dataclass(kw_only=True, eq=False, repr=False)
class LinearClassifier(StreamLearner):
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

    def __post_init__(self) -> None:
        self.classes_: list[Label] = []
        if self._by_class() is not None:
            self.class_counts_: dict[Label, int] = {}
        super().__post_init__()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        classes_of_cost(getattr(self, "cost", None))

    def _known(self) -> list[Any]:
        counts = vars(self).get("class_counts_", {})
        if not isinstance(counts, dict) or (self._by_class() is not None and "class_counts_" not in vars(self)):
            raise ValueError(f"class_counts_ must be the number of examples by class; got {counts!r:.100}")
        return check_known(self.classes_)

    def _by_class(self) -> Mapping[Any, float] | str | None:
        """Return the factors on C per class, if the family has them."""
        return getattr(self, "class_weight", None)

    def _check_target(self, y: Any) -> Label:
        label = check_label(y, self.classes_)
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
        player = self._player
        if player is None or not player.learn_label(x, y, weight):
            self._learn_new(x, y, weight)
        return self

    def _learn_weighted(self, x: Any, y: Any, weight: float) -> None:
        """Learn an example with its weight times that of its class; the caller holds the lock."""
        if check_weight(weight) == 0:
            return
        label = self._check_target(y)
        known = label in self.class_counts_
        count, total = self.class_counts_.get(label, 0) + 1, sum(self.class_counts_.values()) + 1
        by_class = self._by_class()
        if isinstance(by_class, Mapping):
            (factor,) = class_factors(by_class, [label])
        else:
            factor = balanced_factor(len(self.class_counts_) + (not known), count, total)
        player, rounds, before = self._player, self._n_rounds(), self.class_counts_
        try:
            self.class_counts_ = {**before, label: count}  # set first, because an interrupt may follow the round
            if player is None or not player.learn_label(x, label, weight * factor):
                self._learn_new(x, label, weight * factor)
        except BaseException:
            if self._n_rounds() == rounds:
                self.class_counts_ = before
            raise

    def _learn_new(self, x: Any, y: Any, weight: float) -> None:
        """Learn an example whose label is new, or the first one of a new player."""
        if check_weight(weight) == 0:
            return
        label = self._check_target(y)
        with self._opening(x) as player:
            if not player.learn_label(x, label, weight):
                player.read(x)
                self._meet(label)
                player.targets = self._targets()
                player.take()
                player.play(np.array([player.targets[label]]), weight)

    def _meet(self, label: Label) -> None:
        """Add a column for a label; margins between the others do not change."""
        known: list[Any] = self.classes_
        classes = sorted({*known, label, *classes_of_cost(getattr(self, "cost", None))})
        self._model.adopt(self.plan())
        self._model.meet([classes.index(one) for one in known], len(classes))
        self.classes_ = classes
        self._model.arrange(classes)

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
        player = self._player or self._opened()
        if player is None:
            return None
        classes = self.classes_
        best = player.best(x)
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
        player = self._opened()
        if player is None:
            return {}
        with self._turns:
            scores = player.scores(x)
            if len(self.classes_) == 2:
                scores = [-scores[0], scores[0]]
            return dict(zip(self.classes_, scores, strict=True))

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
        player = self._opened()
        if player is None:
            return {}
        with self._turns:
            if self._model.calibration.n_classes < 2:
                return dict.fromkeys(self.classes_, 1.0)
            return dict(zip(self.classes_, player.probabilities(x), strict=True))

    @property
    def reliability_(self) -> Reliability:
        """Reliability of the probabilities, each computed before its example was learned."""
        return Reliability.of(self._model.calibration if "_model" in vars(self) else Calibration())

    def _targets(self) -> dict[Any, float]:
        if len(self.classes_) == 2:
            return dict(zip(self.classes_, (-1.0, 1.0), strict=True))
        return {label: float(code) for code, label in enumerate(self.classes_)}

    def _leading(self, x: Any) -> Any:
        return self.predict_one(x)

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        n = len(self.classes_)
        if label is None and n > 2:
            raise ValueError(f"each class has weights of its own: give label=, one of {self.classes_!r:.200}")
        code = n - 1 if label is None else code_of(label, self.classes_)
        direction = np.array([2.0 * code - 1]) if n == 2 else np.eye(n)[code]
        return direction, float(direction @ self._model.mean()[1])
