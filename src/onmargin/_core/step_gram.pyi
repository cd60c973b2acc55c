import numpy as np
from numpy.typing import NDArray

from onmargin._core.row import Rows
from onmargin._core.step_window import Window

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

class KernelWindow(GramWindow): ...
