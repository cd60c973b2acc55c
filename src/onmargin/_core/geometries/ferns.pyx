"""Random ferns: rows as the cells of many random partitions, whose boundaries are parallel to the axes."""

import numpy as np

from onmargin._core.restore import claim, fill, whole, whole_size, zeros

from libc.math cimport sqrt
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memset

from onmargin._core.geometries.transformed cimport Transformed
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.geometries.splitmix cimport mixed
from onmargin._core.rows cimport Row, address

# Tests of a fern: more would make more cells than examples ever reach.
MOST_TESTS = 16

ctypedef fused real:
    float
    double


cdef void find_cells(const real* x, const int32_t* tested, const double* thresholds, Py_ssize_t n_ferns,
                     Py_ssize_t n_tests, int32_t* cells) noexcept nogil:
    cdef Py_ssize_t k, m
    for m in range(n_ferns):
        cells[m] = <int32_t>(m << n_tests)
    for k in range(n_tests):
        for m in range(n_ferns):
            cells[m] += <int32_t>(x[tested[m]] > thresholds[m]) << k
        tested += n_ferns
        thresholds += n_ferns


cdef void lay_out(const Row* x, Py_ssize_t n, real* out) noexcept nogil:
    cdef const real* values = <const real*>x.values
    cdef Py_ssize_t k
    memset(out, 0, n * sizeof(real))
    for k in range(x.n):
        out[x.indices[k]] = values[k]


cdef void mark(const real* values, const int32_t* indices, Py_ssize_t n, uint8_t* met, int32_t* new,
               Py_ssize_t* n_new) noexcept nogil:
    """Mark the features that are not zero; which of them are new."""
    cdef Py_ssize_t k, j
    for k in range(n):
        j = k if indices == NULL else indices[k]
        if values[k] != 0 and not met[j]:
            met[j] = 1
            new[n_new[0]] = <int32_t>j
            n_new[0] += 1


