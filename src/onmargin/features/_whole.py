"""Transformers that a call which raises leaves as they were."""

from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.base import BaseEstimator

from onmargin._core.turns import TakingTurns


class Whole(BaseEstimator):  # type: ignore[misc]
    """A transformer or learner that checks its own parameters."""

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _check_learned(self) -> None:
        """Refuse what a file says was learned, if it does not fit together."""
        raise NotImplementedError

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Check the parameters first; if anything raises, nothing has changed. Threads take turns."""
        self._check_parameters()
        with TakingTurns(self):
            before = dict(vars(self))
            try:
                yield
            except BaseException:
                self.__dict__ = before
                raise
