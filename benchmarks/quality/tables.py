"""Tables in a folder, each a file .npz of numbers X and labels y: keel.py makes such files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from streams import Stream

LEAST = 300  # rows; an error of fewer says little


def tables(folder: Path) -> dict[str, Callable[[], Stream]]:
    """Those of at least LEAST rows, by name."""
    return {path.stem: partial(read, path) for path in sorted(folder.glob("*.npz")) if len(read(path)[1]) >= LEAST}


def read(path: Path) -> Stream:
    with np.load(path) as table:
        return np.ascontiguousarray(table["X"], dtype=float), table["y"]
