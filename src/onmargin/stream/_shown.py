"""Attributes and methods that some learners of streams have: declared once, named by the classes that have them."""

from typing import Any

from onmargin.models.several import Standing


@property  # type: ignore[misc]
def sweep_(self: Any) -> Standing:
    """How the models of all values of C stand."""
    if self.average == "best":
        raise AttributeError("there is one value of C only")
    standing: Standing = self._standing()
    self._model.warn_if_alike()
    return standing


@property  # type: ignore[misc]
def averages_(self: Any) -> Standing:
    """How the current and the averaged weights stand."""
    if self.average != "best":
        raise AttributeError("there is nothing to compare: averages_ needs average='best'")
    standing: Standing = self._standing()
    return standing


@property  # type: ignore[misc]
def experts_(self: Any) -> Standing:
    """How the experts stand."""
    standing: Standing = self._standing()
    return standing


@property  # type: ignore[misc]
def rate_(self: Any) -> float:
    """The rate in use."""
    if not hasattr(self, "_learner"):
        raise AttributeError("nothing was learned yet")
    return float(self._learner.step.rate)


def retire(self: Any, keep: int) -> Any:
    """Go on with the experts that have lost least so far; the others are forgotten, and their time is saved.

    Parameters
    ----------
    keep : int
        How many stay, at least 1; one more if averages and what they are of would be parted. An expert that was behind
        may have been the best of what is yet to come, where a stream drifts.

    Returns
    -------
    self : object
        The model, with fewer experts. The regret bound is then against those that stayed.
    """
    if "_model" not in vars(self):
        raise ValueError("nothing was learned yet: there is no telling which experts to keep")
    self._model.retire(self.plan(), keep)
    self._player = None
    return self
