"""A geometry holds the weights and moves them."""

from onmargin._core.row cimport Row, Vec, Weights
from onmargin._core.task cimport HalfSpace, Round


cdef class Geometry:
    cdef readonly Py_ssize_t n_features, n_columns
    cdef readonly object dtype
    cdef readonly Py_ssize_t n_scores  # numbers that `scores` writes: columns and padding

    cdef void scores(self, const Row* x, double* s) noexcept nogil
    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil
    cdef void measure(self, Row* x) noexcept nogil
    cdef double curvature(self, const Row* x, const HalfSpace* h) noexcept nogil
    cdef double move(self, const Row* x, const Round* r) noexcept nogil


cdef class Euclidean(Geometry):
    cdef readonly bint sparse          # the rows to expect
    cdef bint feature_major            # how the weights lie
    cdef readonly object weights       # n_columns x n_features, a view of the memory below
    cdef readonly object intercept     # n_columns, in score units
    cdef readonly object lag           # what averaging takes off the weights; None: no averaging
    cdef readonly object lag_intercept
    cdef readonly Py_ssize_t average   # the round averaging starts at; 0: never
    cdef readonly Py_ssize_t clock     # rounds received
    cdef readonly double bias          # value of the intercept coordinate; 0: none, nan: taken from the first row
    cdef object change                 # of each column in one move
    cdef const Vec* vec
    cdef Weights w
    cdef Weights l
    cdef double* b
    cdef double* lb
    cdef double* t

    cdef Weights place(self, object memory)
    cdef double combine(self, const Round* r) noexcept nogil
    cdef void shift(self, const Row* x, const Round* r, const Weights* w, double* b, double scale) noexcept nogil
