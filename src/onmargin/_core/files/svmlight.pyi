from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

class Parser:
    def __init__(
        self,
        zero_based: bool = False,
        multilabel: bool = False,
        n_features: int = -1,
        dtype: DTypeLike = ...,
        capacity: int = 0,
        *,
        level: int = 2,
    ) -> None: ...
    @property
    def width(self) -> int: ...
    @property
    def n_characters(self) -> int: ...
    @property
    def line_start(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    def parse(self, text: bytes | bytearray, n: int) -> str | None: ...
    def take(
        self,
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[Any],
        NDArray[np.int64] | None,
        int,
    ]: ...
