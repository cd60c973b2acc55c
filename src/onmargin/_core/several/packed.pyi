from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from onmargin._core.geometries.diagonal import Diagonal

class PackedColumns(Diagonal):
    def __init__(
        self,
        n_features: int,
        n_columns: int,
        dtype: DTypeLike,
        *,
        sparse: bool = True,
        bias: float = 0.0,
        average: int = 0,
        descents: int = 0,
        adaptive: int = 0,
        normalized: int = 0,
        forgetting: Iterable[float] = (),
    ) -> None: ...
    @property
    def descents(self) -> int: ...
    @property
    def adaptive(self) -> int: ...
    @property
    def normalized(self) -> int: ...
    @property
    def forgetting(self) -> tuple[float, ...]: ...
    @property
    def scales(self) -> NDArray[Any]: ...
    @property
    def counts(self) -> NDArray[np.float64]: ...
    @staticmethod
    def of(columns: Sequence[Any]) -> PackedColumns | None: ...
    def settings(self) -> dict[str, Any]: ...
    def by_feature(self) -> dict[str, NDArray[Any]]: ...
    def others(self) -> dict[str, NDArray[Any]]: ...
    def alone(self, c: int) -> Diagonal: ...
