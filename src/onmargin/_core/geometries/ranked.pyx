"""Rows of ranks: each feature is replaced by the log odds of its rank among its first values."""

import numpy as np

from onmargin._core.restore import fill, whole, zeros

from libc.float cimport FLT_MAX
from libc.math cimport log
from libc.stdint cimport int64_t
from libc.string cimport memmove

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.geometries.recent_rows cimport narrowed
from onmargin._core.geometries.transformed cimport Transformed
from onmargin._core.rows cimport Row, address

# Number of kept values of a feature, 2^STEPS - 1, so that a search takes STEPS comparisons.
cdef enum:
    STEPS = 10
    SAMPLE = 1023


cdef inline Py_ssize_t rank_of(float x, const float* sample) noexcept nogil:
    """Return how many numbers of a sorted sample are less than x."""
    cdef Py_ssize_t found = 0, half = (SAMPLE + 1) // 2
    while half > 0:
        found += half * (sample[found + half - 1] < x)
        half //= 2
    return found


cdef inline Py_ssize_t end_of(float x, const float* sample) noexcept nogil:
    """Return how many numbers of a sorted sample are at most x."""
    cdef Py_ssize_t found = 0, half = (SAMPLE + 1) // 2
    while half > 0:
        found += half * (sample[found + half - 1] <= x)
        half //= 2
    return found


cdef class Ranked(Transformed):
    """An inner geometry on log odds of ranks, which are the same for every increasing function of a feature.

    With n values of a feature so far, at most SAMPLE, of which a are less than x and b are at most x, it becomes
    log((a + b + 1) / (2 n + 1 - a - b)): the log odds of the mean rank of x, which a heavy tail cannot stretch. While
    all values are equal, as those of a category, it becomes the sign of x.

    The first SAMPLE values are kept, in single precision. If rows are `sparse`, absent features are missing values;
    otherwise they are 0.
    """

    cdef readonly bint sparse
    cdef readonly Py_ssize_t clock   # rows that were learned
    cdef readonly object samples     # n_features x SAMPLE: the values in their order, then FLT_MAX
    cdef readonly object counts      # n_features: how many they are
    cdef object owner
    cdef Py_ssize_t itemsize
    cdef float* kept
    cdef int64_t* n

    def __init__(self, Geometry inner, bint sparse=False):
        self.inner, self.sparse = inner, sparse
        self.n_features, self.dtype = inner.n_features, inner.dtype
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        self.itemsize = self.dtype.itemsize
        self.n_spare = inner.n_spare + self.n_features
        self.samples, self.counts = zeros((self.n_features, SAMPLE), np.float32), zeros(self.n_features, np.int64)
        self.samples[...] = FLT_MAX
        self.owner = zeros(self.n_features, self.dtype)
        self.kept = <float*>address(self.samples, "f", self.n_features * SAMPLE, writable=True)
        self.n = <int64_t*>address(self.counts, "ql", self.n_features, writable=True)
        self.row.values = address(self.owner, "fd", self.n_features, writable=True)
        self.row.n = self.n_features

    @property
    def linear(self):
        return False

    def __reduce__(self):
        state = {"clock": self.clock, "samples": self.samples, "counts": self.counts}
        return type(self), (self.inner, bool(self.sparse)), state

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        fill(self.samples, state, "samples")
        fill(self.counts, state, "counts", least=0)
        if (self.counts > SAMPLE).any():
            raise ValueError(f"counts must be at most {SAMPLE}; got {self.counts.max()}")

    def alike(self, Geometry inner):
        """Return the same samples in front of another geometry, which may have fewer or more features."""
        other = type(self)(inner, self.sparse)
        shared = min(self.n_features, inner.n_features)
        samples, counts = other.samples.copy(), other.counts.copy()
        samples[:shared], counts[:shared] = self.samples[:shared], self.counts[:shared]
        if not self.sparse:  # other features were zero so far
            counts[shared:] = min(self.clock, SAMPLE)
            samples[shared:, :min(self.clock, SAMPLE)] = 0
        other.__setstate__({"clock": self.clock, "samples": samples, "counts": counts})
        return other

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones."""
        return self.alike(self.inner.resize(n_features))

    def typical(self):
        """Return the median of each feature of dense rows."""
        if self.sparse:
            return None
        medians = self.samples[np.arange(self.n_features), np.maximum(self.counts - 1, 0) // 2]
        return np.where(self.counts > 0, medians, 0).astype(np.float64)

    def trace_rows(self, rows):
        rows = rows.rounded(np.float32)
        below = at_most = rows * 0.0
        for half in 2 ** np.arange(STEPS)[::-1]:
            place = np.arange(self.n_features) * SAMPLE + (half - 1)
            below += (rows > (below + place).places().table(self.samples.ravel())).numbers() * half
            at_most += (rows >= (at_most + place).places().table(self.samples.ravel())).numbers() * half
        twice = below + at_most.clip(0, self.counts)
        odds = ((twice + 1.0) / (twice * -1.0 + (2.0 * self.counts + 1))).log()
        sign = (rows > 0.0).numbers() - (rows * -1.0 > 0.0).numbers()
        last = self.samples[np.arange(self.n_features), np.maximum(self.counts - 1, 0)]
        constant = (self.counts == 0) | (self.samples[:, 0] == last)
        return odds * ~constant + sign * constant

    cdef double place(self, double x, Py_ssize_t j) noexcept nogil:
        """Return the log odds of the rank of a value of feature j."""
        cdef const float* sample = self.kept + j * SAMPLE
        cdef Py_ssize_t n = self.n[j], twice
        cdef float value = narrowed(x)
        if n == 0 or sample[0] == sample[n - 1]:
            return (value > 0) - (value < 0)
        twice = rank_of(value, sample) + min(end_of(value, sample), n)
        return log((twice + 1.0) / (2 * n + 1 - twice))

    cdef void insert(self, double x, Py_ssize_t j) noexcept nogil:
        """Keep a value of feature j, after those that are not greater."""
        cdef float* sample = self.kept + j * SAMPLE
        cdef float value = narrowed(x)
        cdef Py_ssize_t n = self.n[j], k
        if n < SAMPLE:
            k = min(end_of(value, sample), n)
            memmove(sample + k + 1, sample + k, (n - k) * sizeof(float))
            sample[k] = value
            self.n[j] = n + 1

    cdef inline double value_of(self, const Row* x, Py_ssize_t k) noexcept nogil:
        return (<const float*>x.values)[k] if self.itemsize == 4 else (<const double*>x.values)[k]

    cdef inline void put(self, Row* out, Py_ssize_t k, double value) noexcept nogil:
        if self.itemsize == 4:
            (<float*>out.values)[k] = <float>value
        else:
            (<double*>out.values)[k] = value

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        cdef Py_ssize_t j, k
        if self.sparse:
            out.indices, out.n, out.ahead = x.indices, x.n, x.ahead
        elif x.indices != NULL:
            for j in range(self.n_features):
                self.put(out, j, self.place(0, j))
        for k in range(x.n):
            j = k if x.indices == NULL else x.indices[k]
            self.put(out, k if self.sparse else j, self.place(self.value_of(x, k), j))

    cdef void take_in(self, const Row* x) noexcept nogil:
        cdef Py_ssize_t j, k
        self.clock += 1
        if self.sparse or x.indices == NULL:
            for k in range(x.n):
                self.insert(self.value_of(x, k), k if x.indices == NULL else x.indices[k])
            return
        k = 0
        for j in range(self.n_features):
            if k < x.n and x.indices[k] == j:
                self.insert(self.value_of(x, k), j)
                k += 1
            else:
                self.insert(0, j)
