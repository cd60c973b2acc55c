"""A task turns scores and a target into half-spaces, and scores into a prediction."""

from libc.stdint cimport uint8_t

from onmargin._core.round cimport Evidence, Round

# A class with a smaller probability is not moved: that would cost as much as moving a probable one.
cdef double SMALLEST_GRADIENT


cdef class Task:
    cdef reserve(self, Py_ssize_t rows, Py_ssize_t scores)
    cdef void constrain(self, Round* r) noexcept nogil
    cdef void vote(self, const double* s, Py_ssize_t n, double weight, double* votes) noexcept nogil
    cdef Py_ssize_t settle(self, double* s, Py_ssize_t n) noexcept nogil
    cdef Evidence evidence(self, const double* s, Py_ssize_t n, double* room) noexcept nogil
    cdef const uint8_t* asleep(self) noexcept nogil
