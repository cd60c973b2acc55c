"""Pieces that are learned between signals, the times of checkpoints, and the signals to stop."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from onmargin.apps.chunks import Chunk, Position

_EVERY = 60.0  # seconds between checkpoints, unless examples are counted
_SHARE = 20  # minimum time between checkpoints, as a multiple of the time to write one
_PIECE = 0.2  # approximate seconds to learn a piece of a block; signals wait this long


class Pace:
    """Division of blocks into pieces that are learned quickly, so that signals can be handled between them."""

    def __init__(self) -> None:
        self._size = 10

    def pieces(self, chunk: Chunk, after: Position) -> Iterator[tuple[Chunk, Position]]:
        first, start, n = after.records - len(chunk), 0, len(chunk)
        while start < n:
            stop = min(n, start + self._size)
            begun = time.monotonic()
            yield chunk if stop - start == n else chunk.part(start, stop), after._replace(records=first + stop)
            seconds = time.monotonic() - begun
            if seconds > _PIECE:
                self._size = max(1, self._size // 4)
            elif seconds < _PIECE / 8 and stop - start == self._size:
                self._size *= 4
            start = stop


class Due:
    """Schedule of checkpoints."""

    def __init__(self, every: int | None) -> None:
        self._every = every
        self._examples = 0
        self._wait = _EVERY
        self._last = time.monotonic()

    def after(self, n_examples: int) -> bool:
        self._examples += n_examples
        if self._every is not None:
            return self._examples >= self._every
        return time.monotonic() - self._last >= self._wait

    def time(self, write: Any) -> None:
        start = time.monotonic()
        write()
        self._last = time.monotonic()
        self._wait = max(_EVERY, _SHARE * (self._last - start))
        self._examples = 0


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
