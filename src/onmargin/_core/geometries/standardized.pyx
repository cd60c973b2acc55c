"""Standardized rows: features minus their running means, divided by their running deviations."""

import numpy as np

from onmargin._core.restore import fill, whole, zeros

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, copysign, fabs, sqrt
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset

from onmargin._core.geometries.transformed cimport Transformed
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.metric cimport METRIC_SMALLEST_SPREAD, Metric, metric_for
from onmargin._core.rows cimport Row, address


ctypedef fused real:
    float
    double

# Indicators that are in fewer rows are not centered, so that rows with many of them stay sparse: the standardized value
# of one that is absent would be at least -0.126. Their unit is the deviation of an indicator with this frequency.
cdef double RARE = 1 / 64.0


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


def plain_line(weights, unit, center, intercept, dtype):
    """Return the weights and intercepts of rows (x - center) / unit for rows x; numbers that overflow are clipped."""
    most = np.finfo(dtype).max
    with np.errstate(all="ignore"):
        weights = np.clip(np.nan_to_num(weights / unit), -most, most)
        return weights.astype(dtype), np.nan_to_num(intercept - weights @ center)


cdef void count(const real* x, Py_ssize_t n, Moments* seen) noexcept nogil:
    """Update m_j and v_j with a row: with d = x_j - m_j they grow by d / t and d^2 (t - 1) / t."""
    cdef double t = seen.rows + 1, part = 1 / t, share = seen.rows * part, d
    cdef double* m = seen.m
    cdef double* v = seen.v
    cdef Py_ssize_t j
    for j in range(n):
        d = x[j] - m[j]
        m[j] += d * part
        v[j] = min(v[j] + (d * d * share if share > 0 else 0), DBL_MAX)
    seen.rows = t


