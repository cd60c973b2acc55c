"""A geometry holds the weights and moves them."""

from onmargin._core.row cimport Row, Vec
from onmargin._core.task cimport HalfSpace, Round


cdef class Geometry:
    cdef readonly Py_ssize_t n_features, n_columns
    cdef readonly Py_ssize_t stride  # numbers that `scores` writes: columns and padding

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil
    cdef void measure(self, Row* x) noexcept nogil
    cdef void scores(self, const Row* x, double* s) noexcept nogil
    cdef double curvature(self, const Row* x, const HalfSpace* h) noexcept nogil
    cdef void move(self, const Row* x, const Round* r) noexcept nogil


cdef class Euclidean(Geometry):
    cdef readonly object dtype
    cdef readonly object weights      # n_features x stride
    cdef readonly object intercept    # stride, in score units
    cdef readonly object lag          # what averaging takes off the weights; None: no averaging
    cdef readonly object lag_intercept
    cdef object change                # of each column in one move
    cdef readonly Py_ssize_t average  # the round averaging starts at; 0: never
    cdef readonly Py_ssize_t clock    # rounds received
    cdef readonly double bias         # value of the intercept coordinate; 0: none, nan: taken from the first row
    cdef const Vec* vec
    cdef void* W
    cdef void* L
    cdef double* b
    cdef double* lb
    cdef double* t

    cdef void shift(self, const Row* x, const Round* r, void* W, double* b, double scale) noexcept nogil
