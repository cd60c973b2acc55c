"""Computation in slices, between which other tasks run, with a time limit."""

import asyncio
import time
from collections import deque
from collections.abc import Generator
from typing import TypeVar

from onmargin.apps.serve.problems import ProblemError

T = TypeVar("T")
SECONDS = 0.01  # length of a slice


class Turn:
    """Lock that learning and reading take alternately: neither waits for more than one holder of the other kind.

    `async with turn:` is for whatever changes models, `async with turn.reading:` for long predictions.
    """

    def __init__(self, other: "Turn | None" = None) -> None:
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.held = False
        self.shared = other or self  # holds the state of both
        self.reading = self._other = other or Turn(self)

    def locked(self) -> bool:
        return self.shared.held

    async def __aenter__(self) -> None:
        if not self.shared.held:
            self.shared.held = True
            return
        ours = asyncio.get_running_loop().create_future()
        self.waiting.append(ours)
        try:
            await ours
        except asyncio.CancelledError:
            if not ours.cancelled():  # it was handed over at the same moment
                await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        for waiting in (self._other.waiting, self.waiting):
            while waiting:
                if not (following := waiting.popleft()).done():
                    following.set_result(None)  # it is handed over, and stays held
                    return
        self.shared.held = False


def at_once(steps: Generator[None, None, T]) -> T:
    """Run all steps without interruption, and return their result."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value


async def in_slices(steps: Generator[None, None, T], most: float) -> T:
    """Run all steps, each of which is short, in at most `most` seconds of processor time; return their result."""
    spent = 0.0
    try:
        while True:
            started, used = time.perf_counter(), time.thread_time()
            while time.perf_counter() - started < SECONDS:
                next(steps)
            spent += time.thread_time() - used  # processor time, so that other work on the machine does not count
            if spent > most:
                raise ProblemError(
                    f"the request takes more than {most:g} s to compute: send fewer examples at a time", 413
                )
            await asyncio.sleep(0)
    except StopIteration as end:
        return end.value
    finally:
        steps.close()
