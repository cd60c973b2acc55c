"""Tables in a folder, as collect.py writes them: one .npz file per table, with every order in which it is learned."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from streams import Stream

ROWS = 5_000  # at most, of each table
FIRST = 2_000  # rows of the first order for curved peers, some of which take milliseconds per row
ORDERS = 3  # of a table whose order has no meaning


class Table(NamedTuple):
    """A table to classify or with numbers to predict.

    It is held out if it played no part in the choice of the experts of AutoClassifier and AutoRegressor.
    """

    name: str
    kind: str
    held_out: bool
    orders: list[Stream]


def in_three_orders(stream: Stream) -> list[Stream]:
    """Return the first rows of a table in random orders."""
    X, y = stream
    orders = [np.random.default_rng(seed).permutation(len(y))[:ROWS] for seed in range(ORDERS)]
    return [(X[rows], y[rows]) for rows in orders]


def write(folder: Path, table: Table) -> None:
    arrays = {
        f"{part}{k}": array for k, order in enumerate(table.orders) for part, array in zip("Xy", order, strict=True)
    }
    number = len(list(folder.glob("*.npz")))  # keeps the tables in their order
    np.savez(folder / f"{number:03d}.npz", name=table.name, kind=table.kind, held_out=table.held_out, **arrays)


def tables(folder: Path) -> Iterator[Table]:
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            n_orders = sum(name.startswith("X") for name in file.files)
            orders = [(np.ascontiguousarray(file[f"X{k}"]), file[f"y{k}"]) for k in range(n_orders)]
            yield Table(str(file["name"]), str(file["kind"]), bool(file["held_out"]), orders)
