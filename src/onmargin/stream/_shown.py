"""Attributes and methods of some stream learners: defined here once and assigned in the classes that have them."""

from typing import Any

from onmargin.models.expert_results import ExpertResults


@property  # type: ignore[misc]
def grid_(self: Any) -> ExpertResults:
    """Mistakes, losses and weights of the models of all values of C."""
    if self.average == "best":
        raise AttributeError("there is one value of C only")
    found: ExpertResults = self._expert_results()
    self._model.warn_if_alike()
    return found


@property  # type: ignore[misc]
def averages_(self: Any) -> ExpertResults:
    """Mistakes and losses of the current and of the averaged weights."""
    if self.average != "best":
        raise AttributeError("there is nothing to compare: averages_ needs average='best'")
    found: ExpertResults = self._expert_results()
    return found


@property  # type: ignore[misc]
def experts_(self: Any) -> ExpertResults:
    """Names, losses and votes of the experts."""
    found: ExpertResults = self._expert_results()
    return found


@property  # type: ignore[misc]
def rate_(self: Any) -> float:
    """The learning rate in use."""
    if not hasattr(self, "_learner"):
        raise AttributeError("nothing was learned yet")
    return float(self._learner.step.rate)


def retire(self: Any, keep: int) -> Any:
    """Keep only the experts with the smallest loss so far, and drop the others to save time.

    Parameters
    ----------
    keep : int
        Number of experts to keep, at least 1; one more is kept if averaged weights would be separated from the weights
        that they average. On a drifting stream, an expert that is behind now may become the best later.

    Returns
    -------
    self : object
        The model with fewer experts. The regret bound then holds against the remaining experts.
    """
    if "_model" not in vars(self):
        raise ValueError("nothing was learned yet, so no expert can be chosen: call learn_one or learn_many first")
    self._model.retire(self.plan(), keep)
    self._player = None
    return self
