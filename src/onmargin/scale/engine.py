"""Engines that map a function over items and a shared object, in one or many processes."""

import os
import pickle
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from itertools import count
from multiprocessing import current_process, get_all_start_methods, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

Item = TypeVar("Item")
Shared = TypeVar("Shared")
Result = TypeVar("Result")

# Number of worker deaths after which an engine gives up: with nothing done in between, or with one item of Ray.
DEATHS = 3
# Seconds without a result after which an engine looks whether its pool still works.
PATIENCE = 1.0


class Engine(Protocol):
    """Protocol of engines: any object with a method `map`."""

    def map(self, fn: Callable[[Item, Shared], Result], items: Sequence[Item], shared: Shared) -> Iterator[Result]:
        """Yield ``fn(item, shared)`` for each item, in the order of the items.

        Parameters
        ----------
        fn : callable
            A function of a module that workers can import. It may be called again for an item whose worker died.
        items : sequence
            The items; the function is called once for each.
        shared : object
            The second argument of all calls, sent to each worker or machine once.

        Returns
        -------
        results : iterator
            The results. An exception in a call is raised in place of its result, and the later calls are canceled.
        """


class LocalEngine:
    """Engine that runs worker processes on this machine.

    Use it for the cores of one machine; :class:`RayEngine` is for several machines.

    The processes are started on first use and kept between calls of `map`. If a worker or the fork server dies, for
    example because memory runs out, the pool is rebuilt and unfinished calls are repeated. The workers end when this
    process ends, even if it is killed, and remove its temporary files.

    Parameters
    ----------
    workers : int or None, default=None
        Number of processes. If None, one per core. If 1, the work is done in this process.

    Notes
    -----
    Processes are started by a fork server or, where there is none, spawned. A script must therefore keep its own work
    under ``if __name__ == "__main__":``, as :mod:`multiprocessing` requires.

    Examples
    --------
    >>> from operator import add
    >>> from onmargin.scale import LocalEngine
    >>> list(LocalEngine(workers=1).map(add, [1, 2, 3], 10))
    [11, 12, 13]
    """

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
            raise ValueError(f"workers must be an integer at least 1, or None for one per core; got {workers!r}")
        self.workers = workers or _cores()
        self._pool: _Pool | None = None

    def map(self, fn: Callable[[Item, Shared], Result], items: Sequence[Item], shared: Shared) -> Iterator[Result]:
        """Yield ``fn(item, shared)`` for each item; see :class:`Engine`.

        Parameters
        ----------
        fn : callable
            A function of a module that workers can import.
        items : sequence
            The items; the function is called once for each.
        shared : object
            The second argument of all calls.

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
        deaths, ahead = 0, 2 * self.workers  # limit the calls ahead, since waiting results take memory
        try:
            for turn in range(len(items)):
                while True:
                    try:
                        for k in range(turn, min(turn + ahead, len(items))):
                            if k not in calls or isinstance(_failure(calls[k]), BrokenProcessPool):
                                calls[k] = self._workers().submit(fn, items[k], shared)
                        result = self._wait(calls[turn])
                        break
                    except BrokenProcessPool:
                        if self._pool is not None:
                            self._pool.end_workers()
                        self.close()
                        # Nothing completes the other calls of a closed pool, not even with an error.
                        calls = {k: call for k, call in calls.items() if call.done() and not call.cancelled()}
                        deaths += 1
                        if deaths == DEATHS:
                            raise RuntimeError(
                                f"a worker died {deaths} times in a row, with nothing done in between: give "
                                "fewer workers if memory ran out, and keep what a script does under "
                                'if __name__ == "__main__":'
                            ) from None  # a broken pool does not know why its workers died
                deaths = 0
                del calls[turn]
                yield result
        finally:
            for call in calls.values():
                call.cancel()
            if self._pool is not None:
                self._pool.forget(shared)

    def _wait(self, call: "Future[Result]") -> Result:
        """Return the result of a call; raise BrokenProcessPool if the pool has lost the call while it broke."""
        while True:
            try:
                return call.result(PATIENCE)
            except TimeoutError:
                if call.done():
                    return call.result()
                self._workers().check()

    def _workers(self) -> "_Pool":
        if self._pool is None:
            if getattr(current_process(), "_inheriting", False):  # a worker runs a script that has no such line
                raise SystemExit(1)  # the error in the first process says so
            self._pool = _Pool(self.workers)
        return self._pool

    def close(self) -> None:
        """End the processes; a later `map` starts new ones."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None


class _Pool:
    """Worker processes that share a folder and end with this process."""

    def __init__(self, workers: int) -> None:
        method = "forkserver" if "forkserver" in get_all_start_methods() else "spawn"
        context = get_context(method)
        if method == "forkserver":
            context.set_forkserver_preload(["onmargin.scale._batches"])  # it is slow to import
        self._folder = TemporaryDirectory(prefix="onmargin-", ignore_cleanup_errors=True)
        self._ends = context.Pipe(duplex=False)
        self._executor = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_watch, initargs=(self._ends[0], self._folder.name)
        )

    def submit(self, fn: Callable[[Any, Any], Result], item: Any, shared: "_Shared") -> "Future[Result]":
        """Call a function in a worker, which reads the shared object from a file once and keeps it in memory."""
        path = self._path(shared)
        if not path.exists():
            with path.open("wb") as file:
                pickle.dump(shared.value, file, protocol=pickle.HIGHEST_PROTOCOL)
        try:
            return self._executor.submit(_call, fn, item, str(path))
        except (ConnectionError, EOFError, FileNotFoundError) as error:
            raise BrokenProcessPool("the server that processes are forked from has died") from error

    def check(self) -> None:
        """Raise BrokenProcessPool if the processes have died."""
        self._executor.submit(int)

    def forget(self, shared: "_Shared") -> None:
        """Delete the file of a shared object that no more calls will use."""
        self._path(shared).unlink(missing_ok=True)

    def _path(self, shared: "_Shared") -> Path:
        return Path(self._folder.name, str(shared.number))

    def close(self) -> None:
        """End the processes, including those that the executor has lost track of."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        self.end_workers()
        self._folder.cleanup()

    def end_workers(self) -> None:
        """End the processes without waiting for them.

        A broken executor may have started one after it terminated the others; it would wait for that one forever.
        """
        for end in reversed(self._ends):
            end.close()


class _Shared:
    """The shared object of one `map`, with a unique number."""

    _numbers = count()

    def __init__(self, value: Any) -> None:
        self.value = value
        self.number = next(self._numbers)


def _watch(end: Connection, folder: str) -> None:
    """End this worker when the process at the other end of a pipe ends, for any reason."""
    threading.Thread(target=_end_with, args=(end, folder), daemon=True).start()


def _end_with(end: Connection, folder: str) -> None:
    with suppress(EOFError, OSError):
        end.recv_bytes()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _failure(call: "Future[Any]") -> BaseException | None:
    return call.exception() if call.done() and not call.cancelled() else None


# The shared object that this process received last, by its file.
_known: dict[str, Any] = {}


def _call(fn: Callable[[Any, Any], Result], item: Any, path: str) -> Result:
    """Call the function; runs in a worker."""
    if path not in _known:
        _known.clear()
        try:
            data = Path(path).read_bytes()
        except FileNotFoundError as error:  # a worker that ends has deleted the folder of its pool
            raise BrokenProcessPool("the pool has ended") from error
        # Unpickling is safe: the parent process wrote the file, in a folder that no other user can write to.
        _known[path] = pickle.loads(data)
    return fn(item, _known[path])
