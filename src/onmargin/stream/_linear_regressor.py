"""Regressors of examples that come one at a time."""

from dataclasses import dataclass
from math import isfinite
from typing import Any, Self, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from onmargin._core.stream import check_weight
from onmargin.stream._learner import StreamLearner


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegressor(StreamLearner):
    """A regressor over a linear model."""

    task = "regress"
    _labelled = False

    def learn_one(self, x: Any, y: float, weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: features by name with numbers or categories, names alone, a text, or an array or sparse row of
            numbers. The first example learned says whether features go by name or by position.
        y : float
            Its target.
        weight : float, default=1.0
            Factor on C, at least 0; with weight 0 nothing happens.

        Returns
        -------
        self : object
            The updated model.
        """
        player = self._player
        if player is not None:
            player.learn(x, y, weight)
        elif check_weight(weight) > 0:
            with self._opening(x) as player:
                player.learn(x, y, weight)
        return self

    def predict_one(self, x: Any) -> float:
        """The predicted target.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned count for nothing.

        Returns
        -------
        y : float
            A number; 0 if nothing was learned yet.
        """
        player = self._player or self._opened()
        return 0.0 if player is None else player.scores(x)[0]

    def scores_one(self, x: Any) -> float:
        """The score, which is the prediction.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned count for nothing.

        Returns
        -------
        score : float
            What `predict_one` gives.
        """
        return self.predict_one(x)

    def _check_target(self, y: Any) -> float:
        if isinstance(y, str) or not isinstance(y, SupportsFloat):
            raise TypeError(f"y must be a number; got {y!r:.100}")
        if not isfinite(y):
            raise ValueError(f"y must be a finite number; got {y!r}")
        return float(y)

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        return np.ones(1), float(self._model.mean()[1][0])
