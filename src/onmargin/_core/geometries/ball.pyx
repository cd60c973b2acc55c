"""A ball that encloses its rows: a center anywhere, on the simplex, or as an expansion over rows."""

from functools import partial

import numpy as np

from onmargin._core.restore import fill, whole, zeros

from libc.math cimport INFINITY, exp, fabs, log, pow, sqrt

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.geometries.kernel cimport Expansion
from onmargin._core.geometries.kernel import grown
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Vec, Weights, address, vec_for


# A scale this small is multiplied into the vector: rarely, and long before anything underflows.
cdef double SMALLEST_SCALE = 1e-200


cdef class Center(Geometry):
    """The center c of a ball, with the distance of a row d = sqrt(|x - c|^2 + height^2) ([JMLR] sec. 6).

    The only direction is that of the row from the center, of length 1; tau along it makes c <- (1 - a) c + a x with
    a = tau / d. To touch only the non-zeros of x, c is stored as `scale` times a vector, together with its norm.

    The height is a coordinate of the center that is zero in every row, and shrinks like the others. Started at B, with
    balls of radius B, it makes a learned radius sqrt(B^2 - height^2); 0 means a fixed radius.

    Rows are float64: a distance is the small difference of large numbers.
    """

    cdef readonly double scale, squared_norm, height
    cdef readonly Py_ssize_t clock
    cdef readonly object vector
    cdef const Vec* vec
    cdef Weights w
    cdef double along  # <c, x> of the round's row

    def __init__(self, Py_ssize_t n_features, *, double height=0.0):
        self.n_features = whole(n_features, "n_features")
        self.n_columns = self.n_scores = 2
        self.dtype = np.dtype(np.float64)
        self.height = height
        self.scale = 1
        self.vec = vec_for(self.dtype.itemsize)
        self.vector = zeros(n_features)
        self.w.W = address(self.vector, "d", n_features, writable=True)
        self.w.columns = self.w.stride = self.w.gap = 1

    def __reduce__(self):
        state = {
            "clock": self.clock, "scale": self.scale, "squared_norm": self.squared_norm, "vector": self.vector,
        }
        return partial(type(self), n_features=self.n_features, height=self.height), (), state

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        self.scale, self.squared_norm = state["scale"], state["squared_norm"]
        fill(self.vector, state, "vector")

    def center(self):
        """Return a copy of the center."""
        return self.scale * self.vector

    def assign(self, center):
        """Set the center."""
        self.vector[:] = center
        self.scale = 1
        self.squared_norm = self.vector @ self.vector

    def resized(self, Py_ssize_t n_features):
        """Return a copy with new features, in which the center is at zero."""
        copy = type(self)(n_features, height=self.height)
        vector = np.zeros(n_features)
        vector[:self.n_features] = self.vector
        copy.__setstate__({
            "clock": self.clock, "scale": self.scale, "squared_norm": self.squared_norm, "vector": vector,
        })
        return copy

    cdef Row as_row(self) noexcept nogil:
        cdef Row vector
        vector.values, vector.indices, vector.n = self.w.W, NULL, self.n_features
        return vector

    cdef double distance(self, const Row* x, double squared_norm, double* along) noexcept nogil:
        """Return d, and set <c, x>: term by term for unscaled dense rows, otherwise from the norms."""
        cdef Row vector = self.as_row()
        cdef double squared
        self.vec.scores(x, &self.w, along)
        along[0] *= self.scale
        if x.indices == NULL and self.scale == 1:
            squared = self.vec.squared_distance(x, &vector)
        else:
            squared = max(squared_norm - 2 * along[0] + self.squared_norm, 0)
        return sqrt(squared + self.height * self.height)

    cdef void scores(self, Round* r) noexcept nogil:
        r.x.squared_norm = self.vec.squared_norm(r.x)
        r.s[0] = self.distance(r.x, r.x.squared_norm, &self.along)
        r.s[1] = self.height
        r.n_scores = 2

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        s[0] = self.distance(x, self.vec.squared_norm(x), spare)
        s[1] = self.height

    cdef void measure(self, Round* r) noexcept nogil:
        self.clock += 1

    cdef void curvatures(self, Round* r) noexcept nogil:
        r.halfspaces.q = 1

    cdef double move(self, const Round* r) noexcept nogil:
        cdef double tau = r.halfspaces.tau, a = tau / r.s[0], rest = 1 - a
        self.height *= rest
        self.scale *= rest
        self.squared_norm *= rest * rest
        if r.x.indices == NULL or self.scale < SMALLEST_SCALE:
            self.unscale()
        self.vec.add(r.x, &self.w, 0, -1, a / self.scale)
        self.squared_norm += 2 * a * rest * self.along + a * a * r.x.squared_norm
        return tau * tau

    cdef void unscale(self) noexcept nogil:
        """Multiply the scale into the vector, and compute its norm again."""
        cdef Py_ssize_t j
        cdef double* v = <double*>self.w.W
        cdef double scale = self.scale
        cdef Row vector = self.as_row()
        for j in range(self.n_features):
            v[j] *= scale
        self.scale = 1
        self.squared_norm = self.vec.squared_norm(&vector)


