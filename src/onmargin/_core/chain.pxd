"""Labellings of a sequence: the best one, the best few, and the one a learner most needs to beat."""

from libc.stdint cimport int32_t


cdef struct Chain:
    # A labelling z scores sum_i emissions[i, z_i] + sum_{i > 0} transitions_i[z_{i-1}, z_i].
    const double* emissions    # token i and label a at i * stride + a
    const double* transitions  # to token i, from a to b at i * pace + a * stride + b; from any label to padding: -inf
    Py_ssize_t length
    Py_ssize_t labels
    Py_ssize_t stride          # labels and padding
    Py_ssize_t pace            # 0: the transitions are the same for all tokens


cdef double path_score(const Chain* c, const int32_t* path) noexcept nogil
cdef void best_path(const Chain* c, int32_t* path, double* work) noexcept nogil
cdef void most_wrong_path(const Chain* c, const int32_t* right, int32_t* path, double* work) noexcept nogil
