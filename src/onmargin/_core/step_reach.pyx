"""Simultaneous projections in any geometry: a half-space is gone along until its loss is made up for."""

from onmargin._core.geometry cimport Geometry
from onmargin._core.step cimport Scheme
from onmargin._core.task cimport HalfSpace, Round


cdef class LargestReach(Scheme):
    """alpha_j = argmax_{0 <= a <= C} of the dual along the half-space of largest loss ([SIMPROJ] sec. 6: MaxPA.M).

    Of equal losses the first. For plain weights it is `Largest`.
    """

    def __init__(self, double C):
        super().__init__(C, mistaken=False)

    def __reduce__(self):
        return type(self), (self.C,)

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* worst = h
        for i in range(n):
            h[i].tau = 0
            if h[i].loss > worst.loss:
                worst = &h[i]
        worst.tau = geometry.reach(r, worst, C)
        return worst.tau * worst.loss


cdef class EvenReach(Scheme):
    """tau_j = alpha_j / n, each alpha_j = argmax_{0 <= a <= C} of the dual along its half-space alone.

    ConProj.M on mistakes, SimProj.M on all that are violated ([SIMPROJ] sec. 6). For plain weights it is `Even`.
    """

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double part = 1 / <double>n, gain = 0
        for i in range(n):
            h[i].tau = geometry.reach(r, &h[i], C) * part
            gain += h[i].tau * h[i].loss
        return gain
