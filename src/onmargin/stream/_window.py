"""Rounds that return to the last examples, one example at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.stream import Player, check_weight
from onmargin.learner import as_rows


class WindowPlayer(Player):
    """Rounds of a learner that keeps its last examples, one example at a time."""

    def learn_label(self, x: Any, y: Any, weight: float = 1.0) -> bool:
        if check_weight(weight) == 0:
            return True
        try:
            target = self.targets.get(y)
        except TypeError:  # no label at all, which is refused where labels are met
            target = None
        if target is None:
            return False
        with self.turns:
            self.read(x)
            self.play(np.array([target]), weight)
        return True

    def learn_many(self, X: Any, y: Any, weights: Any, first: int, labelled: bool) -> int:
        for k in range(first, len(X)):
            try:
                if not self.learn_label(X[k], y[k], 1.0 if weights is None else weights[k]):
                    return k
            except (TypeError, ValueError):
                return k
        return len(X)

    def play(self, y: NDArray[np.float64], weight: float) -> None:
        rows = self.rows
        if self.reader is not None:
            from scipy import sparse

            places, values = self.entries()
            shape = 1, self.learner.geometry.n_features
            rows = as_rows(sparse.csr_matrix((np.array(values, float), places, [0, len(places)]), shape=shape))
        self.learner.learn(rows, y, np.array([float(weight)]))
