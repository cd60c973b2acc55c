from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.rows import Rows

def scale(
    X: Rows,
    largest: NDArray[np.float64],
    squares: NDArray[np.float64],
    rows: int,
    *,
    by_largest: bool,
    learn: bool,
    out: NDArray[Any] | None = None,
) -> None: ...
