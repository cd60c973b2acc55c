"""Steps along the one half-space of a round that any geometry can take."""

from libc.math cimport INFINITY

from onmargin._core.geometry cimport Geometry
from onmargin._core.step cimport Step
from onmargin._core.task cimport HalfSpace, Round


cdef class Single(Step):
    """A step along the one half-space of a round, at most C: the quasi-additive rules of [PD] sec. 3."""

    cdef readonly double C

    def __init__(self, double C):
        self.C = C

    def __reduce__(self):
        return type(self), (self.C,)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef HalfSpace* h = r.halfspaces
        h.tau = self.length(r, h, geometry, self.C * r.weight) if 0 < r.x.squared_norm < INFINITY else 0
        return h.tau * h.loss

    cdef double length(self, Round* r, const HalfSpace* h, Geometry geometry, double C) noexcept nogil:
        return 0


cdef class Fixed(Single):
    """C for a mistake: the Perceptron, Winnow and the p-norm Perceptron ([PD] Cor. 1)."""

    cdef double length(self, Round* r, const HalfSpace* h, Geometry geometry, double C) noexcept nogil:
        return C if h.mistaken else 0


cdef class Aggressive(Single):
    """min(C, loss), for directions of curvature at most 1 ([PD] eq. 26)."""

    cdef double length(self, Round* r, const HalfSpace* h, Geometry geometry, double C) noexcept nogil:
        return min(C, h.loss)


cdef class Optimal(Single):
    """The maximiser of the dual along the half-space ([PD] eq. 32)."""

    cdef double length(self, Round* r, const HalfSpace* h, Geometry geometry, double C) noexcept nogil:
        geometry.curvatures(r)
        return geometry.reach(r, h, C) if 0 < h.q < INFINITY else 0


cdef class Proportional(Step):
    """rate times the loss, whatever the curvature, along each half-space: gradient descent on squared losses."""

    cdef readonly double rate

    def __init__(self, double rate):
        self.rate = rate

    def __reduce__(self):
        return type(self), (self.rate,)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef double gain = 0
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.q = 0  # not asked for
            h.tau = self.length(h) * r.weight if 0 < r.x.squared_norm < INFINITY else 0
            gain += h.tau * h.loss
        return gain

    cdef double length(self, const HalfSpace* h) noexcept nogil:
        return self.rate * h.loss


cdef class Constant(Proportional):
    """rate, whatever the loss: gradient descent on hinge losses."""

    cdef double length(self, const HalfSpace* h) noexcept nogil:
        return self.rate
