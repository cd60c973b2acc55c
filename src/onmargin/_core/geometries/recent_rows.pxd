"""Geometries that keep the rows that were learned last."""

from libc.float cimport FLT_MAX
from libc.stdint cimport int32_t, uint64_t

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.geometries.splitmix cimport mixed
from onmargin._core.round cimport Round
from onmargin._core.rows cimport Row


cdef inline float narrowed(double value) noexcept nogil:
    return <float>max(min(value, FLT_MAX), -FLT_MAX)


cdef inline Py_ssize_t leaf_of(const int32_t* feature, const float* threshold, const int32_t* child, const float* x,
                               Py_ssize_t stride) noexcept nogil:
    """Return the leaf of a row, of which feature j is x[j * stride]: the node from which child[k] is not positive."""
    cdef Py_ssize_t k = 0
    while child[k] > 0:
        k = child[k] + (x[feature[k] * stride] > threshold[k])
    return k


cdef class RecentRows(Geometry):
    cdef readonly Py_ssize_t n_kept
    cdef readonly Py_ssize_t clock   # rows that were learned
    cdef readonly Py_ssize_t first   # the first row since the last change of the concept
    cdef readonly object rows        # n_features x n_kept
    cdef readonly object targets     # n_kept x n_columns
    cdef readonly object weights     # n_kept
    cdef readonly object losses      # n_kept
    cdef tuple of_round
    cdef Py_ssize_t itemsize
    cdef float* Z
    cdef float* y
    cdef double* w
    cdef double* loss
    cdef float* x                    # the row of the round, and its scores
    cdef double* last
    cdef uint64_t random             # state of the random numbers

    cdef inline Py_ssize_t n_rows(self) noexcept nogil:
        """Return how many of the kept rows are used."""
        return min(self.clock - self.first, self.n_kept)

    cdef inline Py_ssize_t below(self, Py_ssize_t n) noexcept nogil:
        """Return a random number from 0 to n - 1."""
        self.random += <uint64_t>0x9E3779B97F4A7C15
        return <Py_ssize_t>(((mixed(self.random) >> 32) * <uint64_t>n) >> 32)

    cdef double lay_out(self, const Row* x, float* out) noexcept nogil
    cdef void keep(self, const Round* r) noexcept nogil
    cdef void correct(self, const Round* r) noexcept nogil
    cdef bint drop_earlier(self) noexcept nogil
