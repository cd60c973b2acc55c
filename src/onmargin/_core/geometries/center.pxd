"""The center of a ball that encloses its rows."""

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.rows cimport Row, Vec, Weights


cdef class Center(Geometry):
    cdef readonly double scale, squared_norm, height
    cdef readonly Py_ssize_t clock
    cdef readonly object vector
    cdef const Vec* vec
    cdef Weights w
    cdef double along  # <c, x> of the round's row

    cdef Row as_row(self) noexcept nogil
    cdef double distance(self, const Row* x, double squared_norm, double* along) noexcept nogil
    cdef void unscale(self) noexcept nogil
