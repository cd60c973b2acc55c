from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onmargin._core.background import Background, Work
from onmargin._core.calibration import Calibration
from onmargin._core.geometries.geometry import Geometry
from onmargin._core.rows import Rows
from onmargin._core.steps.step import Step
from onmargin._core.tasks.task import Task

class Totals:
    rounds: int
    mistakes: int
    updates: int
    loss: float
    squared_loss: float
    dual_value: float
    max_squared_norm: float
    cost: float
    calibration: Calibration | None
    seen: bool
    def __getstate__(self) -> dict[str, Any]: ...
    def __setstate__(self, state: dict[str, Any]) -> None: ...
    def record_mistakes(self, out: NDArray[np.bool_]) -> None: ...
    def __copy__(self) -> Totals: ...
    def meet(self, places: Sequence[int] | NDArray[Any], n_classes: int, stretch: float = 1.0) -> Totals: ...

class Stage:
    def __init__(
        self, geometry: Geometry, step: Step | None = None, trials: NDArray[np.intp] | None = None
    ) -> None: ...

class Rounds(Work):
    def __init__(
        self,
        task: Task,
        step: Step,
        geometry: Geometry,
        totals: Totals,
        X: Rows,
        y: NDArray[np.float64],
        weight: NDArray[np.float64] | None = None,
        order: NDArray[np.intp] | None = None,
        *,
        trials: NDArray[np.intp] | None = None,
        targets: NDArray[np.intp] | None = None,
        pace: int = 0,
        guarded: bool = False,
    ) -> None: ...

def play(
    task: Task,
    step: Step,
    geometry: Geometry,
    totals: Totals,
    X: Rows,
    y: NDArray[np.float64],
    weight: NDArray[np.float64] | None = None,
    order: NDArray[np.intp] | None = None,
    *,
    trials: NDArray[np.intp] | None = None,
    targets: NDArray[np.intp] | None = None,
    pace: int = 0,
    guarded: bool = False,
    background: Background | None = None,
) -> bool: ...
def losses(
    task: Task, geometry: Geometry, X: Rows, y: NDArray[np.float64], out: NDArray[np.float64], *, pace: int = 0
) -> None: ...
def set_asleep(task: Task, geometry: Geometry) -> None: ...
def score(geometry: Geometry, X: Rows, out: NDArray[np.float64], *, guarded: bool = False) -> bool: ...
