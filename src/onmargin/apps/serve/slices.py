"""Computation in slices, between which other tasks run, with a time limit."""

import asyncio
import time
from collections.abc import Generator
from typing import TypeVar

from onmargin.apps.serve.problems import ProblemError

T = TypeVar("T")
SECONDS = 0.01  # length of a slice


def at_once(steps: Generator[None, None, T]) -> T:
    """Run all steps without interruption, and return their result."""
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


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
        return end.value  # type: ignore[no-any-return]
    finally:
        steps.close()
