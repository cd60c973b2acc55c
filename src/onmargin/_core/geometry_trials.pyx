"""Trials of several rows in an additive geometry."""

import numpy as np

from libc.stdint cimport int32_t

from onmargin._core.geometry cimport Geometry
from onmargin._core.geometry_additive cimport Additive
from onmargin._core.row cimport Row, address
from onmargin._core.task cimport HalfSpace, Round


cdef class AdditiveBlocks(Geometry):
    """A trial of several rows over one additive vector of weights, one score each: s_j = <w, x_j> ([SIMPROJ] sec. 6).

    The direction of a half-space is a row or the difference of two, and a move is a sum of rows. Such sums are gathered
    into one row, and the geometry is asked about that: an exponential or a power is taken once a feature, however many
    rows have it.
    """

    cdef readonly Additive single
    cdef tuple owners
    cdef double* values      # of the row gathered
    cdef int32_t* indices
    cdef int32_t* found      # where each feature stands in it, from 1; all 0 between calls

    def __init__(self, Additive single):
        self.single = single
        self.n_features = single.n_features
        self.n_columns = self.n_scores = 1
        self.dtype = single.dtype
        self.owners = tuple(np.zeros(self.n_features, kind) for kind in (np.float64, np.int32, np.int32))
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
        """Trials learned."""
        return self.single.clock

    def mean(self):
        """The weights, one row, and an intercept of 0."""
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
        """Of the half-spaces that are violated; 0 for the others, which no step goes along."""
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef Row z
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.q = 0
            if h.loss > 0:
                z = self.direction(r, h)
                h.q = self.single.curvature(&z, False)

    cdef double reach(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        cdef Row z = self.direction(r, h)
        cdef double score = r.s[max(h.up, h.down)]
        cdef Round one = r[0]
        cdef HalfSpace along = h[0]
        if h.up >= 0 and h.down >= 0:
            score = r.s[h.up] - r.s[h.down]
        along.up, along.down = (0, -1) if h.up >= 0 else (-1, 0)
        one.x, one.s = &z, &score
        return self.single.reach(&one, &along, cap)

    cdef Row direction(self, const Round* r, const HalfSpace* h) noexcept nogil:
        """The row that a half-space goes along: forward if it has a score to raise, otherwise backward."""
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
        """An empty sum of rows that are dense or sparse like the given one."""
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
        """Leave nothing behind for the next sum."""
        cdef Py_ssize_t i
        for i in range(z.n if z.indices != NULL else 0):
            self.found[z.indices[i]] = 0
