"""Many values of C in one pass."""

from typing import Any, ClassVar

from onmargin._core.step import Step
from onmargin._core.task import Task
from onmargin._parameters import Number, Numbers, Rule, Word
from onmargin._several import Kind, Standing, grid, projections
from onmargin._updates import check_combination
from onmargin.estimators._several import SeveralModels


def names_of(values: tuple[float, ...]) -> list[str]:
    """What models of these C are called."""
    return [f"C={C:g}" for C in values]


def check_swept(learned: tuple[float, ...], now: tuple[float, ...]) -> None:
    """Refuse other values of C than those that the models have."""
    if learned != now:
        raise ValueError(
            "C cannot become a sequence, or another one, once something was learned: set it back, or learn anew "
            "with clone(model).fit"
        )


class SweepOption(SeveralModels):
    """An estimator whose `C` may be several: a model for each, all learned at once."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = SeveralModels._rules | {
        "C": (Number(0, above=True), Numbers(0, above=True), Word("auto")),
    }

    C: Any
    loss: str
    geometry: str
    kernel: Any
    combine: str = "leader"

    _swept: tuple[float, ...]  # only where C is several: the values that the models have

    def _grid(self) -> tuple[float, ...]:
        return grid(self.C)

    def _names(self) -> list[str]:
        return names_of(self._grid())

    def _kinds(self) -> list[Kind]:
        return [self._kind()] * len(self._grid())

    def _tasks(self) -> list[Task]:
        return [self._judge()] * len(self._grid())

    def _judge(self) -> Task:
        return self._learner.task

    def _step(self) -> Step:
        return self._steps() if self._grid() else super()._step()

    def _steps(self) -> Step:
        return projections(self._grid(), self.loss)

    def _begin(self, X: Any, n_columns: int = 1) -> None:
        self.__dict__.pop("_swept", None)
        if self._grid():
            self._swept = self._grid()
        super()._begin(X, n_columns)

    def _prepare(self) -> None:
        check_swept(self.__dict__.get("_swept", ()), self._grid())
        super()._prepare()

    def _check_sweep(self, needs: dict[str, bool]) -> None:
        """Refuse what cannot be done for several values of C at once, and what a subclass adds."""
        if self._grid():
            needs["kernel=None"] = self.kernel is None
            needs["another geometry than 'entropic'"] = self.geometry != "entropic"
            check_combination("a sequence of C", needs)

    @property
    def sweep_(self) -> Standing:
        """How the models of all values of C stand."""
        return self._standing()
