"""Sequences: a label for every row of a trial, in a chain."""

from libc.stdint cimport int32_t

from onmargin._core.chain cimport Chain
from onmargin._core.task cimport Round, Task


cdef class Sequence(Task):
    cdef readonly object cost
    cdef readonly bint squared, max_loss
    cdef const double* rho
    cdef tuple owners
    cdef double* work        # for the dynamic programmes
    cdef double* augmented   # emissions with costs
    cdef int32_t* right
    cdef int32_t* predicted  # in the last round

    cdef void choose(self, Chain* c, int32_t* rival) noexcept nogil
    cdef bint is_right(self, const Round* r, const int32_t* path) noexcept nogil
    cdef double cost_of(self, const Round* r, const int32_t* path) noexcept nogil
