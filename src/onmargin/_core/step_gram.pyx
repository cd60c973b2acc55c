"""Dual ascent over the last examples of a stream with plain weights: by the inner products of their rows."""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from onmargin._core.geometry cimport Columns, Geometry
from onmargin._core.geometry_kernel cimport Expansion
from onmargin._core.row cimport Row, Rows, Vec, Weights, address
from onmargin._core.step cimport Scheme
from onmargin._core.step_joint cimport solve_in_place
from onmargin._core.step_window cimport ACCURACY, MOST_SWEEPS, Window
from onmargin._core.task cimport HalfSpace, Round

from onmargin._core.step import Sopopo


cdef extern from "vec.h" nogil:
    const Vec* vec_for(Py_ssize_t itemsize)


cdef Py_ssize_t MOST_ROWS = 512  # of a window: more would take much memory, and long to begin a call with


cdef class GramWindow(Window):
    """The same for plain weights: a quadratic programme in the variables of the window alone.

    A move along x_i changes the scores of row j by multiples of <x_i, x_j>. So the scores of the window's rows are
    kept, and the weights move once for each example that changed, when all is done. What a round adds are the inner
    products of the newest row with the others; a round that gains nothing leaves them for later.

    `scores` has those of the last examples where `alpha` has their variables, and is written to.
    """

    cdef Py_ssize_t capacity  # rows that there are inner products for
    cdef Py_ssize_t related   # the rows before this one have theirs
    cdef double* scores
    cdef double* G            # the inner products, without the intercept coordinate
    cdef double squared_bias  # of that coordinate
    cdef double* change       # of the weights in this round, in multiples of each row
    cdef double* H            # scratch of `climb`
    cdef double* d
    cdef Py_ssize_t* free
    cdef const Vec* vec
    cdef Weights spread       # memory for one sparse row laid out
    cdef Scheme sopopo

    def __init__(
        self, Rows X, y, weight, Py_ssize_t now, alpha, scores, *, double C, double margin, Py_ssize_t window,
        Py_ssize_t sweeps,
    ):
        super().__init__(X, y, weight, now, alpha, C=C, margin=margin, window=window, sweeps=sweeps)
        cdef Py_ssize_t n = min(self.held, MOST_ROWS)
        memory = np.zeros(2 * n * n + 2 * n + n * self.n_columns)
        laid_out = np.zeros(0 if self.X.indices == NULL else self.X.n_features)
        self.owners += (scores, memory, laid_out)
        self.capacity = n
        self.scores = <double*>address(scores, "d", self.held * self.n_columns, writable=True)
        self.G = <double*>address(memory, "d", memory.size, writable=True)
        self.H = self.G + n * n
        self.d = self.H + n * n
        self.free = <Py_ssize_t*>(self.d + n)
        self.change = self.d + 2 * n
        self.vec = vec_for(self.X.itemsize)
        self.spread.W = <void*>address(laid_out, "d", laid_out.size, writable=True)
        self.spread.columns = self.spread.stride = self.spread.gap = 1
        self.sopopo = Sopopo(self.C)

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return self.sopopo.room(n)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, _sweep, first = self.first()
        cdef double total = 0, gained
        if self.now - first >= self.capacity:
            return Window.solve(self, r, geometry)
        self.receive(r)
        memcpy(self.scores_of(self.now), r.s, self.n_columns * sizeof(double))
        r.n_halfspaces = 0
        self.squared_bias = (<Columns>geometry).squared_bias()
        for _sweep in range(self.sweeps if self.sweeps > 0 else MOST_SWEEPS):
            gained = 0
            for i in range(self.now, first - 1, -1):
                gained += self.raise_one(i, geometry) if self.n_columns == 1 else self.raise_rivals(i, geometry)
            if self.sweeps == 0 and gained > 0 and self.n_columns == 1:
                gained += self.climb()
            total += gained
            if gained <= ACCURACY * total:
                break
        if total > 0:
            for i in range(first, self.now + 1):
                self.carry_out(i, geometry)
        self.now += 1
        return total

    cdef inline Py_ssize_t place(self, Py_ssize_t i) noexcept nogil:
        return i % self.held

    cdef inline double* scores_of(self, Py_ssize_t i) noexcept nogil:
        return self.scores + self.place(i) * self.n_columns

    cdef inline double product(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        return self.G[self.place(i) * self.capacity + self.place(j)] + self.squared_bias

    cdef double relate(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """See to it that all rows of the window have their inner products; answer that of row i with itself, or 0 if
        nothing can be projected onto it."""
        cdef double q
        self.related = max(self.related, self.first())
        while self.related <= self.now:
            self.multiply(self.related, geometry)
            self.related += 1
        q = self.product(i, i)
        return q if 1e-300 < q < INFINITY else 0

    cdef void multiply(self, Py_ssize_t j, Geometry geometry) noexcept nogil:
        """The inner products of row j and those before it."""
        cdef Py_ssize_t i, at = self.place(j)
        cdef Row x
        cdef Row z
        cdef double product
        self.X.row(j, &x)
        self.G[at * self.capacity + at] = self.vec.squared_norm(&x)
        if x.indices != NULL:
            self.vec.add(&x, &self.spread, 0, -1, 1)
        for i in range(self.first(), j):
            self.X.row(i, &z)
            if x.indices != NULL:
                self.vec.scores(&z, &self.spread, &product)
            else:
                product = self.vec.dot(&z, &x)
            self.G[at * self.capacity + self.place(i)] = self.G[self.place(i) * self.capacity + at] = product
        if x.indices != NULL:
            self.vec.add(&x, &self.spread, 0, -1, -1)

    cdef double raise_one(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """Maximise the dual over the variable of one example of two classes; answer what is gained."""
        cdef double* alpha = self.variables(i)
        cdef double cap = max(self.C * self.weight[i], alpha[0]), old = alpha[0]
        cdef double loss = self.margin - self.y[i] * self.scores_of(i)[0], q, step
        if fabs(loss) <= ACCURACY * self.margin or old == (cap if loss > 0 else 0):
            return 0
        q = self.relate(i, geometry)
        if q == 0:
            return 0
        alpha[0] = min(max(old + loss / q, 0), cap)
        step = alpha[0] - old
        self.r.change[0] = self.y[i] * step
        self.spread_change(i)
        return step * (loss - step * q / 2)

    cdef double raise_rivals(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """The same over those of all its rivals: Sopopo's step from where the example has none."""
        cdef double* alpha = self.variables(i)
        cdef double* s = self.scores_of(i)
        cdef double* change = self.r.change
        cdef HalfSpace* h = self.r.halfspaces
        cdef Py_ssize_t c, n = 0, right = <Py_ssize_t>self.y[i]
        cdef double cap = self.C * self.weight[i], used = 0, gain = 0, q
        if cap == 0 or self.choose(i, s, cap, h) == 0:
            return 0
        q = self.relate(i, geometry)
        if q == 0:
            return 0
        for c in range(self.n_columns):
            used += alpha[c]
        for c in range(self.n_columns):
            h[n].down, h[n].q, h[n].loss = <int32_t>c, 2 * q, self.margin - s[right] + s[c] + q * (used + alpha[c])
            n += c != right and h[n].loss > 0
            change[c] = alpha[c]
        if n > 0:
            self.sopopo.share(&self.r, geometry, h, n, max(cap, used))
        for c in range(n):
            change[h[c].down] -= h[c].tau
        for c in range(self.n_columns):
            if c != right:
                alpha[c] -= change[c]
                change[right] -= change[c]
                gain -= change[c] * (self.margin - s[right] + s[c] + change[c] * q / 2)
        gain -= change[right] * change[right] * q / 2
        self.spread_change(i)
        return gain

    cdef void spread_change(self, Py_ssize_t i) noexcept nogil:
        """The weights are to change by multiples of row i, one a column: what that makes of the scores."""
        cdef Py_ssize_t j, c, K = self.n_columns
        cdef double product
        cdef double* s
        cdef double* noted = self.change + self.place(i) * K
        for c in range(K):
            noted[c] += self.r.change[c]
        for j in range(self.first(), self.now + 1):
            product = self.product(i, j)
            s = self.scores_of(j)
            for c in range(K):
                s[c] += self.r.change[c] * product

    cdef double climb(self) noexcept nogil:
        """Go to the maximum on the plane of the variables that are within their bounds, or as far as the first of them
        allows; answer what is gained. Two classes only."""
        cdef Py_ssize_t i, j, k, m = 0
        cdef double cap, step, length = 1, gained = 0
        for i in range(self.first(), self.now + 1):
            if 0 < self.variables(i)[0] < self.C * self.weight[i]:
                self.free[m] = i
                m += 1
        if m < 2:
            return 0
        for k in range(m):
            i = self.free[k]
            self.d[k] = self.margin - self.y[i] * self.scores_of(i)[0]
            for j in range(k + 1):
                self.H[k * m + j] = self.y[i] * self.y[self.free[j]] * self.product(i, self.free[j])
        solve_in_place(self.H, self.d, m)
        for k in range(m):
            i = self.free[k]
            cap = self.C * self.weight[i] - self.variables(i)[0] if self.d[k] > 0 else self.variables(i)[0]
            if fabs(self.d[k]) * length > cap:
                length = cap / fabs(self.d[k])
        for k in range(m):
            i = self.free[k]
            step = length * self.d[k]
            self.variables(i)[0] = min(max(self.variables(i)[0] + step, 0), self.C * self.weight[i])
            gained += step * (self.margin - self.y[i] * self.scores_of(i)[0] - step * self.product(i, i) / 2)
            self.r.change[0] = self.y[i] * step
            self.spread_change(i)
        return gained

    cdef void carry_out(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """Move the weights by what was noted for row i."""
        cdef Py_ssize_t c
        cdef double* noted = self.change + self.place(i) * self.n_columns
        cdef HalfSpace* h = self.r.halfspaces
        self.r.n_halfspaces = 0
        for c in range(self.n_columns):
            if noted[c] != 0:
                h[0].up = <int32_t>c if noted[c] > 0 else -1
                h[0].down = <int32_t>c if noted[c] < 0 else -1
                h[0].tau = fabs(noted[c])
                noted[c] = 0
                h += 1
                self.r.n_halfspaces += 1
        if self.r.n_halfspaces > 0:
            self.take(i)
            geometry.move(&self.r)


cdef class KernelWindow(GramWindow):
    """The same in the feature space of a kernel: inner products are kernel values, which the expansion has.

    An example whose variables are all zero again is no support any more.
    """

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, c, first = self.first()
        cdef double used, total = GramWindow.solve(self, r, geometry)
        if total > 0:
            for i in range(first, self.now):
                used = 0
                for c in range(self.n_columns):
                    used += self.variables(i)[c]
                if used == 0:
                    (<Expansion>geometry).forget(self.origin + i)
        return total

    cdef void multiply(self, Py_ssize_t j, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, at = self.place(j)
        for i in range(self.first(), j + 1):
            self.G[at * self.capacity + self.place(i)] = self.G[self.place(i) * self.capacity + at] = (
                (<Expansion>geometry).product(self.origin + i, self.origin + j)
            )
