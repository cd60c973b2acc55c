from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

class Parser:
    def __init__(
        self, zero_based: bool = False, multilabel: bool = False, n_features: int = -1, *, portable: bool = False
    ) -> None: ...
    @property
    def width(self) -> int: ...
    def parse(
        self, text: bytes | bytearray, n: int, dtype: DTypeLike = ...
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[Any],
        NDArray[np.int64] | None,
        int,
        str | None,
    ]: ...
