from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from onmargin._core.geometries.geometry import Euclidean

class Diagonal(Euclidean):
    def __init__(
        self,
        n_features: int,
        n_columns: int,
        dtype: DTypeLike,
        *,
        sparse: bool = False,
        bias: float = 0.0,
        average: int = 0,
    ) -> None: ...
    @property
    def metric(self) -> NDArray[Any]: ...
    @property
    def metric_intercept(self) -> NDArray[np.float64]: ...
    @property
    def start(self) -> float: ...
    def by_feature(self) -> dict[str, NDArray[Any]]: ...
    def others(self) -> dict[str, NDArray[Any]]: ...
    def arrays(self) -> dict[str, NDArray[Any]]: ...
    def recombined(self, mixing: NDArray[Any]) -> Self: ...
    def resized(self, n_features: int) -> Self: ...

class Adaptive(Diagonal): ...
class GradientAdaptive(Adaptive): ...

class Normalized(Diagonal):
    def __init__(
        self,
        n_features: int,
        n_columns: int,
        dtype: DTypeLike,
        *,
        sparse: bool = False,
        bias: float = 0.0,
        average: int = 0,
    ) -> None: ...
    @property
    def scales(self) -> NDArray[Any]: ...
    @property
    def counts(self) -> NDArray[np.float64]: ...
    def by_feature(self) -> dict[str, NDArray[Any]]: ...
    def others(self) -> dict[str, NDArray[Any]]: ...

class Confidence(Diagonal):
    forgetting: float
    def __init__(
        self,
        n_features: int,
        n_columns: int,
        dtype: DTypeLike,
        *,
        sparse: bool = False,
        bias: float = 0.0,
        average: int = 0,
        forgetting: float = 0.0,
    ) -> None: ...
    def settings(self) -> dict[str, Any]: ...
