"""A step determines how far to move along each half-space."""

from libc.math cimport INFINITY

from onmargin._core.geometries.geometry cimport Geometry, sides
from onmargin._core.round cimport HalfSpace, Round


cdef inline double projection(const HalfSpace* h, double cap, double damping) noexcept nogil:
    """tau = min(cap, loss / (q + damping)), the maximizer of tau loss - tau^2 (q + damping) / 2 over 0 <= tau <= cap.

    It is 0 for a zero row and for a row whose squares overflow.
    """
    cdef double tau = min(cap, h.loss / (h.q + damping)) if 0 < h.q < INFINITY else 0
    return tau if tau < INFINITY else 0


cdef class Step:
    cdef bint eager  # whether it is also called in rounds without loss
    cdef bint plain  # whether it is Projection itself, and not derived from it

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil
    cdef double pace(self, const Round* r, HalfSpace* h) noexcept nogil
    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept


cdef class Projection(Step):
    cdef readonly double cap, damping

    cdef inline double along(self, const Round* r, HalfSpace* h, double damping) noexcept nogil:
        """Go along one half-space, whose curvature is known; answer its part of the gain."""
        h.tau = projection(h, self.cap * r.weight, damping)
        return h.tau * (h.loss - h.tau * damping / 2) if h.tau > 0 else 0


cdef inline double solve(Step step, Round* r, Geometry geometry) noexcept nogil:
    """`step.solve`, not called through the table of methods for the passive-aggressive step in plain weights."""
    if step.plain and geometry.plain and r.n_halfspaces == 1:
        r.halfspaces.q = r.x.squared_norm * sides(r.halfspaces)
        return (<Projection>step).along(r, r.halfspaces, (<Projection>step).damping / r.weight)
    return step.solve(r, geometry)


cdef class TargetLoss(Projection):
    cdef readonly double target
    cdef readonly Py_ssize_t left
