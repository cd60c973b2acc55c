"""Graded scores of a vote."""


cdef class Grading:
    cdef Py_ssize_t n, width
    cdef object places
    cdef const Py_ssize_t* place
    cdef tuple owners
    cdef double* squares  # of the scores of each model, summed; and how many there were
    cdef double* grades

    cdef double mean_of(self, const double* s) noexcept nogil
    cdef void take_units(self, const double* s) noexcept nogil
    cdef void grade(self, const double* s, const double* p, double* votes) noexcept nogil
