"""Dual ascent over the last examples of a stream ([PD] sec. 7)."""

from libc.math cimport INFINITY

from onmargin._core.geometry cimport Geometry
from onmargin._core.row cimport Row, Rows, address
from onmargin._core.step cimport Step
from onmargin._core.task cimport HalfSpace, Round


cdef double ACCURACY = 1e-12  # of what a round gains
cdef Py_ssize_t MOST_SWEEPS = 1000


cdef class Window(Step):
    """Binary rounds that maximise the dual over the variables of the last `window` examples, each in [0, C].

    max margin sum_i alpha_i - G(theta), theta = sum_i alpha_i y_i x_i, by one variable after the other, from the newest
    to the oldest: `sweeps` times, or with 0 until nothing is gained. A variable that leaves the window stays as it is.

    Examples are the rows of X, in their order, from row `now` on; those before it were learned, and `alpha` and
    `weight` have their variables and the factors on their C. alpha is written to.
    """

    cdef readonly double C, margin
    cdef readonly Py_ssize_t window, sweeps, now
    cdef tuple owners
    cdef Rows X
    cdef double* y
    cdef double* alpha
    cdef double* weight
    cdef Row x
    cdef HalfSpace h
    cdef double s, change
    cdef Round r

    def __init__(
        self, Rows X, y, alpha, weight, Py_ssize_t now, *, double C, double margin, Py_ssize_t window, Py_ssize_t sweeps
    ):
        self.owners = (y, alpha, weight)
        self.X, self.now, self.C, self.margin, self.window, self.sweeps = X, now, C, margin, window, sweeps
        self.y = <double*>address(y, "d", X.n_rows)
        self.alpha = <double*>address(alpha, "d", X.n_rows, writable=True)
        self.weight = <double*>address(weight, "d", X.n_rows)
        self.eager = True

    def __reduce__(self):
        raise TypeError("a window over rows is not copied: it is made anew for every call")

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        """Moves the weights itself, variable by variable, and leaves no half-space to move along."""
        cdef Py_ssize_t i, _sweep, first = max(self.now - self.window + 1, 0)
        cdef double total = 0, gained
        r.n_halfspaces = 0
        for _sweep in range(self.sweeps if self.sweeps > 0 else MOST_SWEEPS):
            gained = 0
            for i in range(self.now, first - 1, -1):
                gained += self.improve(i, geometry)
            total += gained
            if gained <= ACCURACY * total:
                break
        self.now += 1
        return total

    cdef double improve(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """Maximise the dual over one variable; answer what is gained."""
        cdef double loss, cap = self.C * self.weight[i], tau
        cdef bint more, positive = self.y[i] > 0
        if cap == 0:
            return 0
        self.r.x, self.r.s, self.r.change, self.r.halfspaces = &self.x, &self.s, &self.change, &self.h
        self.r.n_rows = self.r.n_halfspaces = 1
        self.X.row(i, &self.x)
        geometry.scores(&self.r)
        loss = self.margin - self.y[i] * self.s
        more = loss > 0
        cap = cap - self.alpha[i] if more else self.alpha[i]
        if cap <= 0 or loss == 0:
            return 0
        self.h.up, self.h.down = (0, -1) if positive == more else (-1, 0)
        self.h.loss = loss if more else -loss
        geometry.norms(&self.r)
        geometry.curvatures(&self.r)
        if not 0 < self.h.q < INFINITY:
            return 0
        tau = geometry.reach(&self.r, &self.h, cap)
        if not 0 < tau < INFINITY:
            return 0
        self.h.tau = tau
        self.alpha[i] += tau if more else -tau
        return tau * self.h.loss - geometry.move(&self.r) / 2
