"""Rows less their means, in units of their deviations."""

import numpy as np

from onmargin._core.restore import fill, whole, zeros

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy, memset

from onmargin._core.geometries.changed cimport Changed
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.rows cimport Row, address


# A feature whose squares add up to no more than this has not varied.
cdef double LEAST = 1e-300

ctypedef fused real:
    float
    double


cdef struct Moments:
    # Of feature j over the rows so far: its mean m_j, and v_j = sum (x_j - m_j)^2.
    double* m
    double* v
    double rows


cdef void lay_out(const Row* x, Py_ssize_t n, real* out) noexcept nogil:
    """The row as a dense one of n features."""
    cdef const real* values = <const real*>x.values
    cdef Py_ssize_t k
    if x.indices == NULL:
        memcpy(out, values, n * sizeof(real))
        return
    memset(out, 0, n * sizeof(real))
    for k in range(x.n):
        out[x.indices[k]] = values[k]


cdef void standardize(real* x, Py_ssize_t n, const Moments* seen) noexcept nogil:
    """x_j = (x_j - m_j) / sqrt(v_j / t), brought within sqrt(t) of 0, also where v_j = 0.

    Without branches: roots and quotients are then taken in vectors.
    """
    cdef double part = 1 / max(seen.rows, 1), most = sqrt(seen.rows), least = LEAST, z
    cdef const double* m = seen.m
    cdef const double* v = seen.v
    cdef Py_ssize_t j
    for j in range(n):
        z = (x[j] - m[j]) / sqrt((v[j] if v[j] > least else least) * part)
        z = z if z < most else most
        x[j] = <real>(z if z > -most else -most)


cdef void count(const real* x, Py_ssize_t n, Moments* seen) noexcept nogil:
    """m_j and v_j with x among the rows: with d = x_j - m_j they grow by d / t and d^2 (t - 1) / t."""
    cdef double t = seen.rows + 1, part = 1 / t, share = seen.rows * part, d
    cdef double* m = seen.m
    cdef double* v = seen.v
    cdef Py_ssize_t j
    for j in range(n):
        d = x[j] - m[j]
        m[j] += d * part
        v[j] = min(v[j] + d * d * share, DBL_MAX)
    seen.rows = t


cdef class Standardized(Changed):
    """Another geometry, whose rows are those that come, each standardized by the rows before it.

    So the units and the origin of a feature make no difference. None of t numbers is more than sqrt(t) of their
    deviations from their mean: what is further away than that is brought there, lest one number outweigh all others.
    """

    cdef readonly object means, spreads
    cdef tuple owners
    cdef Moments seen
    cdef void* work
    cdef bint single

    def __init__(self, Geometry inner):
        self.inner = inner
        self.n_features, self.dtype = inner.n_features, inner.dtype
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        self.single = self.dtype.itemsize == 4
        self.n_spare = inner.n_spare + self.n_features
        self.means, self.spreads = zeros(self.n_features), zeros(self.n_features)
        self.seen.m = <double*>address(self.means, "d", self.n_features, writable=True)
        self.seen.v = <double*>address(self.spreads, "d", self.n_features, writable=True)
        self.owners = (zeros(self.n_features, self.dtype), zeros(self.n_features, self.dtype))
        self.row.values = address(self.owners[0], "fd", self.n_features, writable=True)
        self.row.n = self.n_features
        self.work = address(self.owners[1], "fd", self.n_features, writable=True)

    @property
    def rows(self):
        """How many there were so far."""
        return int(self.seen.rows)

    def __reduce__(self):
        return type(self), (self.inner,), {"rows": self.rows, "means": self.means, "spreads": self.spreads}

    def __setstate__(self, state):
        self.seen.rows = whole(state["rows"], "rows")
        fill(self.means, state, "means")
        fill(self.spreads, state, "spreads")

    def alike(self, Geometry inner):
        """A geometry that knows the same of rows, before another one, which may have fewer features or more."""
        other = type(self)(inner)
        shared = min(self.n_features, inner.n_features)
        means, spreads = np.zeros(inner.n_features), np.zeros(inner.n_features)
        means[:shared], spreads[:shared] = self.means[:shared], self.spreads[:shared]
        other.__setstate__({"rows": self.rows, "means": means, "spreads": spreads})
        return other

    def resized(self, Py_ssize_t n_features):
        """A copy with the first features only, or with new ones, which were zero so far."""
        return self.alike(self.inner.resized(n_features))

    def plain(self, weights, intercept):
        """The weights and intercepts that score rows as they come, by the means and deviations so far."""
        varied = (self.spreads > LEAST) & (self.spreads < INFINITY)
        weights = weights * varied / np.sqrt(np.where(varied, self.spreads, 1) / max(self.seen.rows, 1))
        return weights.astype(self.dtype), intercept - weights @ self.means

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        if self.single:
            lay_out(x, self.n_features, <float*>out.values)
            standardize(<float*>out.values, self.n_features, &self.seen)
        else:
            lay_out(x, self.n_features, <double*>out.values)
            standardize(<double*>out.values, self.n_features, &self.seen)

    cdef void take_in(self, const Row* x) noexcept nogil:
        if self.single:
            lay_out(x, self.n_features, <float*>self.work)
            count(<float*>self.work, self.n_features, &self.seen)
        else:
            lay_out(x, self.n_features, <double*>self.work)
            count(<double*>self.work, self.n_features, &self.seen)
