"""Grouping of records into lists."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from onmargin.io._reader import ReadError

T_co = TypeVar("T_co", covariant=True)


def grouped(items: Iterable[T_co], size: int) -> Iterator[list[T_co]]:
    """Yield items in lists; the items before an error are yielded before it is raised.

    Parameters
    ----------
    items : iterable
        The items.
    size : int
        Number of items per list; the last list may have fewer.

    Yields
    ------
    group : list
        The next items.
    """
    rest = iter(items)
    while True:
        group: list[T_co] = []
        try:
            group.extend(islice(rest, size))  # extend keeps the items before an error
        except ReadError:
            if group:
                yield group
            raise
        if not group:
            return
        yield group
