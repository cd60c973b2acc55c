"""Players whose learner runs the rounds itself: with a window of examples, with a kernel, or over trials."""

from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.rows import Rows
from onmargin._core.stream import StreamLoop, check_weight
from onmargin.learner import as_rows, matrix_of
from onmargin.stream._blocks import learn_closed


class WindowLoop(StreamLoop):  # type: ignore[misc]
    """StreamLoop of a learner that keeps its most recent examples."""

    def learn(self, x: Any, y: Any, weight: float = 1.0) -> None:
        if check_weight(weight) > 0:
            with self.turns:
                target = self.target_of(y)
                self.read(x)
                self.run_round(np.array([target]), weight)

    def learn_label(self, x: Any, y: Any, weight: float = 1.0) -> bool:
        if check_weight(weight) == 0:
            return True
        try:
            target = self.targets.get(y)
        except TypeError:  # not a label; refused where new labels are added
            target = None
        if target is None:
            return False
        with self.turns:
            self.read(x)
            self.run_round(np.array([target]), weight)
        return True

    def learn_many(self, X: Any, y: Any, weights: Any, first: int, labelled: bool) -> int:
        for k in range(first, len(X)):
            weight = 1.0 if weights is None else weights[k]
            try:
                if not labelled:
                    self.learn(X[k], y[k], weight)
                elif not self.learn_label(X[k], y[k], weight):
                    return k
            except (TypeError, ValueError):
                return k
        return len(X)

    def run_round(self, y: NDArray[np.float64], weight: float) -> None:
        learn_closed(self.learner, self._get_last_example(), y, np.array([float(weight)]), np.array([0, len(y)]))

    def _get_last_example(self) -> Rows:
        """Return the most recently read example."""
        if self.reader is None:
            return self.rows
        from scipy import sparse

        places, values = self.entries()
        geometry = self.learner.geometry
        row = sparse.csr_matrix((values, places, [0, len(places)]), (1, geometry.n_features), dtype=geometry.dtype)
        return as_rows(row)


class KernelLoop(WindowLoop):
    """StreamLoop of a learner whose weights are an expansion over examples."""

    def scores(self, x: Any) -> list[float]:
        with self.turns:
            self.features(x, new=self.outward)
            scores: list[float] = self.learner.scores(self._get_last_example())[0].tolist()
            return scores

    def probabilities(self, x: Any) -> list[float]:
        with self.turns:
            scores, calibration = self.scores(x), self.learner._totals.calibration
            shares: list[float] = calibration.probabilities(self.learner.task, np.array([scores]))[0].tolist()
            return shares

    def best(self, x: Any) -> int:
        scores = self.scores(x)
        return int(scores[0] >= 0) if len(scores) == 1 else int(np.argmax(scores))

    def set_center(self, x: Any) -> None:
        """Set the center of a new ball to an example."""
        self.read(x)
        self.learner.set_center(matrix_of(self._get_last_example()), 0)
        self.learner.close()


class TrialLoop(WindowLoop):
    """StreamLoop of a learner whose rounds have several rows, each read like an example."""

    def rows_of(self, examples: Iterable[Any], *, learn: bool = False) -> Rows:
        """Return one row per example; features that were never learned are left out, unless they are to be learned."""
        entries, dense = [], self.reader is None
        for x in examples:
            if learn:
                self.read(x)
            entries.append(self.entries() if learn else self.features(x))
            dense = dense and not self.rows.is_sparse()
        geometry = self.learner.geometry
        if dense:
            return Rows(np.array([values for _, values in entries], geometry.dtype), geometry.n_features)
        ends = np.cumsum([0, *(len(places) for places, _ in entries)], dtype=np.int64)
        places, values = (list(chain.from_iterable(parts)) for parts in zip(*entries, strict=True))
        return Rows(np.array(values, geometry.dtype), geometry.n_features, np.array(places, np.int32), ends)

    def run_trial(self, rows: Rows, y: NDArray[np.float64], weight: float, *, single: bool) -> None:
        """Play a round with these rows, whose target is one number or an array of them."""
        ends, targets = (np.array([0, n], np.intp) for n in (rows.n_rows, len(y)))
        self.learner.learn(rows, y, np.array([weight]), trials=ends, targets=None if single else targets)
