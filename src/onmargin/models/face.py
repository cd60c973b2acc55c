"""What estimators and stream learners share: both hold a `Model` once they have begun to learn."""

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

from onmargin.learner import Learner
from onmargin.models.model import Model
from onmargin.models.plan import Plan


def for_prediction(model: Any) -> Any:
    """Return a copy of a model, or of a wrapper around one, that predicts only."""
    if not hasattr(model, "_for_prediction"):
        raise TypeError(f"predict_only=True is for trained models of onmargin; got a {type(model).__name__}")
    return model._for_prediction()


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

    def _for_prediction(self) -> Self:
        """Return a copy that predicts only."""
        if not self._has_begun:
            raise ValueError("predict_only=True is for a model that has learned something: fit it first")
        if self._learner.predict_only:
            return self
        other = copy(self)
        vars(other)["_model"] = self._model.for_prediction()
        return other

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_begun