cdef class LinkedCenter(Center):
    """A center that is a link function of a sum theta ([NIPS] sec. 6): the base of all such centers.

    The direction v = (x - w) / d is that of `Center`, and tau along it makes theta <- theta + tau v. A distance costs
    the non-zeros of x; a move and a step of the line search cost all features.
    """

    cdef readonly object theta
    cdef object apart             # x - w of a round with a loss
    cdef double* t
    cdef double* v

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
        cdef double low = 0, at_low = h.loss, high = min(cap, h.loss / h.q), at_high, tau, at_tau, d = r.s[0]
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
    next to them, so that no weight underflows for good.
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
        self.clock, self.squared_norm = whole(state["clock"], "clock"), state["squared_norm"]
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

    def resized(self, Py_ssize_t n_features):
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


# Handing over shares amplifies the rounding errors of the norm: it is recomputed before they are this large.
cdef double MOST_DOUBT = 1e4


cdef class Ball(Expansion):
    """The center of a ball as an expansion: |phi(x) - c|^2 = K(x, x) - 2 <c, phi(x)> + |c|^2 ([JMLR] sec. 6).

    Scores, step and height are those of Center. All coefficients shrink with every move, which costs no more than the
    scores; the norm of c is stored next to them.
    """

    cdef readonly double squared_norm, height
    cdef double along  # <c, phi(x)> of the round's row

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, double height=0.0):
        Expansion.__init__(self, n_features, 1, dtype)
        self.n_columns = self.n_scores = 2
        self.height = height

    def settings(self):
        return {"height": self.height}

    def __reduce__(self):
        make, arguments, state = Expansion.__reduce__(self)
        return make, arguments, state | {"squared_norm": self.squared_norm}

    def __setstate__(self, state):
        self.squared_norm = state["squared_norm"]
        Expansion.__setstate__(self, state)

    def plant(self, Py_ssize_t key, double squared_norm):
        """Set the center of an untrained ball to the row of this key."""
        self.hold_slots(1)
        self.n_slots, self.key[0], self.live[0], self.coef[0], self.squared_norm = 1, key, 1, 1, squared_norm

    def project(self, values, diagonal):
        along = Expansion.project(self, values, diagonal)[:, 0]
        squared = np.maximum(diagonal - 2 * along + self.squared_norm, 0)
        return np.column_stack([np.sqrt(squared + self.height**2), np.full(len(along), self.height)])

    cdef void scores(self, Round* r) noexcept nogil:
        self.expand(self.against(r.t), &self.c, &self.along)
        r.x.squared_norm = self.diagonal[r.t]
        r.s[0] = sqrt(max(r.x.squared_norm - 2 * self.along + self.squared_norm, 0) + self.height * self.height)
        r.s[1] = self.height
        r.n_scores = 2

    cdef void measure(self, Round* r) noexcept nogil:
        self.clock += 1

    cdef void curvatures(self, Round* r) noexcept nogil:
        r.halfspaces.q = 1

    cdef double move(self, const Round* r) noexcept nogil:
        cdef double tau = r.halfspaces.tau, a = tau / r.s[0], rest = 1 - a
        cdef Py_ssize_t i, slot = self.slot(r.t)
        self.height *= rest
        for i in range(self.n_slots):
            self.coef[i] *= rest
        self.coef[slot] += a
        self.squared_norm *= rest * rest
        self.squared_norm += 2 * a * rest * self.along + a * a * r.x.squared_norm
        return tau * tau


