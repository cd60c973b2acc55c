from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from onmargin._core.geometries.geometry import Euclidean

class Ridge(Euclidean):
    def __init__(
        self,
        n_features: int,
        n_columns: int,
        dtype: DTypeLike,
        *,
        sparse: bool = False,
        bias: float = 0.0,
        average: int = 0,
        alpha: float = 1.0,
        forgetting: float = 0.0,
        forecast: bool = False,
    ) -> None: ...
    @property
    def alpha(self) -> float: ...
    forgetting: float
    forecast: bool
    @property
    def inverse(self) -> NDArray[np.float64]: ...
    @property
    def faded(self) -> NDArray[np.float64]: ...
    def settings(self) -> dict[str, Any]: ...
    def arrays(self) -> dict[str, NDArray[Any]]: ...
    def room(self, n_features: int) -> int: ...
    def recombined(self, mixing: NDArray[Any]) -> Self: ...
    def resized(self, n_features: int) -> Self: ...
    def full(self) -> NDArray[np.float64]: ...
