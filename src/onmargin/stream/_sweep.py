"""Several models of one kind in one pass over a stream: many values of C, or weights and their averages."""

from typing import Any, ClassVar

from onmargin._core.several.steps import Steps
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin.models.rules import Number, Numbers, Rule, Word
from onmargin.models.several import WAYS, Kind, Standing, candidates, grid, names_of, projections, twofold
from onmargin.models.updates import check_combination, projection
from onmargin.stream._several import SeveralModels


class SweepModel(SeveralModels):
    """A model whose `C` may be several, one for each, and whose averages may be a model beside the weights."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = SeveralModels._rules | {
        "C": (Number(0, above=True), Numbers(0, above=True), Word("auto")),
        "average": (*SeveralModels._rules["average"], Word("mean", "best")),
    }

    C: Any
    loss: str

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.average == "best":
            check_combination("average='best'", {"one value of C": not grid(self.C)})

    def _called(self) -> list[str]:
        return names_of(candidates(grid(self.C), self.average))

    def _kinds(self) -> list[Kind]:
        if self.average == "best":
            return [twofold(self._geometry_type)]
        return [self._geometry_type] * len(grid(self.C))

    def _tasks(self, judge: Task) -> list[Task]:
        return [judge] * len(candidates(grid(self.C), self.average))

    def _step(self) -> Step:
        values = grid(self.C)
        return projections(values, self.loss) if values else projection(self.C, self.loss)

    def _arrange(self) -> None:
        super()._arrange()
        if self.average == "best":
            self._learner.step = Steps([self._step(), Step()])

    @property
    def sweep_(self) -> Standing:
        """How the models of all values of C stand."""
        if self.average == "best":
            raise AttributeError("there is one value of C only")
        return self._standing()

    @property
    def averages_(self) -> Standing:
        """How the current and the averaged weights stand."""
        if candidates(grid(self.C), self.average) != WAYS:
            raise AttributeError("there is nothing to compare: averages_ needs average='best'")
        return self._standing()
