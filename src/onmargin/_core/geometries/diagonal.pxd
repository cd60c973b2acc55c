"""Weights with a diagonal metric: each moves at its own rate, by what it has seen so far."""

from onmargin._core.geometries.geometry cimport Euclidean
from onmargin._core.metric cimport Metric
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Weights


cdef inline double inverse(double number) noexcept nogil:
    """1 / number, and 0 where that has no number."""
    return 1 / number if number > 1e-300 else 0


cdef inline bint in_range(double slope, const Row* x) noexcept nogil:
    """Whether the squares of a gradient, which is so many times the row, can be summed."""
    return slope * slope * x.squared_norm < 1e290


cdef class Diagonal(Euclidean):
    cdef readonly object metric            # vectors x n_features: what stands beside each weight
    cdef readonly object metric_intercept  # n_columns
    cdef readonly double start             # what stands beside a weight that has not moved yet
    cdef Weights m
    cdef double* mb
    cdef const Metric* primitives

    cdef double length(self, const Row* x, Py_ssize_t c) noexcept nogil
    cdef void go(self, const Round* r, const HalfSpace* h, Py_ssize_t c, double a) noexcept nogil

    cdef inline Py_ssize_t missing(self) noexcept nogil:
        """How many rounds of the averaged ones a change made now is missing from."""
        return max(self.clock - self.average, 0) if self.average else 0


cdef class Adaptive(Diagonal):
    cdef double slope(self, const Round* r, const HalfSpace* h) noexcept nogil
