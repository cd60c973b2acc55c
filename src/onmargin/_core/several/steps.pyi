from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onmargin._core.steps.step import Step

class Steps(Step):
    def __init__(self, steps: Sequence[Step]) -> None: ...
    @property
    def steps(self) -> tuple[Step, ...]: ...

class Projections(Step):
    def __init__(self, caps: ArrayLike, dampings: ArrayLike) -> None: ...
    @property
    def caps(self) -> NDArray[np.float64]: ...
    @property
    def dampings(self) -> NDArray[np.float64]: ...
