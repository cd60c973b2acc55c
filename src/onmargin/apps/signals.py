"""Handling of signals to stop (Ctrl-C or system shutdown), between two steps and never within one."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self


class Stopped(BaseException):
    """Request to end the program; `number` is the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """Signal handler that raises `Stopped`, at once while the program waits for data, or after an atomic step.

    The cleanup afterwards is not interrupted by further signals.
    """

    def __enter__(self) -> Self:
        self._within = False
        self._pending: int | None = None
        self._old: dict[int, Any] = {
            number: signal.signal(number, self._receive) for number in (signal.SIGINT, signal.SIGTERM)
        }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)

    def _receive(self, number: int, _: FrameType | None) -> None:
        if self._within:
            self._pending = number
        else:
            self._within = True
            raise Stopped(number)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Context of a step that signals do not interrupt."""
        self._within = True
        try:
            yield
        finally:
            self._within = self._pending is not None
        if self._pending is not None:
            raise Stopped(self._pending)
