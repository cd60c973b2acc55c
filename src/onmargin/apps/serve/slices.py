"""Work that is done in slices, between which others have their turn, and that ends when it has taken too long."""

import asyncio
import time
from collections.abc import Generator
from typing import TypeVar

from onmargin.apps.serve.problems import ProblemError

T = TypeVar("T")
SECONDS = 0.01  # of a slice


def at_once(steps: Generator[None, None, T]) -> T:
    """Do all steps; what they return."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def in_slices(steps: Generator[None, None, T], most: float) -> T:
    """Do all steps, of which each is short, in at most so many seconds of processor time; what they return."""
    spent = 0.0
    try:
        while True:
            started, used = time.perf_counter(), time.thread_time()
            while time.perf_counter() - started < SECONDS:
                next(steps)
            spent += time.thread_time() - used  # a machine that does other things, too, does not count
            if spent > most:
                raise ProblemError(
                    f"the request takes more than {most:g} s to compute: send fewer examples at a time", 413
                )
            await asyncio.sleep(0)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        steps.close()
