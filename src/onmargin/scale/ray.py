"""Engine that runs tasks on a Ray cluster."""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeVar

from onmargin.scale.engine import DEATHS

Item = TypeVar("Item")
Shared = TypeVar("Shared")
Result = TypeVar("Result")

_PATIENCE = 5.0  # seconds within which a cluster must answer

# A node that fails this many health checks at this interval is dead: after seconds, not after Ray's half minute.
_HEALTH = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 3,
}


class RayEngine:
    """Engine that runs tasks on a Ray cluster.

    Each call is a task on one core. The shared object is put into Ray's object store once per `map`, and each machine
    fetches it once. A task whose worker or machine dies is repeated as often as needed; an exception raised by the
    function is raised here, and the task is not repeated. Requires Ray on every machine: ``pip install '.[ray]'`` in a
    clone.

    Use it if one machine is not enough, or if you have a cluster. On one machine, :class:`LocalEngine` does the same
    with less overhead. The results are the same, bit for bit, if the machines are of the same kind.

    Parameters
    ----------
    address : str or None, default=None
        Address of a running cluster, such as "10.0.0.1:6379", or "auto" for the one that this machine belongs to. If
        None, the cluster that this process is already connected to; if there is none, a cluster is started on this
        machine.
    workers : int or None, default=None
        Maximum number of tasks that run at the same time. If None, one per core.
    memory : int or None, default=None
        Size in bytes of the object store of a cluster that is started. If None, Ray's default, a third of the memory.

    Notes
    -----
    Ray's usage statistics are switched off. If this class starts the cluster, machines that stop answering are given up
    after about three seconds; for other clusters, set ``RAY_health_check_period_ms`` and related variables before
    ``ray start``. Ray kills tasks when a machine runs out of memory, and they are repeated: see
    ``RAY_memory_usage_threshold``.
    """

    def __init__(self, address: str | None = None, *, workers: int | None = None, memory: int | None = None) -> None:
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
            raise ValueError(f"workers must be an integer at least 1, or None for one per core; got {workers!r}")
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # Ray reads this when it is imported
        os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # if several shards fail, only the first is raised
        try:
            self._ray: Any = import_module("ray")
        except ImportError as error:
            raise ImportError("the engine 'ray' needs Ray: pip install '.[ray]' in a clone of onmargin") from error
        self._own = not self._ray.is_initialized()
        if self._own:
            self._connect(address, workers, memory)
        elif address not in (None, "auto", here := self._ray.get_runtime_context().gcs_address):
            raise ValueError(
                f"this process is connected to the Ray cluster at {here!r} already: call ray.shutdown() first"
            )
        # In a cluster that is started here, the number of its cores limits the tasks.
        self._at_once = None if self._own and address is None else workers

    def _connect(self, address: str | None, workers: int | None, memory: int | None) -> None:
        if address is None:
            # By default Ray would join a cluster that already runs here; users request that with "auto".
            where: dict[str, Any] = {
                "address": "local",
                "num_cpus": workers,
                "object_store_memory": memory,
                "include_dashboard": False,
                "_system_config": _HEALTH,
            }
        else:
            _check_answer(address)
            where = {"address": address}
        try:
            self._ray.init(**where, log_to_driver=False, logging_level="warning", configure_logging=False)
        except (ConnectionError, TimeoutError) as error:
            raise ConnectionError(_no_cluster(str(address), str(error))) from error

    def map(self, fn: Callable[[Item, Shared], Result], items: Sequence[Item], shared: Shared) -> Iterator[Result]:
        """Yield ``fn(item, shared)`` for each item; see :class:`Engine`.

        Parameters
        ----------
        fn : callable
            A function of a module that workers can import, or one that Ray can send.
        items : sequence
            The items; there is one task for each.
        shared : object
            The second argument of all calls. Arrays in it are not copied: tasks must not write to them.

        Returns
        -------
        results : iterator
            The results in the order of the items.
        """
        ray = self._ray
        given = ray.put(shared)
        task = ray.remote(_call).options(max_retries=DEATHS - 1, num_cpus=1)
        ahead = self._at_once or len(items)
        calls: dict[int, Any] = {}
        try:
            for turn in range(len(items)):
                for k in range(turn, min(turn + ahead, len(items))):
                    if k not in calls:
                        calls[k] = task.remote(fn, items[k], given)
                try:
                    result = ray.get(calls.pop(turn))
                except ray.exceptions.RayTaskError as error:
                    raise (error.cause or error) from None
                except ray.exceptions.WorkerCrashedError as error:
                    raise RuntimeError(
                        f"a worker died {DEATHS} times with {getattr(items[turn], 'name', items[turn])!r:.200}: check "
                        "whether memory ran out, and give fewer workers or smaller shards"
                    ) from error
                yield result
        finally:
            for call in calls.values():
                ray.cancel(call, force=True)

    def close(self) -> None:
        """Disconnect from the cluster if this object joined it; stop the cluster if this object started it."""
        if self._own:
            self._ray.shutdown()
            self._own = False


def _call(fn: Callable[[Item, Shared], Result], item: Item, shared: Shared) -> Result:
    """Call any callable; runs in a worker. Ray itself accepts only plain functions."""
    return fn(item, shared)


def _check_answer(address: str) -> None:
    """Raise an error if nothing listens at the address; Ray itself would retry for a minute."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except OSError as error:
        raise ConnectionError(_no_cluster(address, error.strerror or str(error))) from error


def _no_cluster(address: str, problem: str) -> str:
    return (
        f"there is no Ray cluster at {address!r}: {problem}. Start one with `ray start --head`, or leave address out "
        "to start one on this machine."
    )
