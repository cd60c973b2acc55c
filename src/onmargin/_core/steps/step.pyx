"""A step determines how far to move along each violated half-space."""

from libc.math cimport INFINITY, sqrt

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round


# A step that is not divided by the length of its row is left out if its squared length exceeds this, as the gain of
# other steps may not (see `run_round`): sums of weights would overflow.
cdef double MOST_SQUARES = 1e290


cdef class Step:
    """Base class of steps.

    solve  set each tau and return sum_j tau_j loss_j, minus the slack cost of a damped step. That sum minus
           half the squared length of the move is the increase of the dual value. The example's weight scales C
    pace   the same along one half-space, whose curvature is known already, for steps that go along each by itself
    room   return the scratch numbers that a round of n half-spaces needs
    """

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i
        cdef double gain = 0
        for i in range(r.n_halfspaces):
            gain += self.pace(r, &r.halfspaces[i])
        return gain

    cdef double pace(self, const Round* r, HalfSpace* h) noexcept nogil:
        return 0

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return 0

    def __reduce__(self):
        return type(self), ()


cdef class Projection(Step):
    """The passive-aggressive step, for each half-space by itself ([JMLR] sec. 3); they must not share columns.

    The pair (cap, damping) is (inf, 0) for PA, (C, 0) for PA-I and (inf, 1 / (2 C)) for PA-II.
    """

    def __init__(self, double cap=INFINITY, double damping=0.0):
        self.plain = type(self) is Projection
        self.cap = cap
        self.damping = damping

    def __reduce__(self):
        return type(self), (self.cap, self.damping)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        geometry.curvatures(r)
        return Step.solve(self, r, geometry)

    cdef double pace(self, const Round* r, HalfSpace* h) noexcept nogil:
        return self.along(r, h, self.damping / r.weight)


cdef class TargetLoss(Projection):
    """Plain PA onto losses above `target`, as often as there are updates `left`: batch conversion ([NIPS], E5)."""

    def __init__(self, double target, Py_ssize_t left):
        super().__init__()
        self.target = target
        self.left = left

    def __reduce__(self):
        return type(self), (self.target, self.left)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef double gain = 0
        if r.loss > self.target and self.left > 0:
            gain = Projection.solve(self, r, geometry)
            self.left -= gain > 0
        return gain


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
        if not h.tau * (h.tau * r.x.squared_norm) < MOST_SQUARES:
            h.tau = 0
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
    """The maximizer of the dual along the half-space ([PD] eq. 32)."""

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        """Directions of balls have a curvature for zero rows, too."""
        cdef HalfSpace* h = r.halfspaces
        geometry.curvatures(r)
        h.tau = 0
        if 0 < h.q < INFINITY and r.x.squared_norm < INFINITY:
            h.tau = geometry.line_search(r, h, self.C * r.weight)
        return h.tau * h.loss


cdef class Proportional(Step):
    """Gradient descent on squared losses: rate times the loss along each half-space."""

    cdef readonly double rate

    def __init__(self, double rate):
        self.rate = rate

    def __reduce__(self):
        return type(self), (self.rate,)

    cdef double pace(self, const Round* r, HalfSpace* h) noexcept nogil:
        return self.go(r, h, self.rate * h.loss)

    cdef inline double go(self, const Round* r, HalfSpace* h, double tau) noexcept nogil:
        h.q = 0  # not used
        h.tau = tau * r.weight if 0 < r.x.squared_norm < INFINITY else 0
        if not h.tau * (h.tau * r.x.squared_norm) < MOST_SQUARES:
            h.tau = 0
        return h.tau * h.loss


cdef class Constant(Proportional):
    """Gradient descent on hinge losses: a step of `rate`."""

    cdef double pace(self, const Round* r, HalfSpace* h) noexcept nogil:
        return self.go(r, h, self.rate)


cdef class Residual(Step):
    """Least squares in the metric of `Ridge`: a step of the loss along each half-space."""

    cdef double pace(self, const Round* r, HalfSpace* h) noexcept nogil:
        h.q = 0  # not used
        h.tau = h.loss * r.weight
        return h.tau * h.loss


cdef class Regularized(Projection):
    """AROW: min KL(N || N_t) + (loss^2 + x'Vx) / (2 r) ([AROW]).

    beta = 1 / (q + r) and tau = beta loss: the step of PA-II in the metric of the variances, with r = 1 / (2 C).
    """

    def __init__(self, double r):
        super().__init__(damping=r)

    def __reduce__(self):
        return type(self), (self.damping,)

    cdef double pace(self, const Round* r, HalfSpace* h) noexcept nogil:
        cdef double damping = self.damping / r.weight
        h.beta = 1 / (h.q + damping)
        return self.along(r, h, damping)


cdef class Herding(Regularized):
    """NHERD: the means go as far as AROW's with r = 1 / C; beta = (C^2 q + 2 C) / (1 + C q)^2 ([NHERD])."""

    cdef double pace(self, const Round* r, HalfSpace* h) noexcept nogil:
        cdef double gain = Regularized.pace(self, r, h)
        h.beta *= 2 - h.beta * h.q  # from the beta of AROW
        return gain


cdef class Confident(Step):
    """SCW: min KL(N || N_t) + C max(phi sqrt(v) - m, 0), v = x'Vx and m the margin ([SCW] prop. 1).

    With `squared` it is C times the square (SCW-II, prop. 2). The task must be eager and of margin 1, so that m = 1 -
    loss: phi sqrt(v) may require more than that.
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
        geometry.curvatures(r)
        return Step.solve(self, r, geometry)

    cdef double pace(self, const Round* r, HalfSpace* h) noexcept nogil:
        cdef double C = self.C * r.weight, short, root, bend
        h.tau = h.beta = 0
        short = self.phi * sqrt(h.q) - (1 - h.loss) if 0 < h.q < INFINITY else 0
        if short > 0 and C > 0:
            h.tau = self.length(1 - h.loss, h.q, C)
        if h.tau > 0:
            # sqrt(u), the root of the variance along x after the step
            bend = h.tau * h.q * self.phi
            root = 2 * h.q / (sqrt(bend * bend + 4 * h.q) + bend)
            h.beta = h.tau * self.phi / (root + bend)
            if not h.beta * h.q <= 1:  # overflow
                h.tau = h.beta = 0
        return h.tau * short if h.tau > 0 else 0

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
