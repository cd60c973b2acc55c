"""Centers of balls that are a link function of accumulated updates: on the simplex, or with a p-norm."""

from functools import partial

import numpy as np

from onmargin._core.restore import fill, number, whole, zeros

from libc.math cimport INFINITY, exp, fabs, log, pow

from onmargin._core.geometries.center cimport Center
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, address


cdef class LinkedCenter(Center):
    """A center that is a link function of a sum theta ([NIPS] sec. 6): the base of all such centers.

    The direction v = (x - w) / d is that of `Center`, and tau along it makes theta <- theta + tau v. A distance costs
    the non-zeros of x; a move and a step of the line search cost all features.
    """

    cdef readonly object theta
    cdef object apart             # x - w of a round with a loss
    cdef double* t
    cdef double* v

    @property
    def guards(self):
        return False

    def __init__(self, Py_ssize_t n_features):
        super().__init__(n_features)
        self.theta, self.apart = zeros(n_features), zeros(n_features)
        self.t = <double*>address(self.theta, "d", n_features, writable=True)
        self.v = <double*>address(self.apart, "d", n_features, writable=True)

    cdef void set_apart(self, Round* r) noexcept nogil:
        """Set v to x - w."""
        cdef Py_ssize_t j
        cdef const double* w = <const double*>self.w.W
        for j in range(self.n_features):
            self.v[j] = -w[j]
        for j in range(r.x.n):
            self.v[j if r.x.indices == NULL else r.x.indices[j]] += (<const double*>r.x.values)[j]

    cdef double gained(self, double a) noexcept nogil:
        """Return <x - w, w' - w>, where w' is the center after a move of a (x - w)."""
        return 0

    cdef double line_search(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        """Return argmax_{0 <= tau <= cap} of the dual along v, where the loss is zero.

        The remaining loss falls as tau grows and is positive before loss / curvature: bracket the root from
        there, then use false position.
        """
        cdef double low = 0, at_low = h.loss, high = min(cap, max(h.loss / h.q, 5e-324)), at_high, tau, at_tau
        cdef double d = r.s[0]
        cdef Py_ssize_t step
        at_high = h.loss - self.gained(high / d) / d
        while at_high > 0 and high < cap:
            if high > 1e150:
                return 0  # no step reaches it
            low, at_low, high = high, at_high, min(cap, 4 * high)
            at_high = h.loss - self.gained(high / d) / d
        if at_high >= 0:
            return high
        for step in range(400):
            # Every third step is a bisection.
            tau = low + (high - low) * (0.5 if step % 3 == 2 else at_low / (at_low - at_high))
            at_tau = h.loss - self.gained(tau / d) / d
            if at_tau >= 0:
                low, at_low = tau, at_tau
            else:
                high, at_high = tau, at_tau
            if high - low <= 1e-15 * high or at_tau == 0:
                break
        return low


cdef class SimplexCenter(LinkedCenter):
    """A center w on the simplex, at first its middle ([NIPS] Thm. 4, E6).

    The direction v = (x - w) / d is that of `Center`, but tau along it makes w_i <- w_i exp(tau v_i) / Z. It has the
    curvature (max v - min v)^2 / 4 at most, and that is at most 1/2. The logarithms of the weights, theta, are kept
    next to them, so that weights recover from underflow.
    """

    cdef double lowest            # smallest entry of x - w

    def __init__(self, Py_ssize_t n_features):
        super().__init__(n_features)
        self.normalize()

    def __reduce__(self):
        state = {
            "clock": self.clock, "squared_norm": self.squared_norm, "vector": self.vector, "theta": self.theta,
        }
        return type(self), (self.n_features,), state

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        self.squared_norm = number(state["squared_norm"], "squared_norm")
        fill(self.vector, state, "vector")
        fill(self.theta, state, "theta")

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t j
        cdef double low = INFINITY, high = -INFINITY
        self.set_apart(r)
        for j in range(self.n_features):
            low, high = min(low, self.v[j]), max(high, self.v[j])
        self.lowest = low
        r.halfspaces.q = ((high - low) / r.s[0]) ** 2 / 4

    cdef double gained(self, double a) noexcept nogil:
        cdef Py_ssize_t j
        cdef double highest = -INFINITY, total = 0, after = 0, before = 0, raised
        cdef const double* w = <const double*>self.w.W
        for j in range(self.n_features):
            highest = max(highest, self.t[j] + a * self.v[j])
        for j in range(self.n_features):
            raised = exp(self.t[j] + a * self.v[j] - highest)
            total += raised
            after += raised * self.v[j]
            before += w[j] * self.v[j]
        return after / total - before

    cdef double move(self, const Round* r) noexcept nogil:
        """Return twice G(theta') - G(theta) - <w, theta' - theta>, with G = ln sum exp(theta), which was 0."""
        cdef Py_ssize_t j
        cdef double a = r.halfspaces.tau / r.s[0], along = 0
        cdef const double* w = <const double*>self.w.W
        for j in range(self.n_features):
            self.v[j] -= self.lowest  # a common offset moves nothing, and would cost precision
            along += a * self.v[j] * w[j]
            self.t[j] += a * self.v[j]
        return 2 * (self.normalize() - along)

    cdef double normalize(self) noexcept nogil:
        """Normalize exp(theta) to weights of sum 1; return the old ln sum exp(theta)."""
        cdef Py_ssize_t j
        cdef double highest = -INFINITY, total = 0, potential
        cdef double* w = <double*>self.w.W
        cdef Row vector = self.as_row()
        for j in range(self.n_features):
            highest = max(highest, self.t[j])
        for j in range(self.n_features):
            w[j] = exp(self.t[j] - highest)
            total += w[j]
        potential = log(total) + highest
        for j in range(self.n_features):
            w[j] /= total
            self.t[j] -= potential
        self.squared_norm = self.vec.squared_norm(&vector)
        return potential


cdef class PNormCenter(LinkedCenter):
    """A center whose distance from where it started is a p-norm link of theta: w = w_1 + grad |theta|_p^2 / 2.

    The curvature along v = (x - w) / d is (p - 1) |v|_p^2 at most. p = 2 is `Center`.
    """

    cdef readonly double p
    cdef readonly object start

    def __init__(self, Py_ssize_t n_features, double p):
        self.p = p
        super().__init__(n_features)
        self.start = zeros(n_features)

    def __reduce__(self):
        state = {"clock": self.clock, "theta": self.theta, "start": self.start}
        return partial(type(self), n_features=self.n_features, p=self.p), (), state

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        fill(self.theta, state, "theta")
        fill(self.start, state, "start")
        self.link()

    def assign(self, center):
        """Set the center, as its start."""
        self.start[:] = center
        self.theta[:] = 0
        self.link()

    def resize(self, Py_ssize_t n_features):
        """Return a copy with new features, in which the center is at zero."""
        copy = type(self)(n_features, self.p)
        shared = min(n_features, self.n_features)
        theta, start = np.zeros(n_features), np.zeros(n_features)
        theta[:shared], start[:shared] = self.theta[:shared], self.start[:shared]
        copy.__setstate__({"clock": self.clock, "theta": theta, "start": start})
        return copy

    def link(self):
        """Recompute the center from theta."""
        self.vector[:] = self.start
        self.add_link()

    cdef double norm(self, const double* x, const double* y, double a) noexcept nogil:
        """Return |x + a y|_p; y may be NULL."""
        cdef Py_ssize_t j
        cdef double largest = 0, total = 0
        for j in range(self.n_features):
            largest = max(largest, fabs(x[j] + a * y[j] if y != NULL else x[j]))
        if not 0 < largest < INFINITY:
            return largest
        for j in range(self.n_features):
            total += pow(fabs(x[j] + a * y[j] if y != NULL else x[j]) / largest, self.p)
        return largest * pow(total, 1 / self.p)

    cdef double weight(self, double theta, double length) noexcept nogil:
        """Return one entry of the link of a theta of this length."""
        cdef double size = length * pow(fabs(theta) / length, self.p - 1) if length > 0 else 0
        return size if theta >= 0 else -size

    cdef void add_link(self) noexcept nogil:
        cdef Py_ssize_t j
        cdef double length = self.norm(self.t, NULL, 0)
        cdef double* w = <double*>self.w.W
        cdef Row vector = self.as_row()
        for j in range(self.n_features):
            w[j] += self.weight(self.t[j], length)
        self.squared_norm = self.vec.squared_norm(&vector)

    cdef void curvatures(self, Round* r) noexcept nogil:
        self.set_apart(r)
        r.halfspaces.q = (self.p - 1) * (self.norm(self.v, NULL, 0) / r.s[0]) ** 2

    cdef double gained(self, double a) noexcept nogil:
        cdef Py_ssize_t j
        cdef double before = self.norm(self.t, NULL, 0), after = self.norm(self.t, self.v, a), total = 0
        for j in range(self.n_features):
            total += self.v[j] * (
                self.weight(self.t[j] + a * self.v[j], after) - self.weight(self.t[j], before)
            )
        return total

    cdef double move(self, const Round* r) noexcept nogil:
        """Return twice G(theta') - G(theta) - <w, theta' - theta>, with G = |theta|_p^2 / 2."""
        cdef Py_ssize_t j
        cdef double a = r.halfspaces.tau / r.s[0], before = self.norm(self.t, NULL, 0), along = 0, old, after
        cdef double* w = <double*>self.w.W
        for j in range(self.n_features):
            old = self.weight(self.t[j], before)
            along += a * self.v[j] * old
            w[j] -= old
            self.t[j] += a * self.v[j]
        after = self.norm(self.t, NULL, 0)
        self.add_link()
        return after * after - before * before - 2 * along
