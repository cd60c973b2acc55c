from typing import Any

import numpy as np
from numpy.typing import NDArray

class Rows:
    def __init__(
        self,
        values: NDArray[Any],
        n_features: int,
        indices: NDArray[np.int32] | None = None,
        indptr: NDArray[np.int32] | NDArray[np.int64] | None = None,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    def part(self, start: int, stop: int) -> Rows: ...
    def is_canonical(self) -> bool: ...
