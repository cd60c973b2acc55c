"""Calls that change an object completely or not at all."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self


class Snapshot:
    """What an object, its model and its learner hold; rounds change the weights and the totals in place."""

    def __init__(self, owner: Any) -> None:
        self._held = [(owner, vars(owner).copy())]
        model = vars(owner).get("_model")
        self.totals = None if model is None else model.learner._totals.__copy__()
        self.rounds = 0 if model is None else model.learner._totals.rounds
        if model is not None:
            self._held += [(model, vars(model).copy()), (model.learner, vars(model.learner).copy())]

    def restore(self) -> None:
        """Let the objects hold what they held."""
        for one, held in self._held:
            one.__dict__ = held
        if self.totals is not None and held["_totals"].rounds != self.totals.rounds:
            held["_totals"] = self.totals


class Transaction:
    """A call that changes an object: if it raises or is interrupted, the object is as it was before.

    Threads take turns: a transaction begins in a block of `with owner._turns`. The entry and the end of that block are
    compiled, so that the turn is given back wherever an interrupt comes.

    Rounds change weights in place and cannot be undone, but nothing interrupts a stretch of them. Everything else that
    belongs to a stretch must be set before it runs: then either none of its rounds ran, and everything is restored, or
    all did, and the state is already right. `commit` begins the next stretch. If `drops_rounds` is set, rounds update a
    copy of the weights, and everything is restored in any case.

    Parameters
    ----------
    owner : object
        The object to change. Its attribute `_model`, if it has one, is a `Model`.
    drops_rounds : bool, default=True
        Whether an error also drops the rounds of the call.
    """

    def __init__(self, owner: Any, *, drops_rounds: bool = True) -> None:
        self.drops_rounds = drops_rounds
        self._owner = owner
        self._undo: list[Callable[[], None]] = []
        self._take_back: list[Callable[[], None]] = []

    def __enter__(self) -> Self:
        self._first = self._last = Snapshot(self._owner)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and (self.drops_rounds or not self._has_learned()):
            self._last.restore()
            for undo in self._undo:
                undo()

    @property
    def begins(self) -> bool:
        """Whether the object had no model before the call."""
        return self._first.totals is None

    def commit(self) -> None:
        """Keep the rounds so far, unless the call drops its rounds: an error then returns to this point."""
        kept = Snapshot(self._owner) if not self.drops_rounds and self._has_learned() else self._last
        self._last, self._undo = kept, []  # at once: an interrupt in between would undo what is kept

    def undo_by(self, undo: Callable[[], None]) -> None:
        """Call a function, after an error that restores the state of this point, to undo changes made in place."""
        self._undo.append(undo)

    def take_back_by(self, undo: Callable[[], None]) -> None:
        """Let `start_over` call a function that takes back the rounds of the call."""
        self._take_back.append(undo)

    def start_over(self) -> None:
        """Restore the state before the call when it raises, although rounds ran."""
        self._last, self._undo, self.drops_rounds = self._first, self._take_back, True

    def _has_learned(self) -> bool:
        """Return whether rounds ran since the last commit."""
        model = vars(self._owner).get("_model")
        return model is not None and model.learner._totals.rounds > self._last.rounds
