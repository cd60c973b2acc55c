"""Records in groups."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from onmargin.io._reader import ReadError

T_co = TypeVar("T_co", covariant=True)


def grouped(items: Iterable[T_co], size: int) -> Iterator[list[T_co]]:
    """Yield items in lists; those before a record that cannot be read come before its error.

    Parameters
    ----------
    items : iterable
        The items.
    size : int
        How many a list has; the last may have fewer.

    Yields
    ------
    group : list
        The next items.
    """
    rest = iter(items)
    while True:
        group: list[T_co] = []
        try:
            group.extend(islice(rest, size))  # which keeps what came before an error
        except ReadError:
            if group:
                yield group
            raise
        if not group:
            return
        yield group
