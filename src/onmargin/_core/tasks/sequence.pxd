"""Sequences: a label for every row of a trial, in a chain, and how the best labels are found."""

from libc.stdint cimport int32_t

from onmargin._core.round cimport Round
from onmargin._core.tasks.task cimport Task


# The scores that a half-space of sequences compares are those of two labelings: the right one, and a rival, which is
# the first of `Round.sequence.rivals`, or one of those after it.
cdef enum:
    RIGHT, RIVAL


cdef struct Chain:
    # A labeling z scores sum_i emissions[i, z_i] + sum_{i > 0} transitions_i[z_{i-1}, z_i].
    const double* emissions       # token i and label a at i * stride + a
    const double* transitions     # into token i from a to b at i * transition_stride + a * stride + b; -inf to padding
    Py_ssize_t length
    Py_ssize_t labels
    Py_ssize_t stride             # labels and padding
    Py_ssize_t transition_stride  # 0 if the transitions are the same for all tokens


cdef struct Ways:
    # The n best paths to each label of each token, and scratch: see `best_paths`.
    Py_ssize_t n
    double* scores     # path k to label a of token i at (i * labels + a) * n + k, best first; -inf if there are fewer
    int32_t* origins   # its place among those of the token before
    int32_t* last      # the places of the best paths of the sequence
    int32_t* ranks     # one number per label


cdef double path_score(const Chain* c, const int32_t* path) noexcept nogil
cdef void best_path(const Chain* c, int32_t* path, double* work) noexcept nogil
cdef void most_wrong_path(const Chain* c, const int32_t* right, int32_t* path, double* work) noexcept nogil


cdef class Sequence(Task):
    cdef readonly object cost
    cdef readonly bint squared, max_loss
    cdef const double* rho
    cdef tuple owners
    cdef double* work        # scratch of the dynamic programs
    cdef double* augmented   # emissions with costs
    cdef int32_t* right
    cdef int32_t* predicted  # prediction of the last round

    cdef void choose(self, Chain* c, int32_t* rival) noexcept nogil
    cdef Chain receive(self, const Round* r) noexcept nogil
    cdef bint is_right(self, const Round* r, const int32_t* path) noexcept nogil
    cdef double cost_of(self, const Round* r, const int32_t* path) noexcept nogil
