"""Reading ahead in a background thread."""

from collections.abc import Iterable, Iterator
from queue import Full, Queue
from threading import Event, Thread
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)

_PATIENCE = 10.0  # seconds to wait for the thread of an iteration that has ended
_POLL = 0.1  # seconds between checks of a waiting thread for whether the consumer still exists


class _Prefetched(Generic[T_co]):
    """Iterable whose items are read ahead in a thread; each loop starts its own thread."""

    def __init__(self, items: Iterable[T_co], ahead: int) -> None:
        self._items = items
        self._ahead = ahead

    def __iter__(self) -> Iterator[T_co]:
        # Entries are (item, None), or (None, the exception that ended the iteration).
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
            except BaseException as error:  # raised again in the consumer's thread
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
            thread.join(_PATIENCE)  # a thread that waits for a file that never answers ends with the program


def prefetch(items: Iterable[T_co], ahead: int = 2) -> Iterable[T_co]:
    r"""Read the next items in a background thread while the current one is used.

    Use it with a reader that releases the global interpreter lock, such as :func:`read_svmlight`: the next block is
    then parsed while a model learns. For readers in pure Python it only hides the time spent waiting for the disk.

    Parameters
    ----------
    items : iterable
        The items to read.
    ahead : int, default=2
        Maximum number of items read ahead.

    Returns
    -------
    items : iterable
        The same items in the same order, with the same error at the same position.

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
