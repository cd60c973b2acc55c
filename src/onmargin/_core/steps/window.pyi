from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.rows import Rows
from onmargin._core.steps.step import Step

class Window(Step):
    def __init__(
        self,
        X: Rows,
        y: NDArray[np.float64],
        weight: NDArray[np.float64],
        now: int,
        alpha: NDArray[np.float64],
        *,
        C: float,
        margin: float,
        window: int,
        sweeps: int,
    ) -> None: ...
    @property
    def C(self) -> float: ...  # noqa: N802
    @property
    def margin(self) -> float: ...
    @property
    def window(self) -> int: ...
    @property
    def sweeps(self) -> int: ...
    @property
    def now(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    def __reduce__(self) -> Any: ...

class GramWindow(Window):
    def __init__(
        self,
        X: Rows,
        y: NDArray[np.float64],
        weight: NDArray[np.float64],
        now: int,
        alpha: NDArray[np.float64],
        scores: NDArray[np.float64],
        *,
        C: float,
        margin: float,
        window: int,
        sweeps: int,
    ) -> None: ...

class TubeWindow(GramWindow): ...
class KernelWindow(GramWindow): ...
