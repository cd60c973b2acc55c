"""Weights with a diagonal metric: an adaptive learning rate per weight."""

from libc.math cimport INFINITY, fabs

from onmargin._core.geometries.geometry cimport Euclidean
from onmargin._core.metric cimport Metric
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Weights


cdef inline double inverse(double number) noexcept nogil:
    """Return 1 / number, or 0 if that is not finite."""
    return 1 / number if number > 1e-300 else 0


cdef inline double product(double a, double b, double c) noexcept nogil:
    """Return a * b * c, also where a * b overflows: a step times the square of a large intercept coordinate."""
    cdef double found = a * b * c
    return found if fabs(found) < INFINITY else a * (b * c)


cdef inline bint in_range(double slope, const Row* x) noexcept nogil:
    """Return whether the squares of a gradient, a multiple of the row, can be summed without overflow.

    A value of the row divided by the root of these squares is at most 1 / slope, which must be finite, too.
    """
    return fabs(slope) > 1e-290 and slope * slope * x.squared_norm < 1e290


cdef class Diagonal(Euclidean):
    cdef readonly object metric            # vectors x n_features: the metric entry of each weight
    cdef readonly object metric_intercept  # n_columns
    cdef readonly double start             # metric entry of a weight that has not moved yet
    cdef Weights m
    cdef double* mb
    cdef const Metric* primitives

    cdef double length(self, const Row* x, Py_ssize_t c) noexcept nogil
    cdef void go(self, const Round* r, const HalfSpace* h, Py_ssize_t c, double a) noexcept nogil

    cdef inline Py_ssize_t missing(self) noexcept nogil:
        """Return the number of averaged rounds that lack a change made now."""
        return max(self.clock - self.average, 0) if self.average else 0


cdef class Adaptive(Diagonal):
    cdef double slope(self, const Round* r, const HalfSpace* h) noexcept nogil
