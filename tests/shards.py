"""Shards in memory, and engines whose workers crash."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from onmargin.io import Batch
from tests.waiting import wait_until


@dataclass(frozen=True)
class Rows:
    """A shard of rows of a matrix, or items of a list, in batches."""

    name: str
    X: Any
    y: Any
    weights: Any = None
    size: int = 7

    def batches(self) -> Iterator[Batch]:
        n = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        for start in range(0, n, self.size):
            part = slice(start, start + self.size)
            yield Batch(self.X[part], self.y[part], None if self.weights is None else self.weights[part])


def cut(X: Any, y: Any, n: int, **options: Any) -> list[Rows]:
    """Split the examples into n consecutive shards."""
    bounds = np.linspace(0, X.shape[0] if hasattr(X, "shape") else len(X), n + 1).astype(int)
    return [Rows(f"part {k}", X[a:b], y[a:b], **options) for k, (a, b) in enumerate(pairwise(bounds))]


def add_slowly(item: int, shared: int) -> int:
    """Finish later items sooner, mostly: results have the order of the items in any case."""
    time.sleep(0.2 / (1 + item))  # noqa: TID251  # no test depends on the time
    return item + shared


def note_worker(folder: str, forever: bool) -> None:
    """Write a file with the process id, wait until another worker has done so, and perhaps never return."""
    Path(folder, f"worker{os.getpid()}").touch()
    wait_until(lambda: len(list(Path(folder).glob("worker*"))) > 1)
    if forever:
        threading.Event().wait()


def fail_at_two(item: int, shared: str) -> int:
    if item == 2:
        raise ValueError(f"{shared} {item}")
    return item


def die(item: int, shared: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_one(item: Rows, shared: Any) -> None:
    if item.name == "part 1":
        die(item, shared)


def die_once(item: Any, shared: tuple[Any, Path, Any]) -> Any:
    """Call the shared function; the first call, for any item, kills its process instead."""
    fn, mark, rest = shared
    with suppress(FileExistsError):
        mark.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    return fn(item, rest)


class Deadly:
    """An engine in which a worker dies in every `map`."""

    def __init__(self, engine: Any, folder: Path) -> None:
        self._engine = engine
        self._folder = folder
        self.deaths = 0

    def map(self, fn: Any, items: Any, shared: Any) -> Iterator[Any]:
        self.deaths += 1
        yield from self._engine.map(die_once, items, (fn, self._folder / f"death{self.deaths}", shared))
