"""Geometries that hand changed rows to another one."""

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.rows cimport Row


cdef class Transformed(Geometry):
    cdef readonly Geometry inner
    cdef Row row  # the changed row of the round

    cdef void change(self, const Row* x, Row* out) noexcept nogil
    cdef void take_in(self, const Row* x) noexcept nogil
    cdef void hand_up(self, Row* x) noexcept nogil
