"""Contributions of features to the scores of several models that predict as one."""

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from onmargin._core.several.tasks import ExpertVote
from onmargin.learner import Learner, as_rows
from onmargin.models.ensemble import find_leader, find_members

Scores = NDArray[np.float64]
# Rows that are scored for one example, if it has fewer features, and at a time.
N_ROWS, AT_ONCE = 512, 512
# Largest number of orders, each of which is also used in reverse.
MOST_ORDERS = 16


class Attribution:
    """Shapley values of the features of an example, for the scores that predict.

    An example has features, and the base has none of them. In a random order, each feature of the example is added to
    the base, and its contribution is the mean change of the score, over several orders and their reverses. So base and
    contributions add up to the score, whatever the models are. An order and its reverse give exact Shapley values if
    the score is a sum of functions of at most two features each.

    Parameters
    ----------
    learner : Learner
        The learner of the models.
    """

    def __init__(self, learner: Learner[Any]) -> None:
        self._learner, self._vote = learner, cast("ExpertVote", learner.task)
        members = find_members(learner.geometry, self._vote.width)
        self._additive = not any(map(attrgetter("nonlinear"), members))
        typical = (values for model in members if (values := model.typical()) is not None)
        self._typical: NDArray[np.float64] | None = next(typical, None)

    def base(self) -> Scores:
        """Return the scores of an example without features, or whose features are the means of vectors so far."""
        scores: Scores = self._vote.combine(self._score([()], np.zeros(0, np.int32), np.zeros(0)))[0]
        return scores

    def contributions(self, places: NDArray[np.int32], values: NDArray[np.float64]) -> Scores:
        """Return the contributions of features to each score, features by scores."""
        n, random = len(places), np.random.default_rng(0)
        found = np.zeros((n, self._vote.width))
        n_orders = min(max(N_ROWS // max(2 * n, 1), 1), MOST_ORDERS)
        alone = self._score([(), *((k,) for k in range(n))], places, values) if self._additive else None
        for order in [random.permutation(n) for _ in range(n_orders)]:
            for steps in (order, order[::-1]):
                if alone is None:
                    scores = self._score([steps[:k] for k in range(n + 1)], places, values)
                else:  # each model adds up its features
                    scores = np.cumsum([alone[0], *(alone[1 + steps] - alone[0])], axis=0)
                found[steps] += np.diff(self._vote.combine(scores), axis=0)
        return found / (2 * n_orders)

    def _score(self, chosen: Sequence[Any], places: NDArray[np.int32], values: NDArray[np.float64]) -> Scores:
        """Return the scores of all models for examples with the chosen features only."""
        return np.concatenate([self._learner.scores(as_rows(rows)) for rows in self._rows(chosen, places, values)])

    def _rows(self, chosen: Sequence[Any], places: NDArray[np.int32], values: NDArray[np.float64]) -> Iterator[Any]:
        from scipy import sparse

        geometry = self._learner.geometry
        for first in range(0, len(chosen), AT_ONCE):
            some = chosen[first : first + AT_ONCE]
            if self._typical is not None:
                rows = np.tile(self._typical.astype(geometry.dtype), (len(some), 1))
                for row, features in zip(rows, some, strict=True):
                    row[places[list(features)]] = values[list(features)]
                yield rows
                continue
            ends = np.cumsum([0, *map(len, some)])
            taken = np.fromiter(chain.from_iterable(map(sorted, some)), np.intp, ends[-1])
            shape = len(some), geometry.n_features
            yield sparse.csr_matrix((values[taken].astype(geometry.dtype), places[taken], ends), shape)


def attribution_of(learner: Learner[Any]) -> Attribution | None:
    """Return how features contribute to the scores; None if one model predicts, by its weights."""
    task = learner.task
    if not isinstance(task, ExpertVote):
        return None
    return Attribution(learner) if task.hedge or find_leader(task, learner.geometry).nonlinear else None
