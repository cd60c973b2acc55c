"""Euclidean geometries of one vector of weights that many scores share."""

from onmargin._core.geometry cimport Euclidean
from onmargin._core.row cimport Row, Weights
from onmargin._core.task cimport HalfSpace, Round


cdef inline double sign(const HalfSpace* h) noexcept nogil:
    return 1 if h.up >= 0 else -1


cdef class Thresholds(Euclidean):
    """A threshold for each score: s_j = <w, x> - b_j ([SIMPROJ] sec. 3).

    Threshold j is the weight of one more coordinate of every row, -bias. As an intercept it is kept in score units,
    -b_j.
    """

    cdef Py_ssize_t count_vectors(self):
        return 1

    cdef void scores(self, Round* r) noexcept nogil:
        self.project(r.x, &self.w, self.b, r.s)
        r.n_scores = self.n_columns

    cdef void project(self, const Row* x, const Weights* w, const double* b, double* s) noexcept nogil:
        cdef Py_ssize_t j
        cdef double score
        self.vec.scores(x, w, &score)
        for j in range(self.n_columns):
            s[j] = score + b[j]

    cdef void gram(self, const Round* r, double* G) noexcept nogil:
        cdef Py_ssize_t i, j, n = r.n_halfspaces
        cdef double squared_bias = self.squared_bias(), squared_norm = r.x.squared_norm - squared_bias
        for i in range(n):
            for j in range(n):
                G[i * n + j] = sign(&r.halfspaces[i]) * sign(&r.halfspaces[j]) * squared_norm
            G[i * n + i] += squared_bias  # no two are of one threshold

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0, squares = 0, squared_bias = self.squared_bias()
        for i in range(r.n_halfspaces):
            total += sign(&r.halfspaces[i]) * r.halfspaces[i].tau
            squares += r.halfspaces[i].tau * r.halfspaces[i].tau
        self.raise_by(r, total, &self.w, self.b, 1)
        if self.average and self.clock > self.average:
            self.raise_by(r, total, &self.l, self.lb, self.clock - self.average)
        return total * total * (r.x.squared_norm - squared_bias) + squares * squared_bias

    cdef void raise_by(
        self, const Round* r, double total, const Weights* w, double* b, double scale
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        self.vec.add(r.x, w, 0, -1, scale * total)
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            b[max(h.up, h.down)] += scale * sign(h) * h.tau * self.squared_bias()


cdef class Blocks(Euclidean):
    """A trial of several rows, one score each: s_j = <w, x_j>."""

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(r.n_rows):
            self.project(&r.x[j], &self.w, self.b, &r.s[j])
        r.n_scores = r.n_rows

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(r.n_rows):
            self.measure_row(&r.x[j])
        self.clock += 1

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.up >= 0 and h.down >= 0:
                h.q = self.vec.squared_distance(&r.x[h.up], &r.x[h.down])
            else:
                h.q = r.x[max(h.up, h.down)].squared_norm

    cdef void gram(self, const Round* r, double* G) noexcept nogil:
        cdef Py_ssize_t i, j, n = r.n_halfspaces
        for i in range(n):
            for j in range(i + 1):
                G[i * n + j] = G[j * n + i] = self.inner(r.x, &r.halfspaces[i], &r.halfspaces[j])

    cdef double inner(self, const Row* x, const HalfSpace* g, const HalfSpace* h) noexcept nogil:
        return (
            self.product(x, g.up, h.up) - self.product(x, g.up, h.down)
            - self.product(x, g.down, h.up) + self.product(x, g.down, h.down)
        )

    cdef double product(self, const Row* x, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        if i < 0 or j < 0:
            return 0
        return x[i].squared_norm if i == j else self.vec.dot(&x[i], &x[j]) + self.squared_bias()

    cdef double move(self, const Round* r) noexcept nogil:
        """The squared length of several rows' move is sum_j t_j <x_j, move>: what it adds to their scores."""
        cdef Py_ssize_t j
        cdef double score, squares = 0
        self.combine(r)
        self.shift(r, &self.w, self.b, 1)
        if self.average and self.clock > self.average:
            self.shift(r, &self.l, self.lb, self.clock - self.average)
        if r.n_halfspaces == 1:
            return r.halfspaces.tau * r.halfspaces.tau * r.halfspaces.q
        for j in range(r.n_rows):
            if r.change[j] != 0:
                self.project(&r.x[j], &self.w, self.b, &score)
                squares += r.change[j] * (score - r.s[j])
        return squares

    cdef void shift(self, const Round* r, const Weights* w, double* b, double scale) noexcept nogil:
        cdef Py_ssize_t j
        cdef HalfSpace* h = r.halfspaces
        if r.n_halfspaces == 1:
            self.add(r, h.up, scale * h.tau, w, b)
            self.add(r, h.down, -scale * h.tau, w, b)
            return
        for j in range(r.n_rows):
            if r.change[j] != 0:
                self.add(r, j, scale * r.change[j], w, b)

    cdef void add(self, const Round* r, Py_ssize_t j, double a, const Weights* w, double* b) noexcept nogil:
        if j >= 0:
            self.vec.add(&r.x[j], w, 0, -1, a)
            b[0] += a * self.squared_bias()
