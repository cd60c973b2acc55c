"""Labelings of a sequence: weights that emit labels, and weights from one label to the next."""

from libc.stdint cimport int32_t

from onmargin._core.geometries.geometry cimport Euclidean
from onmargin._core.round cimport Round
from onmargin._core.rows cimport Row, Vec, Weights


cdef class Paths(Euclidean):
    cdef readonly object transitions      # weights from label to next label
    cdef readonly object lag_transitions  # their lag, as for plain weights; None without averaging
    cdef object padded                    # the memory of the transitions, as wide as the scores
    cdef double* t
    cdef double* lt
    cdef object counts                    # scratch of labels by labels, all zero between calls
    cdef double* n
    cdef object labels                    # scratch for the labels of a round
    cdef int32_t* right
    cdef Py_ssize_t capacity              # labels that the memory of the weights has room for
    cdef list blocks                      # that memory
    cdef list taken                       # its columns that any geometry has used, the one number in it
    cdef readonly object order            # the column of each label; None: its place
    cdef const int32_t* column
    cdef object loose                     # scratch for the scores of columns
    cdef double* by_column

    cdef share(self, Paths other, order)
    cdef void project_columns(
        self, const Row* x, const Weights* w, const double* b, double* by_column, double* s
    ) noexcept nogil
    cdef double squared_distance(self, const Round* r, const int32_t* a, const int32_t* b) noexcept nogil
    cdef double stepped(self, const int32_t* a, const int32_t* b, Py_ssize_t rows) noexcept nogil
    cdef void advance(self, const Round* r, const int32_t* rival, double tau) noexcept nogil
    cdef void relabel(
        self, const Round* r, const int32_t* rival, const Weights* w, double* b, double tau
    ) noexcept nogil


cdef inline double crossed(
    const Vec* vec, const Row* x, const int32_t* up, const int32_t* down, Py_ssize_t n, double squared_bias
) noexcept nogil:
    """Return |sum_i e(up_i) x_i - e(down_i) x_i|^2 over n rows; rows that share a label have cross terms."""
    cdef Py_ssize_t i, j, shared
    cdef double total = 0
    for i in range(n):
        if up[i] == down[i]:
            continue
        total += 2 * (vec.squared_norm(&x[i]) + squared_bias)
        for j in range(i):
            if up[j] == down[j]:
                continue
            shared = (up[i] == up[j]) + (down[i] == down[j]) - (up[i] == down[j]) - (down[i] == up[j])
            if shared != 0:
                total += 2 * shared * (vec.dot(&x[i], &x[j]) + squared_bias)
    return total
