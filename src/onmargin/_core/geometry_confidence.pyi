from typing import Any

from numpy.typing import DTypeLike

from onmargin._core.geometry_adaptive import Diagonal

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
