"""Several models of one kind in one pass: many values of C, or weights and their averages."""

from typing import Any, ClassVar

from onmargin._core.several.steps import Steps
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task
from onmargin.estimators._several import SeveralModels
from onmargin.models.rules import Number, Numbers, Rule, Word
from onmargin.models.several import WAYS, Kind, Standing, candidates, grid, names_of, projections, twofold
from onmargin.models.updates import check_combination


def check_swept(learned: tuple[float | str, ...], now: tuple[float | str, ...]) -> None:
    """Refuse other models than those there are."""
    if learned != now:
        raise ValueError(
            "C cannot become a sequence, or another one, nor average become 'best' or cease to be, once something was "
            "learned: set it back, or learn anew with clone(model).fit"
        )


class SweepOption(SeveralModels):
    """An estimator whose `C` may be several, a model for each, and whose averages may be a model beside the weights."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = SeveralModels._rules | {
        "C": (Number(0, above=True), Numbers(0, above=True), Word("auto")),
        "average": (*SeveralModels._rules["average"], Word("mean", "best")),
    }

    C: Any
    loss: str
    geometry: str
    kernel: Any
    target_loss: float | None
    combine: str = "leader"

    _swept: tuple[float | str, ...]  # only where there are several models: what they differ in

    def _grid(self) -> tuple[float, ...]:
        return grid(self.C)

    def _candidates(self) -> tuple[float | str, ...]:
        return candidates(self._grid(), self.average)

    def _names(self) -> list[str]:
        return names_of(self._candidates())

    def _kinds(self) -> list[Kind]:
        return [twofold(self._kind())] if self.average == "best" else [self._kind()] * len(self._grid())

    def _tasks(self) -> list[Task]:
        return [self._judge()] * len(self._candidates())

    def _judge(self) -> Task:
        return self._learner.task

    def _step(self) -> Step:
        return projections(self._grid(), self.loss) if self._grid() else super()._step()

    def _steps(self) -> Step:
        return Steps([self._step(), Step()]) if self.average == "best" else self._step()

    def _begin(self, X: Any, n_columns: int = 1) -> None:
        self.__dict__.pop("_swept", None)
        if self._candidates():
            self._swept = self._candidates()
        super()._begin(X, n_columns)

    def _prepare(self) -> None:
        check_swept(self.__dict__.get("_swept", ()), self._candidates())
        super()._prepare()

    def _check_sweep(self, needs: dict[str, bool]) -> None:
        """Refuse what cannot be done for several models at once; what a subclass adds is of several values of C."""
        one_at_a_time = {
            "kernel=None": self.kernel is None,
            "another geometry than 'entropic'": self.geometry != "entropic",
            "target_loss=None": self.target_loss is None,
        }
        if self._grid():
            check_combination("a sequence of C", needs | one_at_a_time)
        if self.average == "best":
            check_combination("average='best'", {"one value of C": not self._grid()} | one_at_a_time)

    @property
    def sweep_(self) -> Standing:
        """How the models of all values of C stand."""
        if self.average == "best":
            raise AttributeError("there is one value of C only")
        return self._standing()

    @property
    def averages_(self) -> Standing:
        """How the current and the averaged weights stand."""
        if self._candidates() != WAYS:
            raise AttributeError("there is nothing to compare: averages_ needs average='best'")
        return self._standing()
