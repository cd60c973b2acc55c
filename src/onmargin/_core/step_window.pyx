"""Dual ascent over the last examples of a stream ([PD] sec. 7)."""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libc.string cimport memset

from onmargin._core.geometry cimport Geometry
from onmargin._core.row cimport Rows, address
from onmargin._core.step cimport Step
from onmargin._core.task cimport HalfSpace, Round


ACCURACY = 1e-12  # of what a round gains, and of a margin
MOST_SWEEPS = 1000


cdef class Window(Step):
    """Rounds that maximise the dual over the variables of the last `window` examples.

    max margin sum_ir alpha_ir - G(theta), theta = sum_ir alpha_ir z_ir, alpha_ir >= 0, sum_r alpha_ir <= C, where z_ir
    is x_i in the right column less x_i in that of a rival r; two classes have one column and one variable an example,
    and its z is y_i x_i. One example after the other, from the newest to the oldest: `sweeps` times, or with 0 until
    nothing is gained. Variables that leave the window stay as they are.

    Examples are the rows of X, in their order, from row `now` on; those before it were learned. `weight` has the
    factors on their C, and `alpha` the variables of the last examples, that of row i at i modulo its length: one a
    column, that of the right column zero. It is written to.
    """

    def __init__(
        self, Rows X, y, weight, Py_ssize_t now, alpha, *, double C, double margin, Py_ssize_t window, Py_ssize_t sweeps
    ):
        self.owners = (y, weight, alpha)
        self.X, self.now, self.C, self.margin, self.window, self.sweeps = X, now, C, margin, window, sweeps
        self.held, self.n_columns = alpha.shape
        self.y = <double*>address(y, "d", X.n_rows)
        self.weight = <double*>address(weight, "d", X.n_rows)
        self.alpha = <double*>address(alpha, "d", self.held * self.n_columns, writable=True)
        self.eager = True

    def __reduce__(self):
        raise TypeError("a window over rows is not copied: it is made anew for every call")

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        """Moves the weights itself, variable by variable, and leaves no half-space to move along."""
        cdef Py_ssize_t i, _sweep
        cdef double total = 0, gained
        self.receive(r)
        r.n_halfspaces = 0
        for _sweep in range(self.sweeps if self.sweeps > 0 else MOST_SWEEPS):
            gained = 0
            for i in range(self.now, self.first() - 1, -1):
                gained += self.improve(i, geometry)
            total += gained
            if gained <= ACCURACY * total:
                break
        self.now += 1
        return total

    cdef void receive(self, const Round* r) noexcept nogil:
        """The newest example has no variables yet. Its round lends its memory to those that follow."""
        memset(self.variables(self.now), 0, self.n_columns * sizeof(double))
        self.r = r[0]
        self.r.x = &self.x
        self.origin = r.t - self.now

    cdef double improve(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """Maximise the dual over the variables of one example; answer what is gained."""
        cdef double cap = self.C * self.weight[i]
        if cap == 0:
            return 0
        self.take(i)
        if self.n_columns == 1:
            return self.improve_one(i, geometry, cap)
        return self.improve_rivals(i, geometry, cap)

    cdef double improve_one(self, Py_ssize_t i, Geometry geometry, double cap) noexcept nogil:
        cdef double loss, gained
        cdef double* alpha = self.variables(i)
        cdef HalfSpace* h = self.r.halfspaces
        cdef bint more
        geometry.scores(&self.r)
        loss = self.margin - self.y[i] * self.r.s[0]
        more = loss > 0
        cap = cap - alpha[0] if more else alpha[0]
        if cap <= 0 or loss == 0:
            return 0
        h.up, h.down = (0, -1) if (self.y[i] > 0) == more else (-1, 0)
        h.loss = fabs(loss)
        gained = self.go(geometry, cap)
        alpha[0] += h.tau if more else -h.tau
        return gained

    cdef double improve_rivals(self, Py_ssize_t i, Geometry geometry, double cap) noexcept nogil:
        """Of an example's share C a rival has alpha_r and the right column the rest: as long as anything is gained,
        the column that would gain most takes from the one that would lose least."""
        cdef double total = 0, available
        cdef double* alpha = self.variables(i)
        cdef HalfSpace* h = self.r.halfspaces
        cdef Py_ssize_t _step, right = <Py_ssize_t>self.y[i]
        for _step in range(MOST_SWEEPS):
            geometry.scores(&self.r)
            available = self.choose(i, self.r.s, cap, h)
            if available == 0:
                break
            total += self.go(geometry, available)
            if h.tau == 0:
                break
            if h.up != right:
                alpha[h.up] -= h.tau
            if h.down != right:
                alpha[h.down] += h.tau
        return total

    cdef double go(self, Geometry geometry, double cap) noexcept nogil:
        """Go along the half-space to the maximum, at most `cap`; answer what is gained."""
        cdef HalfSpace* h = self.r.halfspaces
        self.r.n_halfspaces = 1
        h.tau = 0
        geometry.norms(&self.r)
        geometry.curvatures(&self.r)
        if not 0 < h.q < INFINITY:
            return 0
        h.tau = geometry.reach(&self.r, h, cap)
        if not 0 < h.tau < INFINITY:
            h.tau = 0
            return 0
        return h.tau * h.loss - geometry.move(&self.r) / 2

    cdef double choose(self, Py_ssize_t i, const double* s, double cap, HalfSpace* h) noexcept nogil:
        """Which column should take from which, and what it gains; answer how much there is to take, 0 if none should.

        A share of column r gains its score, and the margin if it is a rival: margin - (s_y - s_r), but for a constant.
        """
        cdef Py_ssize_t c, right = <Py_ssize_t>self.y[i]
        cdef double* alpha = self.variables(i)
        cdef double rest = cap, most = s[right], least, gain
        for c in range(self.n_columns):
            rest -= alpha[c]
        if rest <= 1e-15 * cap:  # what rounding leaves is nothing to take
            rest = 0
        least = s[right] if rest > 0 else INFINITY
        h.up = h.down = <int32_t>right
        for c in range(self.n_columns):
            if c == right:
                continue
            gain = s[c] + self.margin
            if gain > most:
                most, h.down = gain, <int32_t>c
            if alpha[c] > 0 and gain < least:
                least, h.up = gain, <int32_t>c
        h.loss = most - least
        if not h.loss > ACCURACY * (self.margin + fabs(most) + fabs(least)):
            return 0
        return rest if h.up == right else alpha[h.up]
