"""Read ahead in a thread."""

from collections.abc import Iterable, Iterator
from queue import Full, Queue
from threading import Event, Thread
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)

_POLL = 0.1  # seconds after which a thread that waits looks whether anybody still listens


class _Prefetched(Generic[T_co]):
    """The items of an iterable, read ahead in a thread; each loop over it starts one."""

    def __init__(self, items: Iterable[T_co], ahead: int) -> None:
        self._items = items
        self._ahead = ahead

    def __iter__(self) -> Iterator[T_co]:
        # What goes through is (item, None), or (None, why there are no more).
        queue: Queue[tuple[T_co | None, BaseException | None]] = Queue(self._ahead)
        abandoned = Event()

        def put(entry: tuple[T_co | None, BaseException | None]) -> bool:
            while not abandoned.is_set():
                try:
                    queue.put(entry, timeout=_POLL)
                    return True
                except Full:
                    pass
            return False

        def run() -> None:
            try:
                for item in self._items:
                    if not put((item, None)):
                        return
                put((None, StopIteration()))
            except BaseException as error:  # raised again where the items are used
                put((None, error))

        thread = Thread(target=run, name="onmargin-prefetch", daemon=True)
        thread.start()
        try:
            while True:
                item, end = queue.get()
                if isinstance(end, StopIteration):
                    return
                if end is not None:
                    raise end
                yield item  # type: ignore[misc]
        finally:
            abandoned.set()
            thread.join()


def prefetch(items: Iterable[T_co], ahead: int = 2) -> Iterable[T_co]:
    r"""Read the next items while the last one is being used.

    Use it around a reader whose work runs without the global lock, such as :func:`read_svmlight`: text is then parsed
    while a model learns. Readers in plain Python gain nothing but waiting for the disk.

    Parameters
    ----------
    items : iterable
        What to read, in another thread.
    ahead : int, default=2
        How many items may wait.

    Returns
    -------
    items : iterable
        The same, in the same order, with the same error at the same place.

    Examples
    --------
    >>> import io
    >>> from onmargin.io import prefetch, read_svmlight
    >>> text = "1 1:0.5 3:1\n-1 2:1\n" * 1000
    >>> sum(X.shape[0] for X, y, _ in prefetch(read_svmlight(io.StringIO(text))))
    2000
    """
    if ahead < 1:
        raise ValueError(f"ahead must be at least 1; got {ahead!r}")
    return _Prefetched(items, ahead)
