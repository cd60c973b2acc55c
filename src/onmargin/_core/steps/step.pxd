"""A step says how far to go along each half-space."""

from libc.math cimport INFINITY

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round


cdef inline double projection(const HalfSpace* h, double cap, double damping) noexcept nogil:
    """tau = min(cap, loss / (q + damping)), the maximizer of tau loss - tau^2 (q + damping) / 2 over 0 <= tau <= cap.

    A zero row, or one whose squares have no number, cannot be projected onto anything: 0.
    """
    cdef double tau = min(cap, h.loss / (h.q + damping)) if 0 < h.q < INFINITY else 0
    return tau if tau < INFINITY else 0


cdef class Step:
    cdef bint eager  # whether it is asked in rounds without loss too

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil
    cdef double pace(self, Round* r) noexcept nogil
    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept


cdef class Projection(Step):
    cdef readonly double cap, damping


cdef class TargetLoss(Projection):
    cdef readonly double target
    cdef readonly Py_ssize_t left
