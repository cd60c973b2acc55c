"""Balls whose center is a kernel expansion, with or without a budget."""

import numpy as np

from onmargin._core.restore import fill, number, whole, zeros

from libc.math cimport INFINITY, sqrt

from onmargin._core.geometries.kernel cimport Expansion
from onmargin._core.geometries.kernel import grown
from onmargin._core.round cimport Round
from onmargin._core.rows cimport address


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
        self.needs_values = True
        self.height = height

    def settings(self):
        return {"height": self.height}

    def __reduce__(self):
        make, arguments, state = Expansion.__reduce__(self)
        return make, arguments, state | {"squared_norm": self.squared_norm}

    def __setstate__(self, state):
        self.squared_norm = number(state["squared_norm"], "squared_norm")
        Expansion.__setstate__(self, state)

    def set_center(self, Py_ssize_t key, double squared_norm):
        """Set the center of an untrained ball to the row of this key."""
        self.hold_slots(1)
        self.n_slots, self.key[0], self.live[0], self.coef[0], self.squared_norm = 1, key, 1, 1, squared_norm

    def project(self, sums, diagonal):
        squared = np.maximum(diagonal - 2 * sums[0] + self.squared_norm, 0)
        return np.column_stack([np.sqrt(squared + self.height**2), np.full(len(diagonal), self.height)])

    cdef void scores(self, Round* r) noexcept nogil:
        self.expand(r.t, &self.along)
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
        self.doubt = number(state["doubt"], "doubt", least=0)
        self.seat_memory[live] = np.arange(self.n_live)
        fill(self.gram_memory[:self.n_live, :self.n_live], state, "gram")

    def set_center(self, Py_ssize_t key, double squared_norm):
        Ball.set_center(self, key, squared_norm)
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
