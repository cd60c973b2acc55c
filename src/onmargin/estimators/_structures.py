"""How structures are learned: the calls of a round to the model, and what is undone when one raises."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.tasks.task import Structured, Task
from onmargin._core.turns import TakingTurns
from onmargin.estimators._checks import check_weight
from onmargin.estimators._joint_features import Features, features_like
from onmargin.estimators._online import OnlineLearner
from onmargin.estimators._structure_checks import Inspector, check_model, cost_of
from onmargin.learner import Learner, Offsets, Vector

Example = tuple[Any, Any]


@contextmanager
def noted(example: int) -> Iterator[None]:
    """An error says which example of the call it came from."""
    try:
        yield
    except Exception as error:
        error.add_note(f"This was example {example} of the call, counted from 0.")
        raise


class StructureLearner(OnlineLearner):
    """An estimator whose rounds ask a model for the features, the search and the costs."""

    model: Any  # a StructureModel
    update: str
    average: bool | int
    check_rounds: int

    _learner: Learner[Euclidean]
    _features: Features

    def _task(self) -> Task:
        return Structured()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """The model may raise when rounds have been played. Weights are a copy then, and names are taken back."""
        with TakingTurns(self):
            learned = (
                (self._features, self._features.size, self._learner.geometry) if hasattr(self, "_learner") else None
            )
            with super()._all_or_nothing():
                try:
                    yield
                except BaseException:
                    if learned is not None:
                        features, size, geometry = learned
                        features.restore(size, geometry)
                    raise

    def _read(
        self, X: Iterable[Any], Y: Iterable[Any], sample_weight: ArrayLike | None
    ) -> tuple[list[Example], Vector | None]:
        check_model(self.model, self.update)
        inputs, structures = list(X), list(Y)
        if len(inputs) != len(structures):
            raise ValueError(f"X and Y must have as many examples; got {len(inputs)} and {len(structures)}")
        if not inputs:
            raise ValueError("X has no examples: at least one is needed")
        return list(zip(inputs, structures, strict=True)), check_weight(sample_weight, len(inputs))

    def _begin(self, examples: list[Example], weight: Vector | None = None) -> None:
        """Weights that have learned nothing, for features like those of the first example that counts."""
        first = 0 if weight is None else int(np.flatnonzero(weight)[0])
        with noted(first):
            given = self.model.joint_features(*examples[first])
            self._features = features_like(given, getattr(self.model, "n_features", None))
        geometry = Euclidean(self._features.size, 1, np.float64, sparse=True, average=int(self.average))
        self._learner = Learner(self._task(), self._step(), geometry)

    def _play(self, examples: list[Example], weight: Vector | None, order: Offsets | None = None) -> None:
        """One round for each example, in the given order; those of weight 0 are skipped."""
        for i in range(len(examples)) if order is None else order.tolist():
            if weight is None or weight[i] > 0:
                with noted(i):
                    self._round(*examples[i], None if weight is None else weight[i : i + 1])

    def _round(self, x: Any, y: Any, weight: Vector | None = None) -> None:
        """Predict, find the rival and learn. What may raise comes before the weights move."""
        model, features, learner = self.model, self._features, self._learner
        weights = features.learning(learner.geometry)
        inspector = Inspector(model, features, weights, x, y) if learner.totals.rounds < self.check_rounds else None
        rival = predicted = model.argmax(weights, x)
        if inspector:
            inspector.check_prediction(predicted)
        rival_cost = cost = cost_of(model, y, predicted)
        if self.update == "max_loss":
            rival = model.cost_augmented_argmax(weights, x, y)
            if inspector:
                inspector.check_rival(rival, predicted)
            rival_cost = cost_of(model, y, rival)
        right, wrong = (features.read(model.joint_features(x, z)) for z in (y, rival))
        features.learn(learner, right, wrong, np.array([sqrt(rival_cost), cost]), weight)
