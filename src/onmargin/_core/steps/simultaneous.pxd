"""Simultaneous projections onto the half-spaces of a trial ([SIMPROJ])."""

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.steps.step cimport Step


cdef class Scheme(Step):
    cdef readonly double C
    cdef readonly bint mistaken

    cdef void select(self, Round* r) noexcept nogil
    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil


cdef class Largest(Scheme):
    cdef readonly bint squared


cdef class Even(Scheme):
    cdef readonly bint fixed


cdef void solve_in_place(double* H, double* d, Py_ssize_t m) noexcept nogil
