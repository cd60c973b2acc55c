"""A step says how far to go along each violated half-space."""

from onmargin._core.geometry cimport Geometry
from onmargin._core.row cimport Row
from onmargin._core.task cimport Round


cdef class Step:
    cdef double solve(self, Round* r, const Row* x, Geometry geometry, double weight) noexcept nogil
