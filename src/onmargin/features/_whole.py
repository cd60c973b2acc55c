"""Transformers that are unchanged if a call raises."""

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator

from onmargin._core.turns import TakingTurns


class Whole(BaseEstimator):  # type: ignore[misc]
    """Base of transformers and learners that check their own parameters."""

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _check_learned(self) -> None:
        """Raise an error if the learned state from a file is inconsistent."""
        raise NotImplementedError

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Check the parameters, and restore the state if the body raises. Only one thread enters at a time."""
        self._check_parameters()
        with TakingTurns(self):
            before = dict(vars(self))
            try:
                yield
            except BaseException:
                self.__dict__ = before
                raise
