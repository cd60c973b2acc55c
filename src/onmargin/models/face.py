"""What estimators and stream learners share: both hold a `Model` once they have begun to learn."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from onmargin.learner import Learner
from onmargin.models.model import Model
from onmargin.models.plan import Plan


class ModelFace:
    """An interface to a `Model`, which it holds as `_model` from the first example on."""

    __slots__ = ()

    if TYPE_CHECKING:  # at run time annotations would be options
        plan: ClassVar[Callable[..., Plan]]  # of the options: how the current parameters learn
        _model: Model

    @property
    def _has_begun(self) -> bool:
        """Whether there is a model."""
        return "_model" in vars(self)

    @property
    def _learner(self) -> Learner[Any]:
        return self._model.learner

    def _n_rounds(self) -> int:
        return int(self._learner._totals.rounds) if self._has_begun else 0

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_begun
