"""Who does the work: a function of each item and of something that all share, by one process or by many."""

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Shared = TypeVar("Shared")
Result = TypeVar("Result")

# Workers that may die one after the other, with nothing done in between, before it is taken for no accident.
_DEATHS = 3


class Engine(Protocol):
    """Anything that maps."""

    def map(self, fn: Callable[[Item, Shared], Result], items: Sequence[Item], shared: Shared) -> Iterator[Result]:
        """Give ``fn(item, shared)`` for each item, in the order of the items, whatever came first.

        Parameters
        ----------
        fn : callable
            A function of a module that workers can import. It may be called again for an item whose worker died.
        items : sequence
            What there is one call for.
        shared : object
            What all calls are given, sent to each worker or machine once.

        Returns
        -------
        results : iterator
            The results. What a call raises is raised when its turn comes, and the calls after it are given up.
        """


class LocalEngine:
    """Processes of this machine.

    They are started when they are first needed and kept from one `map` to the next. If one dies, killed for want of
    memory for example, the pool is built anew and what was not done is done again.

    Parameters
    ----------
    workers : int or None, default=None
        How many processes. None: as many as there are cores. 1: this process does the work itself.

    Notes
    -----
    Processes are made by a fork server or, where there is none, spawned: a script that is run from a file keeps its own
    work under ``if __name__ == "__main__":``, as :mod:`multiprocessing` asks.

    Examples
    --------
    >>> from operator import add
    >>> from onmargin.scale import LocalEngine
    >>> list(LocalEngine(workers=1).map(add, [1, 2, 3], 10))
    [11, 12, 13]
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
            raise ValueError(f"workers must be an integer at least 1, or None for one a core; got {workers!r}")
        self.workers = workers or _cores()
        self._pool: ProcessPoolExecutor | None = None

    def map(self, fn: Callable[[Item, Shared], Result], items: Sequence[Item], shared: Shared) -> Iterator[Result]:
        """As :class:`Engine` says.

        Parameters
        ----------
        fn : callable
            A function of a module that workers can import.
        items : sequence
            What there is one call for.
        shared : object
            What all calls are given.

        Returns
        -------
        results : iterator
            The results in the order of the items.
        """
        if self.workers == 1:
            for item in items:
                yield fn(item, shared)
            return
        with _stored(shared) as path:
            yield from self._map(fn, items, path)

    def _map(self, fn: Callable[..., Result], items: Sequence[Any], path: str) -> Iterator[Result]:
        calls: dict[int, Future[Result]] = {}
        deaths, ahead = 0, 2 * self.workers  # results that wait for their turn take memory
        try:
            for turn in range(len(items)):
                while True:
                    try:
                        for k in range(turn, min(turn + ahead, len(items))):
                            if k not in calls or isinstance(_failure(calls[k]), BrokenProcessPool):
                                calls[k] = self._workers().submit(_call, fn, items[k], path)
                        result = calls[turn].result()
                        break
                    except BrokenProcessPool as error:
                        self.close()
                        deaths += 1
                        if deaths == _DEATHS:
                            raise RuntimeError(
                                f"a worker died {deaths} times in a row, with nothing done in between: give "
                                "fewer workers if memory ran out, and keep what a script does under "
                                'if __name__ == "__main__":'
                            ) from error
                deaths = 0
                del calls[turn]
                yield result
        finally:
            for call in calls.values():
                call.cancel()

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
            context = get_context(method)
            if method == "forkserver":
                context.set_forkserver_preload(["onmargin.scale._batches"])  # which is slow to import
            self._pool = ProcessPoolExecutor(self.workers, mp_context=context)
        return self._pool

    def close(self) -> None:
        """End the processes; a later `map` starts new ones."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _failure(call: "Future[Any]") -> BaseException | None:
    return call.exception() if call.done() and not call.cancelled() else None


@contextmanager
def _stored(shared: Any) -> Iterator[str]:
    """Put what is shared into a file, which processes of one machine read from its memory."""
    with TemporaryDirectory(prefix="onmargin-") as folder:
        path = Path(folder, "shared")
        with path.open("wb") as file:
            pickle.dump(shared, file, protocol=pickle.HIGHEST_PROTOCOL)
        yield str(path)


# What this process was given last, by the file it came in.
_known: dict[str, Any] = {}


def _call(fn: Callable[[Any, Any], Result], item: Any, path: str) -> Result:
    """In a worker: call the function."""
    if path not in _known:
        _known.clear()
        # Our own process wrote it, into a folder that nobody else may write to.
        _known[path] = pickle.loads(Path(path).read_bytes())
    return fn(item, _known[path])
