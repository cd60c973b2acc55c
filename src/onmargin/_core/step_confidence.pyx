"""Steps for weights with variances: how far the means go, and how much less uncertain they are then."""

from libc.math cimport INFINITY, sqrt

from onmargin._core.geometry cimport Geometry
from onmargin._core.step cimport Projection, Step
from onmargin._core.task cimport HalfSpace, Round


cdef class Regularized(Projection):
    """AROW: min KL(N || N_t) + (loss^2 + x'Vx) / (2 r) ([AROW]).

    beta = 1 / (q + r) and tau = beta loss: the step of PA-II in the metric of the variances, with r = 1 / (2 C).
    """

    def __init__(self, double r):
        super().__init__(damping=r)

    def __reduce__(self):
        return type(self), (self.damping,)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef double gain = Projection.solve(self, r, geometry)
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.tau > 0:
                h.beta = self.narrowing(h, 1 / (h.q + self.damping / r.weight))
        return gain

    cdef double narrowing(self, const HalfSpace* h, double beta) noexcept nogil:
        return beta


cdef class Herding(Regularized):
    """NHERD: the means go as far as AROW's with r = 1 / C; beta = (C^2 q + 2 C) / (1 + C q)^2 ([NHERD])."""

    cdef double narrowing(self, const HalfSpace* h, double beta) noexcept nogil:
        return beta * (2 - beta * h.q)  # the same in terms of AROW's


cdef class Confident(Step):
    """SCW: min KL(N || N_t) + C max(phi sqrt(v) - m, 0), v = x'Vx and m the margin ([SCW] prop. 1).

    With `squared` it is C times the square (SCW-II, prop. 2). The task must be eager and of margin 1, so that m = 1 -
    loss: phi sqrt(v) may ask for more than that.
    """

    cdef readonly double C, phi
    cdef readonly bint squared

    def __init__(self, double C, double phi, bint squared=False):
        self.eager = True
        self.C = C
        self.phi = phi
        self.squared = squared

    def __reduce__(self):
        return type(self), (self.C, self.phi, self.squared)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef double C = self.C * r.weight, short, root, bend, gain = 0
        geometry.curvatures(r)
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.tau = h.beta = 0
            short = self.phi * sqrt(h.q) - (1 - h.loss) if 0 < h.q < INFINITY else 0
            if short > 0 and C > 0:
                h.tau = self.length(1 - h.loss, h.q, C)
            if h.tau > 0:
                # sqrt(u), the root of the variance along x when the step is made
                bend = h.tau * h.q * self.phi
                root = 2 * h.q / (sqrt(bend * bend + 4 * h.q) + bend)
                h.beta = h.tau * self.phi / (root + bend)
                gain += h.tau * short
        return gain

    cdef double length(self, double m, double v, double C) noexcept nogil:
        cdef double square = self.phi * self.phi, n, tau
        if self.squared:
            n = v + 1 / (2 * C)
            tau = self.phi * sqrt(square * m * m * v * v + 4 * n * v * (n + v * square)) - (2 * n + square * v) * m
            tau = tau / (2 * n) / (n + v * square)
        else:
            tau = sqrt(m * m * square * square / 4 + v * square * (1 + square)) - m * (1 + square / 2)
            tau = min(C, tau / (v * (1 + square)))
        return tau if 0 < tau < INFINITY else 0
