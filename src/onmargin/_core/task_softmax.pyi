import numpy as np
from numpy.typing import NDArray

from onmargin._core.task import Task

class Softmax(Task):
    def decode(self, scores: NDArray[np.float64]) -> NDArray[np.intp]: ...
