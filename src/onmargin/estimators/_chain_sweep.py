"""Chains of many values of C in one pass."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onmargin._core.geometries.chain import EdgePaths, Paths
from onmargin._core.rows import Rows
from onmargin._core.several.geometries import SeveralPaths
from onmargin._core.several.tasks import SeveralSequences
from onmargin._core.steps.step import Step
from onmargin._core.tasks.sequence import decode
from onmargin._core.tasks.task import Task
from onmargin.errors import ParameterError
from onmargin.estimators._chain import ChainLearner, chain_scores, transition_coef_of, transitions_of
from onmargin.learner import Offsets, Vector
from onmargin.models.rules import Number, Numbers, Rule, Word
from onmargin.models.several import Standing, grid, names_of, projections, standing
from onmargin.models.updates import check_combination


@dataclass(frozen=True)
class ChainStanding(Standing):
    """How the taggers that learned side by side stand; what a labelling costs is what its model loses.

    Attributes
    ----------
    cost : ndarray of shape (n_models,)
        What the labellings of each model have cost so far, as ``totals_.cost``.
    transitions : list of ndarray
        The weights from label to label of each model, as ``transitions_``.
    transition_coef : list of ndarray
        Those of the `transition_features` of each, as ``transition_coef_``; none if there are no such features.
    """

    cost: NDArray[np.float64]
    transitions: list[Vector]
    transition_coef: list[Vector]


class ChainSweep(ChainLearner):
    """A tagger whose `C` may be several: a chain for each, all learned at once."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = ChainLearner._rules | {
        "C": (Number(0, above=True), Numbers(0, above=True), Word("auto")),
        "combine": (Word("leader", "hedge"),),
    }

    C: Any
    combine: str

    _swept: tuple[float, ...]  # only where C is several: the values that the chains have

    def _called(self) -> list[str]:
        """What the chains are called; none: there is just one."""
        return names_of(grid(self.C))

    def _begin_chain(self, X: Any, *, average: int) -> None:
        super()._begin_chain(X, average=average)
        self.__dict__.pop("_swept", None)
        if values := grid(self.C):
            self._swept = values
            self._learner.geometry = SeveralPaths([deepcopy(self._learner.geometry) for _ in values])

    def _step(self) -> Step:
        values = grid(self.C)
        return projections(values, self.loss) if values else super()._step()

    def _task(self) -> Task:
        """Votes are weighed as by the task before, if there was any."""
        values, before = grid(self.C), self._learner.task
        if not values:
            return super()._task()
        task = SeveralSequences(self._judge(), len(values), hedge=self.combine == "hedge")
        if isinstance(before, SeveralSequences):
            task.__setstate__(before.state())
        return task

    def _prepare(self) -> None:
        if self.__dict__.get("_swept", ()) != grid(self.C):
            raise ParameterError(
                "C (one value, or a grid of them) cannot change once something was learned: set it back, or fit a new "
                "model: clone(model).fit",
                ["C"],
            )
        super()._prepare()

    def _check_combination(self) -> None:
        if grid(self.C):
            check_combination("a sequence of C", {"another update than 'perceptron'": self.update != "perceptron"})
        super()._check_combination()

    def _combined(self) -> SeveralSequences | None:
        task = self._fitted().task
        return task if isinstance(task, SeveralSequences) else None

    def _shown(self) -> Paths:
        combined = self._combined()
        if combined is None:
            return super()._shown()
        leader: Paths = self._learner.geometry.leaves()[combined.leader]
        return leader

    def _chain_of(self, rows: Rows, ends: Offsets) -> tuple[Vector, Vector]:
        combined = self._combined()
        if combined is None or not combined.hedge:
            return super()._chain_of(rows, ends)
        tokens = self._tokens(rows, ends)
        return combined.tallied(
            [decode(*chain_scores(chain, tokens), ends - ends[0]) for chain in self._learner.geometry.leaves()]
        )

    @property
    def sweep_(self) -> ChainStanding:
        """How the chains of all values of C stand."""
        combined = self._combined()
        if combined is None:
            raise AttributeError("there is one model only")
        chains, n = self._learner.geometry.leaves(), self.n_features_in_
        found = standing(combined, self._learner.geometry, names_of(self._swept))
        return ChainStanding(
            **vars(found) | {"coef": [coef[:, :n] for coef in found.coef]},
            cost=combined.losses(),
            transitions=[transitions_of(chain) for chain in chains],
            transition_coef=[transition_coef_of(chain, n) for chain in chains if isinstance(chain, EdgePaths)],
        )
