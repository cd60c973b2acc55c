from typing import Self

from onmargin._core.geometries.geometry import Geometry

class Changed(Geometry):
    @property
    def inner(self) -> Geometry: ...
    @property
    def bias(self) -> float: ...
    def alike(self, inner: Geometry) -> Self: ...
