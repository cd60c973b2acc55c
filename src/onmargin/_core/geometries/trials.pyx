"""Trials of several rows or several thresholds that share one vector of weights."""

import numpy as np

from onmargin._core.restore import zeros

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t

from onmargin._core.geometries.additive cimport Additive
from onmargin._core.geometries.geometry cimport Euclidean, Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Weights, address


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
            G[i * n + i] += squared_bias  # every half-space has another threshold

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

    @property
    def cannot_mix(self):
        return f"no mix is defined for {type(self).__name__} weights"

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
        cdef double longest
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.up >= 0 and h.down >= 0:
                h.q = self.vec.squared_distance(&r.x[h.up], &r.x[h.down])
                # A value that both rows share is not in q, but the move adds and subtracts it: it must not overflow.
                longest = sqrt(max(r.x[h.up].squared_norm, r.x[h.down].squared_norm))
                if h.q > 0 and not h.loss / h.q * longest < DBL_MAX:
                    h.q = INFINITY
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
        """The squared length of a move of several rows is sum_j t_j <x_j, move>, from the change of their scores."""
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


cdef class AdditiveBlocks(Geometry):
    """A trial of several rows over one additive vector of weights, one score each: s_j = <w, x_j> ([SIMPROJ] sec. 8).

    The direction of a half-space is a row or the difference of two, and a move is a sum of rows. Such sums are gathered
    into one row, which is passed to the geometry: an exponential or a power is computed once per feature, however many
    rows have it.
    """

    cdef readonly Additive single
    cdef tuple owners
    cdef double* values      # values of the summed row
    cdef int32_t* indices
    cdef int32_t* found      # position of each feature in it, from 1; all 0 between calls

    def __init__(self, Additive single):
        if single.n_columns != 1:
            raise ValueError(f"trials of rows have one vector of weights; got {single.n_columns}")
        self.single = single
        self.n_features = single.n_features
        self.n_columns = self.n_scores = 1
        self.dtype = single.dtype
        self.owners = tuple([zeros(self.n_features, kind) for kind in (np.float64, np.int32, np.int32)])
        self.values = <double*>address(self.owners[0], "d", self.n_features, writable=True)
        self.indices = <int32_t*>address(self.owners[1], "i", self.n_features, writable=True)
        self.found = <int32_t*>address(self.owners[2], "i", self.n_features, writable=True)

    def __reduce__(self):
        return type(self), (self.single,)

    @property
    def bias(self):
        """Always 0: there is no intercept."""
        return self.single.bias

    @property
    def clock(self):
        """The number of trials learned."""
        return self.single.clock

    def mean(self):
        """Return the weights, one row, and an intercept of 0."""
        return self.single.mean()

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t j
        for j in range(r.n_rows):
            self.single.mean_scores(&r.x[j], &r.s[j], NULL)
        r.n_scores = r.n_rows

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        self.single.mean_scores(x, s, spare)

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t j
        cdef Round one = r[0]
        for j in range(r.n_rows):
            one.x = &r.x[j]
            self.single.norms(&one)
        self.single.clock += 1

    cdef void curvatures(self, Round* r) noexcept nogil:
        """Compute the curvatures of violated half-spaces; the others get 0, because no step moves along them."""
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef Row z
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.q = 0
            if h.loss > 0:
                z = self.direction(r, h)
                h.q = self.single.curvature(&z, False)

    cdef double line_search(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        cdef Row z = self.direction(r, h)
        cdef double score = r.s[max(h.up, h.down)]
        cdef Round one = r[0]
        cdef HalfSpace along = h[0]
        if h.up >= 0 and h.down >= 0:
            score = r.s[h.up] - r.s[h.down]
        along.up, along.down = (0, -1) if h.up >= 0 else (-1, 0)
        one.x, one.s = &z, &score
        return self.single.line_search(&one, &along, cap)

    cdef Row direction(self, const Round* r, const HalfSpace* h) noexcept nogil:
        """Return the row of a half-space: forward if it has a score to raise, otherwise backward."""
        cdef Row z = r.x[max(h.up, h.down)]
        if h.up >= 0 and h.down >= 0:
            z = self.start(&z)
            self.gather(&z, &r.x[h.up], 1)
            self.gather(&z, &r.x[h.down], -1)
            self.finish(&z)
        return z

    cdef double move(self, const Round* r) noexcept nogil:
        """All rows at once: theta += sum_j t_j x_j, along which the weights have the score sum_j t_j s_j."""
        cdef Py_ssize_t i, j
        cdef double score = 0, change = 0
        cdef Round one = r[0]
        cdef HalfSpace along = r.halfspaces[0]
        cdef const HalfSpace* h
        cdef Row z = self.start(r.x)
        for j in range(r.n_rows):
            r.change[j] = 0
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.up >= 0:
                r.change[h.up] += h.tau
            if h.down >= 0:
                r.change[h.down] -= h.tau
        for j in range(r.n_rows):
            if r.change[j] != 0:
                score += r.change[j] * r.s[j]
                self.gather(&z, &r.x[j], r.change[j])
        self.finish(&z)
        along.up, along.down, along.tau = 0, -1, 1
        one.x, one.s, one.change, one.halfspaces, one.n_halfspaces = &z, &score, &change, &along, 1
        return self.single.move(&one)

    cdef Row start(self, const Row* like) noexcept nogil:
        """Start an empty sum of rows that are dense or sparse like the given one."""
        cdef Py_ssize_t i
        cdef Row z = like[0]
        z.values, z.n = self.values, self.n_features
        if like.indices != NULL:
            z.indices, z.n = self.indices, 0
        for i in range(z.n):
            self.values[i] = 0
        return z

    cdef void gather(self, Row* z, const Row* x, double a) noexcept nogil:
        """z += a x."""
        cdef Py_ssize_t i, k
        for i in range(x.n):
            k = i
            if x.indices != NULL:
                k = self.found[x.indices[i]] - 1
                if k < 0:
                    k = z.n
                    z.n += 1
                    self.found[x.indices[i]] = <int32_t>z.n
                    self.indices[k], self.values[k] = x.indices[i], 0
            self.values[k] += a * (<double*>x.values)[i]

    cdef void finish(self, const Row* z) noexcept nogil:
        """Clear the sum."""
        cdef Py_ssize_t i
        for i in range(z.n if z.indices != NULL else 0):
            self.found[z.indices[i]] = 0
