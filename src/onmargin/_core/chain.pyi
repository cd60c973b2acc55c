import numpy as np
from numpy.typing import NDArray

def decode(
    emissions: NDArray[np.float64], transitions: NDArray[np.float64], ends: NDArray[np.intp]
) -> NDArray[np.int32]: ...
def decode_best(
    emissions: NDArray[np.float64], transitions: NDArray[np.float64], n: int
) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...
def decode_most_wrong(
    emissions: NDArray[np.float64], transitions: NDArray[np.float64], right: NDArray[np.int32]
) -> NDArray[np.int32]: ...
