from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from onmargin._core.text.names import Index
from onmargin._core.text.words import Frequencies, Text

def flattened(x: dict[str, Any]) -> dict[str, Any]: ...

class _Column: ...

class Reader:
    grow: bool
    zeros: bool
    def __init__(
        self,
        names: Index,
        *,
        grow: bool,
        dtype: DTypeLike,
        separator: str | None = None,
        text: Text | None = None,
        frequencies: Frequencies | None = None,
    ) -> None: ...
    @property
    def names(self) -> Index: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def __len__(self) -> int: ...
    def read(self, x: Any) -> None: ...
    def read_all(self, examples: Iterable[Any]) -> None: ...
    def arrays(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]: ...
