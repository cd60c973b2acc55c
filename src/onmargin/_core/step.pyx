"""A step says how far to go along each violated half-space."""

from libc.math cimport INFINITY

from onmargin._core.geometry cimport Geometry
from onmargin._core.row cimport Row
from onmargin._core.task cimport HalfSpace, Round


cdef class Step:
    """The interface: fill in each tau and answer by how much the dual value grows; the example's weight scales C."""

    cdef double solve(self, Round* r, const Row* x, Geometry geometry, double weight) noexcept nogil:
        return 0


cdef class Projection(Step):
    """The passive-aggressive step, tau = min(cap, loss / (q + damping)), for each half-space by itself.

    It maximises tau loss - tau^2 (q + damping) / 2 over 0 <= tau <= cap ([JMLR] sec. 3). The pair (cap, damping) is
    (inf, 0) for PA, (C, 0) for PA-I and (inf, 1 / (2 C)) for PA-II. Half-spaces must not share columns.
    """

    cdef readonly double cap, damping

    def __init__(self, double cap=INFINITY, double damping=0.0):
        self.cap = cap
        self.damping = damping

    def __reduce__(self):
        return type(self), (self.cap, self.damping)

    cdef double solve(self, Round* r, const Row* x, Geometry geometry, double weight) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef double q, tau, gain = 0, damping = self.damping / weight
        for i in range(r.n_violated):
            h = &r.violated[i]
            q = geometry.curvature(x, h)
            h.tau = 0
            # A zero row, or one whose squares have no number, cannot be projected onto anything.
            if 0 < q < INFINITY:
                tau = min(self.cap * weight, h.loss / (q + damping))
                h.tau = tau if tau < INFINITY else 0
            if h.tau > 0:
                gain += h.tau * (h.loss - h.tau * (q + damping) / 2)
        return gain
