"""Many values of C in one pass over a stream."""

from typing import Any, ClassVar

from onmargin._core.step import Step
from onmargin._core.task import Task
from onmargin._parameters import Number, Numbers, Rule, Word
from onmargin._several import Kind, Standing, grid, projections
from onmargin._updates import projection
from onmargin.stream._several import SeveralModels


class SweepModel(SeveralModels):
    """A model whose `C` may be several: one for each, all learned at once."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = SeveralModels._rules | {
        "C": (Number(0, above=True), Numbers(0, above=True), Word("auto")),
    }

    C: Any
    loss: str

    def _called(self) -> list[str]:
        return [f"C={C:g}" for C in grid(self.C)]

    def _kinds(self) -> list[Kind]:
        return [self._geometry_type] * len(grid(self.C))

    def _tasks(self, judge: Task) -> list[Task]:
        return [judge] * len(grid(self.C))

    def _step(self) -> Step:
        values = grid(self.C)
        return projections(values, self.loss) if values else projection(self.C, self.loss)

    @property
    def sweep_(self) -> Standing:
        """How the models of all values of C stand."""
        return self._standing()
