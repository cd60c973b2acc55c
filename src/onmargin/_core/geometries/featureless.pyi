from typing import Self

from numpy.typing import DTypeLike

from onmargin._core.geometries.changed import Changed
from onmargin._core.geometries.geometry import Geometry

class Featureless(Changed):
    def __init__(self, inner: Geometry, n_features: int, dtype: DTypeLike) -> None: ...
    def alike(self, inner: Geometry) -> Self: ...
    def resized(self, n_features: int) -> Self: ...
