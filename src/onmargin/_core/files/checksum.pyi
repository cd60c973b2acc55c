from typing import Any

from numpy.typing import NDArray

def add_words(array: NDArray[Any], checksum: int = 0) -> int: ...
