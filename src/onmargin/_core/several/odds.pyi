from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Odds:
    def __init__(self, n: int) -> None: ...
    def state(self) -> dict[str, NDArray[np.float64]]: ...
    def restore(self, state: Mapping[str, Any]) -> None: ...