cdef class BudgetedBall(Ball):
    """Base of centers with a budget: `make_room` removes one support when there is one too many.

    Updating the norm of the center after a removal needs the kernel values of the supports with each other. They are
    stored; a new support takes the place of the last one that was removed.
    """

    cdef readonly Py_ssize_t budget
    cdef Py_ssize_t n_live, n_seats, free
    cdef object gram_memory, seat_memory
    cdef double* gram
    cdef Py_ssize_t* seat
    cdef double doubt  # bound on the rounding error of the norm, in amplified rounding errors

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, Py_ssize_t budget, double height=0.0):
        self.budget, self.in_turn = whole(budget, "budget", least=1), True
        Ball.__init__(self, n_features, n_columns, dtype, height=height)

    def hold_slots(self, Py_ssize_t slots):
        Ball.hold_slots(self, slots)
        self.seat_memory = grown(self.seat_memory, slots, (), np.intp)
        self.seat = <Py_ssize_t*>address(self.seat_memory, "lq", len(self.seat_memory), writable=True)
        if self.n_seats < min(slots, self.budget + 1) or self.gram_memory is None:
            n, old = min(max(slots, 2 * self.n_seats, 16), self.budget + 1), self.gram_memory
            self.gram_memory = zeros((n, n))
            if old is not None:
                self.gram_memory[:self.n_seats, :self.n_seats] = old
            self.n_seats = n
            self.gram = <double*>address(self.gram_memory, "d", n * n, writable=True)

    def forget_memory(self):
        Ball.forget_memory(self)
        self.seat_memory = self.gram_memory = None
        self.n_seats = 0

    def settings(self):
        return Ball.settings(self) | {"budget": self.budget}

    def __reduce__(self):
        make, arguments, state = Ball.__reduce__(self)
        return make, arguments, state | {"doubt": self.doubt}

    def arrays(self):
        """Store the kernel values of the supports, in their order."""
        seats = self.seat_memory[self.supports()]
        return Ball.arrays(self) | {"gram": self.gram_memory[np.ix_(seats, seats)]}

    def __setstate__(self, state):
        Ball.__setstate__(self, state)
        live = self.supports()
        self.n_live = self.free = whole(len(live), "the number of supports", most=self.budget)
        self.doubt = state["doubt"]
        self.seat_memory[live] = np.arange(self.n_live)
        fill(self.gram_memory[:self.n_live, :self.n_live], state, "gram")

    def plant(self, Py_ssize_t key, double squared_norm):
        Ball.plant(self, key, squared_norm)
        self.seat[0], self.gram[0], self.n_live, self.free = 0, squared_norm, 1, 1

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t new = self.n_slots
        cdef double squared = Ball.move(self, r)
        if self.n_slots > new:
            self.admit(new, self.values + r.t * self.n_values, r.x.squared_norm)
            if self.n_live > self.budget:
                self.make_room(new)
        return squared

    cdef void make_room(self, Py_ssize_t new) noexcept nogil:
        pass

    cdef void admit(self, Py_ssize_t new, const double* values, double own) noexcept nogil:
        """Add a support with its kernel values against the others and itself."""
        cdef Py_ssize_t i
        self.seat[new] = self.free
        for i in range(new):
            if self.live[i]:
                self.pair(i, new)[0] = self.pair(new, i)[0] = values[i]
        self.pair(new, new)[0] = own
        self.n_live += 1
        self.free = self.n_live

    cdef double* pair(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Return K of two supports."""
        return self.gram + self.seat[i] * self.n_seats + self.seat[j]

    cdef double along_support(self, Py_ssize_t slot) noexcept nogil:
        """Return <c, phi(x)> of a support."""
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(self.n_slots):
            if self.live[i]:
                total += self.coef[i] * self.pair(i, slot)[0]
        return total

    cdef void remove(self, Py_ssize_t slot) noexcept nogil:
        Ball.remove(self, slot)
        self.n_live -= 1
        self.free = self.seat[slot]

    cdef void share_out(self, Py_ssize_t old) noexcept nogil:
        """Distribute the coefficient of an old support to the others, in proportion to their own.

        So the coefficients keep their sum, which is 1 if the ball started at a row: the center stays among its rows,
        wherever the origin is.
        """
        cdef Py_ssize_t i
        cdef double share = self.coef[old], rest = 0, scale
        self.squared_norm += share * (share * self.pair(old, old)[0] - 2 * self.along_support(old))
        self.remove(old)
        for i in range(self.n_slots):
            rest += self.coef[i]
        if not rest > 0:
            return
        scale = (rest + share) / rest
        for i in range(self.n_slots):
            self.coef[i] *= scale
        self.squared_norm *= scale * scale
        self.doubt = (self.doubt + 1) * scale * scale
        if self.doubt > MOST_DOUBT:
            self.squared_norm = self.doubt = 0
            for i in range(self.n_slots):
                if self.live[i]:
                    self.squared_norm += self.coef[i] * self.along_support(i)


cdef class OldestBall(BudgetedBall):
    """Remove the oldest support; the others take over its coefficient."""

    cdef void make_room(self, Py_ssize_t new) noexcept nogil:
        self.share_out(self.first())


cdef class SmallestBall(BudgetedBall):
    """Remove the support with the smallest c_r^2 K(x_r, x_r), except the newest, and distribute its coefficient."""

    cdef void make_room(self, Py_ssize_t new) noexcept nogil:
        cdef Py_ssize_t i, least = self.first()
        cdef double length, shortest = INFINITY
        for i in range(least, new):
            if self.live[i]:
                length = self.coef[i] * self.coef[i] * self.pair(i, i)[0]
                if length < shortest:
                    least, shortest = i, length
        self.share_out(least)


cdef class ProjectedBall(BudgetedBall):
    """Remove the support that loses least when the newest takes over its projection, c_r K(x_r, x) / K(x, x).

    The loss c_r^2 (K(x_r, x_r) - K(x_r, x)^2 / K(x, x)) is the squared distance that the center moves.
    """

    cdef void make_room(self, Py_ssize_t new) noexcept nogil:
        cdef Py_ssize_t i, least = self.first()
        cdef double lost, smallest = INFINITY, part, share
        for i in range(least, new):
            if self.live[i]:
                lost = self.coef[i] * self.coef[i] * (self.pair(i, i)[0] - self.part(i, new) * self.pair(i, new)[0])
                if lost < smallest:
                    least, smallest = i, lost
        part, share = self.part(least, new), self.coef[least]
        self.squared_norm -= 2 * share * (self.along_support(least) - part * self.along_support(new))
        self.squared_norm += share * share * (
            self.pair(least, least)[0] - part * (2 * self.pair(least, new)[0] - part * self.pair(new, new)[0])
        )
        self.coef[new] += part * share
        self.remove(least)

    cdef double part(self, Py_ssize_t i, Py_ssize_t new) noexcept nogil:
        return self.pair(i, new)[0] / self.pair(new, new)[0] if self.pair(new, new)[0] > 0 else 0