cdef class Ferns(Transformed):
    """Another geometry, whose rows have one non-zero per fern: the cell in which the row lies ([FERNS]).

    A fern is `n_tests` tests x_j > threshold, whose outcomes are the binary digits of its cell. The non-zero is
    1 / sqrt(D), D being the number of ferns: so <z(x), z(x')> is the fraction of ferns in which two rows share a cell.
    Features are tested that were not zero in some row that was learned, each equally often: of these a test takes the
    one that comes first in a random order of its own. A feature that is new thus replaces others in some tests, and
    leaves all other tests as they were. Thresholds are drawn from N(0, 1), for standardized rows. All is made from
    `seed`.
    """

    cdef readonly unsigned int seed
    cdef readonly Py_ssize_t n_ferns, n_tests
    cdef readonly object met      # which features were not zero in some row
    cdef tuple owners
    cdef double* thresholds       # n_tests x n_ferns
    cdef uint64_t* rank           # of the feature that is tested, in the order of the test
    cdef int32_t* tested
    cdef int32_t* new
    cdef uint8_t* was_met
    cdef void* work               # a sparse row laid out
    cdef bint single, any_met

    @property
    def linear(self):
        return False

    def __init__(self, Geometry inner, Py_ssize_t n_features, Py_ssize_t n_tests, unsigned int seed=0):
        n_tests = whole(n_tests, "n_tests", 1, MOST_TESTS)
        if inner.n_features % (1 << n_tests):
            raise ValueError(f"the features within must be a multiple of {1 << n_tests}; got {inner.n_features}")
        self.inner, self.seed, self.n_tests = inner, seed, n_tests
        self.n_ferns = inner.n_features >> n_tests
        self.n_features, self.dtype = whole_size(n_features, "n_features"), inner.dtype
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        self.n_spare = inner.n_spare + self.n_features + self.n_ferns
        self.single = self.dtype.itemsize == 4
        cdef Py_ssize_t tests = self.n_ferns * n_tests
        claim(20 * tests)
        random = np.random.RandomState(seed)  # whose numbers no version of NumPy changes
        self.met = zeros(self.n_features, np.uint8)
        self.owners = (
            random.standard_normal(tests), np.full(tests, 2**64 - 1, np.uint64), np.zeros(tests, np.int32),
            np.zeros(self.n_ferns, np.int32), np.full(self.n_ferns, 1 / sqrt(max(self.n_ferns, 1)), self.dtype),
            zeros(self.n_features, np.int32), zeros(self.n_features, self.dtype),
        )
        self.thresholds = <double*>address(self.owners[0], "d", tests)
        self.rank = <uint64_t*>address(self.owners[1], "LQ", tests, writable=True)
        self.tested = <int32_t*>address(self.owners[2], "i", tests, writable=True)
        self.row.indices = <int32_t*>address(self.owners[3], "i", self.n_ferns, writable=True)
        self.row.values = address(self.owners[4], "fd", self.n_ferns)
        self.row.n = self.row.ahead = self.n_ferns
        self.new = <int32_t*>address(self.owners[5], "i", self.n_features, writable=True)
        self.work = address(self.owners[6], "fd", self.n_features, writable=True)
        self.was_met = <uint8_t*>address(self.met, "B", self.n_features, writable=True)

    def __reduce__(self):
        return type(self), (self.inner, self.n_features, self.n_tests, self.seed), {"met": self.met}

    def __setstate__(self, state):
        fill(self.met, state, "met")
        for j in np.flatnonzero(self.met):
            self.note_column(j)

    def alike(self, Geometry inner):
        """The same ferns before another geometry."""
        return self.made(inner, self.n_features)

    def resize(self, Py_ssize_t n_features):
        """A copy with the first features only, or with new ones, which were zero so far."""
        return self.made(self.inner, n_features)

    def made(self, Geometry inner, Py_ssize_t n_features):
        other = type(self)(inner, n_features, self.n_tests, self.seed)
        shared = min(n_features, self.n_features)
        other.__setstate__({"met": np.pad(self.met[:shared], (0, n_features - shared))})
        return other

    def trace_rows(self, rows):
        shape = self.n_tests, self.n_ferns
        thresholds = self.owners[0] if self.any_met else np.full_like(self.owners[0], np.inf)
        return rows.cells(thresholds.reshape(shape), self.owners[2].reshape(shape), self.owners[4][0])

    cdef void note_column(self, Py_ssize_t j) noexcept nogil:
        """Test feature j where it comes before the one that is tested."""
        cdef Py_ssize_t k
        cdef uint64_t own = mixed(self.seed + (<uint64_t>j + 1) * <uint64_t>0x9E3779B97F4A7C15), rank
        for k in range(self.n_ferns * self.n_tests):
            rank = mixed(own + <uint64_t>k)
            if rank < self.rank[k]:
                self.rank[k], self.tested[k] = rank, <int32_t>j
        self.any_met = True

    cdef void place(self, const Row* x, void* work, int32_t* cells) noexcept nogil:
        """Set the cells of a row; `work` has room for the row as a dense one."""
        cdef const void* values = x.values
        cdef Py_ssize_t m
        if not self.any_met:
            for m in range(self.n_ferns):
                cells[m] = <int32_t>(m << self.n_tests)
        elif self.single:
            if x.indices != NULL:
                lay_out(x, self.n_features, <float*>work)
                values = work
            find_cells(<const float*>values, self.tested, self.thresholds, self.n_ferns, self.n_tests, cells)
        else:
            if x.indices != NULL:
                lay_out(x, self.n_features, <double*>work)
                values = work
            find_cells(<const double*>values, self.tested, self.thresholds, self.n_ferns, self.n_tests, cells)

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        self.place(x, self.work, <int32_t*>out.indices)

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Row row = self.row
        cdef double* work = spare + self.n_scores + self.inner.n_spare
        row.indices = <int32_t*>(work + self.n_features)
        self.place(x, work, <int32_t*>row.indices)
        self.inner.mean_scores(&row, s, spare)

    cdef void take_in(self, const Row* x) noexcept nogil:
        cdef Py_ssize_t n_new = 0, i
        if self.single:
            mark(<const float*>x.values, x.indices, x.n, self.was_met, self.new, &n_new)
        else:
            mark(<const double*>x.values, x.indices, x.n, self.was_met, self.new, &n_new)
        for i in range(n_new):
            self.note_column(self.new[i])
