"""What the learners that choose for themselves share: their models are experts, each of a family of its own."""

from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from onmargin._core.steps.step import Step
from onmargin.estimators._several import SeveralModels
from onmargin.models.experts import Experts, assemble, kinds_of, members, retire, steps_of
from onmargin.models.rules import Rule, Word
from onmargin.models.several import Kind, Standing


class AutoLearner(SeveralModels):
    """An estimator over a fixed set of experts."""

    _rules: ClassVar[dict[str, tuple[Rule, ...]]] = {"geometry": (Word("several"),)}
    _experts: ClassVar[Experts]

    _members: list[str]  # those that are in play, by name

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
        return [expert.name for expert in members(self)]

    def _kinds(self) -> list[Kind]:
        return kinds_of(self)

    def _step(self) -> Step:
        return self._steps()

    def _steps(self) -> Step:
        return steps_of(self)

    def _check_geometry(self, needs: dict[str, bool]) -> None:
        """There is no other geometry."""

    def _begin(self, X: Any, n_columns: int = 1) -> None:
        assemble(self, sparse=sparse.issparse(X))
        super()._begin(X, n_columns)

    def retire(self, keep: int) -> Self:
        """Go on with the experts that have lost least so far; the others are forgotten, and their time is saved.

        Parameters
        ----------
        keep : int
            How many stay, at least 1; one more if averages and what they are of would be parted. An expert that was
            behind may have been the best of what is yet to come, where a stream drifts.

        Returns
        -------
        self : object
            The model, with fewer experts. The regret bound is then against those that stayed.
        """
        check_is_fitted(self)
        retire(self, keep)
        return self

    @property
    def experts_(self) -> Standing:
        """How the experts stand."""
        return self._standing()
