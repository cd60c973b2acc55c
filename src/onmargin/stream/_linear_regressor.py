"""Base class of stream regressors."""

from dataclasses import dataclass
from math import isfinite
from typing import Any, Self, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from onmargin._core.stream import check_weight
from onmargin.stream._learner import StreamLearner


@dataclass(kw_only=True, eq=False, repr=False)
class LinearRegressor(StreamLearner):
    """A stream regressor over a linear model."""

    task = "regress"
    _labelled = False

    def learn_one(self, x: Any, y: float, weight: float = 1.0) -> Self:
        """Learn an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example: a dict of features with numbers or categories, a list of feature names, a text, or an array or
            sparse row of numbers. The first example learned determines whether features are identified by name or by
            position.
        y : float
            Its target.
        weight : float, default=1.0
            Factor on C, at least 0; an example of weight 0 is skipped.

        Returns
        -------
        self : object
            The updated model.
        """
        loop = self._loop
        if loop is not None:
            loop.learn(x, y, weight)
        elif check_weight(weight) > 0:
            with self._open_loop(x) as loop:
                loop.learn(x, y, weight)
        return self

    def predict_one(self, x: Any) -> float:
        """Predict the target of an example.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        y : float
            The prediction; 0 if nothing was learned yet.
        """
        loop = self._loop or self._get_loop()
        return 0.0 if loop is None else loop.scores(x)[0]

    def scores_one(self, x: Any) -> float:
        """Return the score of an example, which is its prediction.

        Parameters
        ----------
        x : dict, list of str, str or vector
            The example, as for `learn_one`; features that were never learned are ignored.

        Returns
        -------
        score : float
            The result of `predict_one`.
        """
        return self.predict_one(x)

    def _check_target(self, y: Any) -> float:
        if isinstance(y, str) or not isinstance(y, SupportsFloat):
            raise TypeError(f"y must be a number; got {y!r:.100}")
        if not isfinite(y):
            raise ValueError(f"y must be a finite number; got {y!r}")
        return float(y)

    def _direction(self, label: Any) -> tuple[NDArray[np.float64], float]:
        return np.ones(1), float(self._intercepts()[0])
