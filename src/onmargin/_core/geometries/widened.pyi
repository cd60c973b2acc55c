from typing import Self

from onmargin._core.geometries.changed import Changed
from onmargin._core.geometries.geometry import Geometry

class Widened(Changed):
    def __init__(self, inner: Geometry) -> None: ...
    def resized(self, n_features: int) -> Self: ...
