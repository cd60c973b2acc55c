"""What the learners that choose for themselves share: their models are experts, each of a family of its own."""

from typing import Any, ClassVar

from numpy.typing import ArrayLike

from onmargin._core.step import Step
from onmargin._core.step_several import Steps
from onmargin._experts import Expert
from onmargin._parameters import Rule, Word
from onmargin._several import Kind, Standing
from onmargin.estimators._several import SeveralModels


class AutoLearner(SeveralModels):
    """An estimator over a fixed set of experts."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {"geometry": (Word("several"),)}
    _experts: ClassVar[tuple[Expert, ...]]

    # What estimators of one model have as parameters.
    geometry: str = "several"
    strategy: str = "joint"
    update: str = "max"
    average: bool = False
    cost: ArrayLike | str | None = None
    target_loss: float | None = None
    kernel: Any = None
    budget: int | None = None
    _kernel_parameters: ClassVar[tuple[str, ...]] = ()

    def _grid(self) -> tuple[float, ...]:
        return ()

    def _names(self) -> list[str]:
        return [expert.name for expert in self._experts]

    def _kinds(self) -> list[Kind]:
        return [expert.kind for expert in self._experts]

    def _step(self) -> Step:
        return self._steps()

    def _steps(self) -> Step:
        return Steps([expert.step for expert in self._experts])

    def _check_geometry(self, needs: dict[str, bool]) -> None:
        """There is no other geometry."""

    @property
    def experts_(self) -> Standing:
        """How the experts stand."""
        return self._standing()
