"""Transformers that are unchanged if a call raises."""

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator

from onmargin._core.turns import TakingTurns
from onmargin.transaction import Transaction


class Transactional(BaseEstimator):  # type: ignore[misc]
    """Base of transformers and learners that check their own parameters."""

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _check_learned(self) -> None:
        """Raise an error if the learned state from a file is inconsistent."""
        raise NotImplementedError

    @property
    def _turns(self) -> TakingTurns:
        """The lock by which threads take turns to change the object."""
        return TakingTurns(self)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Check the parameters, and restore the state if the body raises. Only one thread enters at a time."""
        self._check_parameters()
        with self._turns, Transaction(self):
            yield
