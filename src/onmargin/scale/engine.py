"""Who does the work: a function of each item and of something that all share, by one process or by many."""

import os
import pickle
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import count
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
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
    memory for example, or the server that they are forked from, the pool is rebuilt and what was not done is done
    again. They end when this process does, even if it is killed, and remove its temporary files.

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
        self._pool: _Pool | None = None

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
        yield from self._map(fn, items, _Shared(shared))

    def _map(self, fn: Callable[..., Result], items: Sequence[Any], shared: "_Shared") -> Iterator[Result]:
        calls: dict[int, Future[Result]] = {}
        deaths, ahead = 0, 2 * self.workers  # results that wait for their turn take memory
        try:
            for turn in range(len(items)):
                while True:
                    try:
                        for k in range(turn, min(turn + ahead, len(items))):
                            if k not in calls or isinstance(_failure(calls[k]), BrokenProcessPool):
                                calls[k] = self._workers().submit(fn, items[k], shared)
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
            if self._pool is not None:
                self._pool.forget(shared)

    def _workers(self) -> "_Pool":
        if self._pool is None:
            self._pool = _Pool(self.workers)
        return self._pool

    def close(self) -> None:
        """End the processes; a later `map` starts new ones."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None


class _Pool:
    """Processes that share a folder, and end with this one."""

    def __init__(self, workers: int) -> None:
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        context = get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload(["onmargin.scale._batches"])  # which is slow to import
        self._folder = TemporaryDirectory(prefix="onmargin-", ignore_cleanup_errors=True)
        self._ends = context.Pipe(duplex=False)
        self._executor = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_watch, initargs=(self._ends[0], self._folder.name)
        )

    def submit(self, fn: Callable[[Any, Any], Result], item: Any, shared: "_Shared") -> "Future[Result]":
        """Have a process call a function. It reads what is shared from a file, once, which stays in memory."""
        path = self._path(shared)
        if not path.exists():
            with path.open("wb") as file:
                pickle.dump(shared.value, file, protocol=pickle.HIGHEST_PROTOCOL)
        try:
            return self._executor.submit(_call, fn, item, str(path))
        except (ConnectionError, EOFError, FileNotFoundError) as error:
            raise BrokenProcessPool("the server that processes are forked from has died") from error

    def forget(self, shared: "_Shared") -> None:
        """There will be no more calls that are given this."""
        self._path(shared).unlink(missing_ok=True)

    def _path(self, shared: "_Shared") -> Path:
        return Path(self._folder.name, str(shared.number))

    def close(self) -> None:
        """End the processes, also those that the executor has lost sight of."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        for end in reversed(self._ends):
            end.close()
        self._folder.cleanup()


class _Shared:
    """What all calls of a `map` are given, with a number of its own."""

    _numbers = count()

    def __init__(self, value: Any) -> None:
        self.value = value
        self.number = next(self._numbers)


def _watch(end: Connection, folder: str) -> None:
    """In a worker: end with the process that holds the other end of a pipe, however that ends."""
    threading.Thread(target=_end_with, args=(end, folder), daemon=True).start()


def _end_with(end: Connection, folder: str) -> None:
    with suppress(EOFError, OSError):
        end.recv_bytes()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _failure(call: "Future[Any]") -> BaseException | None:
    return call.exception() if call.done() and not call.cancelled() else None


# What this process was given last, by the file it came in.
_known: dict[str, Any] = {}


def _call(fn: Callable[[Any, Any], Result], item: Any, path: str) -> Result:
    """In a worker: call the function."""
    if path not in _known:
        _known.clear()
        # Our own process wrote it, into a folder that nobody else may write to.
        _known[path] = pickle.loads(Path(path).read_bytes())
    return fn(item, _known[path])
