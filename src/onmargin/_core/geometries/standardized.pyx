"""Standardized rows: features minus their running means, divided by their running deviations."""

import numpy as np

from onmargin._core.restore import fill, whole, zeros

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

from onmargin._core.geometries.changed cimport Changed
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.metric cimport METRIC_SMALLEST_SPREAD, Metric, metric_for
from onmargin._core.rows cimport Row, address


ctypedef fused real:
    float
    double


cdef struct Moments:
    # Of feature j over the rows so far: its mean m_j, and v_j = sum (x_j - m_j)^2.
    double* m
    double* v
    double rows


cdef const void* lay_out(const Row* x, Py_ssize_t n, Py_ssize_t itemsize, char* room) noexcept nogil:
    """Return the values of the row as a dense one of n features; there is room for them if they are not."""
    cdef const char* values = <const char*>x.values
    cdef Py_ssize_t k
    if x.indices == NULL:
        return values
    memset(room, 0, n * itemsize)
    for k in range(x.n):
        memcpy(room + x.indices[k] * itemsize, values + k * itemsize, itemsize)
    return room


cdef void count(const real* x, Py_ssize_t n, Moments* seen) noexcept nogil:
    """Update m_j and v_j with a row: with d = x_j - m_j they grow by d / t and d^2 (t - 1) / t."""
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
    """An inner geometry whose rows are standardized, each by the rows before it.

    So the units and the origin of a feature make no difference. No one of t numbers is more than sqrt(t)
    deviations from their mean; values are clipped there, so that no value outweighs all others.
    """

    cdef readonly object means, spreads
    cdef tuple owners
    cdef Moments seen
    cdef void* work
    cdef Py_ssize_t itemsize
    cdef const Metric* primitives

    def __init__(self, Geometry inner):
        self.inner = inner
        self.n_features, self.dtype = inner.n_features, inner.dtype
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        self.itemsize = self.dtype.itemsize
        self.primitives = metric_for(self.itemsize)
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
        """The number of rows so far."""
        return int(self.seen.rows)

    def __reduce__(self):
        return type(self), (self.inner,), {"rows": self.rows, "means": self.means, "spreads": self.spreads}

    def __setstate__(self, state):
        self.seen.rows = whole(state["rows"], "rows")
        fill(self.means, state, "means")
        fill(self.spreads, state, "spreads")

    def alike(self, Geometry inner):
        """Return the same statistics in front of another geometry, which may have fewer or more features."""
        other = type(self)(inner)
        shared = min(self.n_features, inner.n_features)
        means, spreads = np.zeros(inner.n_features), np.zeros(inner.n_features)
        means[:shared], spreads[:shared] = self.means[:shared], self.spreads[:shared]
        other.__setstate__({"rows": self.rows, "means": means, "spreads": spreads})
        return other

    def resized(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones, which were zero so far."""
        return self.alike(self.inner.resized(n_features))

    def plain(self, weights, intercept):
        """Return the weights and intercepts for rows that are not standardized, by the means and deviations so far."""
        varied = (self.spreads > METRIC_SMALLEST_SPREAD) & (self.spreads < INFINITY)
        weights = weights * varied / np.sqrt(np.where(varied, self.spreads, 1) / max(self.seen.rows, 1))
        return weights.astype(self.dtype), intercept - weights @ self.means

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        cdef const void* values = lay_out(x, self.n_features, self.itemsize, <char*>out.values)
        self.primitives.standardize(
            values, self.n_features, self.seen.m, self.seen.v, self.seen.rows, <void*>out.values
        )

    cdef void take_in(self, const Row* x) noexcept nogil:
        cdef const void* values = lay_out(x, self.n_features, self.itemsize, <char*>self.work)
        if self.itemsize == 4:
            count(<const float*>values, self.n_features, &self.seen)
        else:
            count(<const double*>values, self.n_features, &self.seen)


cdef struct Presences:
    # Of feature j over the rows that had it: how many they were, n_j, its mean m_j, and v_j = sum (x_j - m_j)^2.
    double* n
    double* m
    double* v
    double rows


cdef double in_units(double x, Py_ssize_t j, const Presences* seen) noexcept nogil:
    """Return the standardized value of feature j of a record, clipped at sqrt(n_j).

    A feature with several values so far is standardized by them. One with a single value that is not in all rows
    is an indicator, such as a category: its unit is that value. A new feature is one, too.
    """
    cdef double n = seen.n[j], m = seen.m[j], v = seen.v[j], z, most = sqrt(n)
    if n == 0:
        return 0 if x == 0 or seen.rows == 0 else 1 if x > 0 else -1
    if v <= METRIC_SMALLEST_SPREAD and n < seen.rows and m != 0:
        z = x / fabs(m)
    else:
        z = (x - m) / sqrt((v if v > METRIC_SMALLEST_SPREAD else METRIC_SMALLEST_SPREAD) * (1 / n))
    z = z if z < most else most  # also for NaN, if numbers overflowed
    return z if z > -most else -most


cdef void count_present(double x, Py_ssize_t j, Presences* seen) noexcept nogil:
    """Update n_j, m_j and v_j with a value of feature j."""
    cdef double before = seen.n[j], n = before + 1, part = 1 / n, d = x - seen.m[j]
    seen.n[j] = n
    seen.m[j] += d * part
    seen.v[j] = min(seen.v[j] + d * d * (before * part), DBL_MAX)


cdef void change_entries(const Row* x, const Presences* seen, real* out) noexcept nogil:
    cdef const real* values = <const real*>x.values
    cdef Py_ssize_t k
    for k in range(x.n):
        out[k] = <real>in_units(values[k], k if x.indices == NULL else x.indices[k], seen)


cdef void count_entries(const Row* x, Presences* seen, const real* values) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(x.n):
        count_present(values[k], k if x.indices == NULL else x.indices[k], seen)
    seen.rows += 1


cdef class StandardizedEntries(Changed):
    """An inner geometry whose rows have standardized entries, each by the entries of the feature before it.

    It is for records of a table, in which an absent feature is a missing value: it counts as its mean, which is 0,
    and changes no mean. A stored zero is a value. If rows have all features, the result is that of `Standardized`.
    """

    cdef readonly object counts, means, spreads
    cdef object owner
    cdef Presences seen
    cdef bint single

    def __init__(self, Geometry inner):
        self.inner = inner
        self.n_features, self.dtype = inner.n_features, inner.dtype
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        self.single = self.dtype.itemsize == 4
        self.n_spare = inner.n_spare + self.n_features
        self.counts, self.means, self.spreads = (zeros(self.n_features) for _ in range(3))
        self.seen.n = <double*>address(self.counts, "d", self.n_features, writable=True)
        self.seen.m = <double*>address(self.means, "d", self.n_features, writable=True)
        self.seen.v = <double*>address(self.spreads, "d", self.n_features, writable=True)
        self.owner = zeros(self.n_features, self.dtype)
        self.row.values = address(self.owner, "fd", self.n_features, writable=True)

    @property
    def rows(self):
        """The number of rows so far."""
        return int(self.seen.rows)

    def __reduce__(self):
        return type(self), (self.inner,), {"rows": self.rows, **self.moments()}

    def moments(self):
        """The statistics of each feature."""
        return {"counts": self.counts, "means": self.means, "spreads": self.spreads}

    def __setstate__(self, state):
        self.seen.rows = whole(state["rows"], "rows")
        for name, array in self.moments().items():
            fill(array, state, name)

    def alike(self, Geometry inner):
        """Return the same statistics in front of another geometry, which may have fewer or more features."""
        other = type(self)(inner)
        shared = min(self.n_features, inner.n_features)
        other.__setstate__({
            "rows": self.rows,
            **{
                name: np.pad(array[:shared], (0, inner.n_features - shared))
                for name, array in self.moments().items()
            },
        })
        return other

    def resized(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones, which no row had so far."""
        return self.alike(self.inner.resized(n_features))

    def filling(self):
        """Return the values that replace missing features: their means, or 0 for features that have not varied."""
        return np.where(self.varied(), self.means, 0)

    def varied(self):
        return (self.spreads > METRIC_SMALLEST_SPREAD) & (self.spreads < INFINITY)

    def plain(self, weights, intercept):
        """Return the weights and intercepts for original rows, with missing values replaced by `filling`."""
        varied = self.varied()
        unit = np.where(varied, np.sqrt(np.where(varied, self.spreads, 1) / np.maximum(self.counts, 1)), self.means)
        there = varied | ((self.counts < self.seen.rows) & (self.means != 0))
        weights = weights * there / np.where(there, np.abs(unit), 1)
        return weights.astype(self.dtype), intercept - weights @ self.filling()

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        out.indices, out.n, out.ahead = x.indices, x.n, x.ahead
        if self.single:
            change_entries(x, &self.seen, <float*>out.values)
        else:
            change_entries(x, &self.seen, <double*>out.values)

    cdef void take_in(self, const Row* x) noexcept nogil:
        if self.single:
            count_entries(x, &self.seen, <const float*>x.values)
        else:
            count_entries(x, &self.seen, <const double*>x.values)