cdef class Standardized(Transformed):
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
        fill(self.spreads, state, "spreads", least=0)

    def alike(self, Geometry inner):
        """Return the same statistics in front of another geometry, which may have fewer or more features."""
        other = type(self)(inner)
        shared = min(self.n_features, inner.n_features)
        means, spreads = np.zeros(inner.n_features), np.zeros(inner.n_features)
        means[:shared], spreads[:shared] = self.means[:shared], self.spreads[:shared]
        other.__setstate__({"rows": self.rows, "means": means, "spreads": spreads})
        return other

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones, which were zero so far."""
        return self.alike(self.inner.resize(n_features))

    def typical(self):
        return self.means

    def plain(self, weights, intercept):
        """Return the weights and intercepts for rows that are not standardized, by the means and deviations so far."""
        varied = (self.spreads > METRIC_SMALLEST_SPREAD) & (self.spreads < INFINITY)
        unit = np.where(varied, np.sqrt(np.where(varied, self.spreads, 1) / max(self.seen.rows, 1)), INFINITY)
        return plain_line(weights, unit, self.means, intercept, self.dtype)

    def trace_rows(self, rows):
        spreads = np.maximum(self.spreads, METRIC_SMALLEST_SPREAD)
        most = sqrt(self.seen.rows)
        standardized = (rows - self.means) / np.sqrt(spreads / max(self.seen.rows, 1))
        return standardized.clip(-most, most).rounded(self.dtype)

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


cdef inline bint is_indicator(Py_ssize_t j, const Presences* seen) noexcept nogil:
    """Whether feature j has had a single value, which is not in all rows, as a category has."""
    return 0 < seen.n[j] < seen.rows and seen.v[j] <= METRIC_SMALLEST_SPREAD and seen.m[j] != 0


cdef inline double center_of(Py_ssize_t j, const Presences* seen) noexcept nogil:
    """Return the mean of indicator j over all rows, in units of the size of its value; 0 if it is rare."""
    return copysign(seen.n[j] / seen.rows, seen.m[j]) if seen.n[j] >= RARE * seen.rows else 0


cdef inline double deviation_of(Py_ssize_t j, const Presences* seen) noexcept nogil:
    """Return the deviation of indicator j over all rows, in the same units."""
    cdef double p = max(seen.n[j] / seen.rows, RARE)
    return sqrt(p * (1 - p))


cdef double in_units(double x, Py_ssize_t j, const Presences* seen, bint centered) noexcept nogil:
    """Return the standardized value of feature j of a record, clipped at sqrt(n_j) deviations or units.

    A feature with several values so far is standardized by them. The unit of an indicator is the size of its value; if
    indicators are `centered`, it is standardized by its values in all rows. A new feature is an indicator.
    """
    cdef double n = seen.n[j], m = seen.m[j], v = seen.v[j], z, most = sqrt(n)
    cdef bint indicates = is_indicator(j, seen)
    if n == 0:
        return 0 if x == 0 or seen.rows == 0 else 1 if x > 0 else -1
    if indicates:
        z = x / fabs(m)
    else:
        z = (x - m) / sqrt((v if v > METRIC_SMALLEST_SPREAD else METRIC_SMALLEST_SPREAD) * (1 / n))
    z = z if z < most else most  # also for NaN, if numbers overflowed
    z = z if z > -most else -most
    return (z - center_of(j, seen)) / deviation_of(j, seen) if indicates and centered else z


cdef void count_present(double x, Py_ssize_t j, Presences* seen) noexcept nogil:
    """Update n_j, m_j and v_j with a value of feature j."""
    cdef double before = seen.n[j], n = before + 1, part = 1 / n, d = x - seen.m[j]
    seen.n[j] = n
    seen.m[j] += d * part
    seen.v[j] = min(seen.v[j] + (d * d * (before * part) if before > 0 else 0), DBL_MAX)


cdef void change_entries(const Row* x, const Presences* seen, bint centered, real* out) noexcept nogil:
    cdef const real* values = <const real*>x.values
    cdef Py_ssize_t k
    for k in range(x.n):
        out[k] = <real>in_units(values[k], k if x.indices == NULL else x.indices[k], seen, centered)


cdef Py_ssize_t add_absent(const Row* x, const Presences* seen, Py_ssize_t n_features, int32_t* indices,
                           uint8_t* present, real* out) noexcept nogil:
    """Set the indices of all entries, and add those of centered indicators that are absent; return their number."""
    cdef Py_ssize_t k, j, n = x.n
    cdef double least = RARE * seen.rows
    memset(present, 0, n_features)
    for k in range(x.n):
        indices[k] = <int32_t>k if x.indices == NULL else x.indices[k]
        present[indices[k]] = 1
    for j in range(n_features):
        if seen.n[j] >= least and not present[j] and is_indicator(j, seen):
            indices[n], out[n] = <int32_t>j, <real>(-center_of(j, seen) / deviation_of(j, seen))
            n += 1
    return n


cdef void count_entries(const Row* x, Presences* seen, const real* values) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(x.n):
        count_present(values[k], k if x.indices == NULL else x.indices[k], seen)
    seen.rows += 1


cdef class StandardizedEntries(Transformed):
    """An inner geometry whose rows have standardized entries, each by the entries of the feature before it.

    It is for records of a table, in which an absent feature is a missing value: it counts as its mean, which is 0,
    and changes no mean. A stored zero is a value. If rows have all features, the result is that of `Standardized`.

    An indicator is a feature with a single value that is not in all rows, as the features made of categories are. It is
    0 where it is absent. If `centered`, its mean over all rows is subtracted, unless it is RARE, and the result is
    divided by its deviation: then rows also have entries for absent indicators.
    """

    cdef readonly object counts, means, spreads
    cdef readonly bint centered
    cdef tuple owners
    cdef Presences seen
    cdef bint single
    cdef int32_t* indices
    cdef uint8_t* present

    def __init__(self, Geometry inner, bint centered=False):
        self.inner, self.centered = inner, centered
        self.n_features, self.dtype = inner.n_features, inner.dtype
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        self.single = self.dtype.itemsize == 4
        self.n_spare = inner.n_spare + 3 * self.n_features  # values, indices and flags
        self.counts, self.means, self.spreads = [zeros(self.n_features) for _ in range(3)]
        self.seen.n = <double*>address(self.counts, "d", self.n_features, writable=True)
        self.seen.m = <double*>address(self.means, "d", self.n_features, writable=True)
        self.seen.v = <double*>address(self.spreads, "d", self.n_features, writable=True)
        self.owners = (
            zeros(self.n_features, self.dtype), zeros(self.n_features, np.int32), zeros(self.n_features, np.uint8)
        )
        self.row.values = address(self.owners[0], "fd", self.n_features, writable=True)
        self.indices = <int32_t*>address(self.owners[1], "i", self.n_features, writable=True)
        self.present = <uint8_t*>address(self.owners[2], "B", self.n_features, writable=True)

    @property
    def rows(self):
        """The number of rows so far."""
        return int(self.seen.rows)

    def __reduce__(self):
        return type(self), (self.inner, bool(self.centered)), {"rows": self.rows, **self.moments()}

    def moments(self):
        """The statistics of each feature."""
        return {"counts": self.counts, "means": self.means, "spreads": self.spreads}

    def __setstate__(self, state):
        self.seen.rows = whole(state["rows"], "rows")
        for name, array in self.moments().items():
            fill(array, state, name)

    def alike(self, Geometry inner):
        """Return the same statistics in front of another geometry, which may have fewer or more features."""
        other = type(self)(inner, self.centered)
        shared = min(self.n_features, inner.n_features)
        other.__setstate__({
            "rows": self.rows,
            **{
                name: np.pad(array[:shared], (0, inner.n_features - shared))
                for name, array in self.moments().items()
            },
        })
        return other

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones, which no row had so far."""
        return self.alike(self.inner.resize(n_features))

    def filling(self):
        """Return the values that replace missing features: their means, or 0 for features that have not varied."""
        return np.where(self.varied(), self.means, 0)

    def varied(self):
        return (self.spreads > METRIC_SMALLEST_SPREAD) & (self.spreads < INFINITY)

    def plain(self, weights, intercept):
        """Return the weights and intercepts for original rows, with missing values replaced by `filling`."""
        cdef Py_ssize_t j
        varied = self.varied()
        unit, center = np.sqrt(self.spreads / np.maximum(self.counts, 1)), np.where(varied, self.means, 0)
        for j in np.flatnonzero(~varied):
            unit[j] = fabs(self.seen.m[j]) if is_indicator(j, &self.seen) else INFINITY
            if self.centered and is_indicator(j, &self.seen):
                center[j] = unit[j] * center_of(j, &self.seen)
                unit[j] *= deviation_of(j, &self.seen)
        return plain_line(weights, unit, center, intercept, self.dtype)

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        self.write(x, out, self.indices, self.present)

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Row row = self.row
        cdef double* room = spare + self.n_scores + self.inner.n_spare
        row.values = room
        self.write(x, &row, <int32_t*>(room + self.n_features), <uint8_t*>(room + 2 * self.n_features))
        self.inner.mean_scores(&row, s, spare)

    cdef void write(self, const Row* x, Row* out, int32_t* indices, uint8_t* present) noexcept nogil:
        """Set the entries of a standardized row; there is room for their indices and for one flag per feature."""
        out.indices, out.n, out.ahead = x.indices, x.n, x.ahead
        if self.single:
            change_entries(x, &self.seen, self.centered, <float*>out.values)
        else:
            change_entries(x, &self.seen, self.centered, <double*>out.values)
        if not self.centered:
            return
        if self.single:
            out.n = add_absent(x, &self.seen, self.n_features, indices, present, <float*>out.values)
        else:
            out.n = add_absent(x, &self.seen, self.n_features, indices, present, <double*>out.values)
        out.indices, out.ahead = indices, out.n

    cdef void take_in(self, const Row* x) noexcept nogil:
        if self.single:
            count_entries(x, &self.seen, <const float*>x.values)
        else:
            count_entries(x, &self.seen, <const double*>x.values)
