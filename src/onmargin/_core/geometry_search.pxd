"""Additive geometries whose optimal step is searched for."""

from onmargin._core.geometry_additive cimport Additive
from onmargin._core.row cimport Row
from onmargin._core.task cimport HalfSpace, Round


cdef class Searching(Additive):
    cdef double beside        # S without the part that a half-space touches
    cdef double beside_level  # its level
    cdef bint exact           # whether it was summed up

    cdef double left_at(self, const Round* r, const HalfSpace* h, double a) noexcept nogil
    cdef bint score_at(self, const Row* x, const HalfSpace* h, double a, double level, double* along) noexcept nogil
    cdef void set_apart(self, const Row* x, const HalfSpace* h) noexcept nogil
    cdef void sum_beside(self, const Row* x, const HalfSpace* h) noexcept nogil
    cdef double tally(self, const Row* x, Py_ssize_t column, double a, double level, double* S) noexcept nogil
