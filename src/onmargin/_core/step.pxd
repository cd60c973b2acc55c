"""A step says how far to go along each half-space."""

from onmargin._core.geometry cimport Geometry
from onmargin._core.task cimport HalfSpace, Round


cdef class Step:
    cdef bint eager  # whether it is asked in rounds without loss too

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil
    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept


cdef class Projection(Step):
    cdef readonly double cap, damping


cdef class Reach(Projection):
    cdef readonly double target
    cdef readonly Py_ssize_t left


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
