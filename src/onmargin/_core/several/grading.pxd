"""Graded scores of a vote."""

from libc.stdint cimport uint8_t

from onmargin._core.round cimport Round


cdef class Grading:
    cdef Py_ssize_t n, width
    cdef object places
    cdef const Py_ssize_t* place
    cdef tuple owners
    cdef double* squares  # sums of squared scores per model, then their number
    # Ranking loss per model; then the rounds so far, and the rounds kept for even and odd labels.
    cdef double* ranks
    cdef double* recent   # kept rounds for comparisons: label + 1, and the scores of all models
    cdef double* losses   # ranking losses of the round
    cdef double* now      # the scores of the round, one per model, where each has one
    cdef double* shares   # shares of the models in graded scores, up to a factor
    cdef double* grades
    cdef double heaviest  # the largest weight of an example, for which the shares were set
    cdef bint stale       # whether the shares are out of date

    cdef double mean_of(self, const double* s) noexcept nogil
    cdef void observe(self, const Round* r, const uint8_t* asleep) noexcept nogil
    cdef double rarity(self, Py_ssize_t label) noexcept nogil
    cdef void take_units(self, const double* s, const uint8_t* asleep) noexcept nogil
    cdef Py_ssize_t compare(self, const Round* r, Py_ssize_t label) noexcept nogil
    cdef void charge(self, Py_ssize_t pairs, double rounds, const uint8_t* asleep) noexcept nogil
    cdef void keep(self, const Round* r, Py_ssize_t label) noexcept nogil
    cdef void refresh(self, double heaviest) noexcept nogil
    cdef void grade(self, const double* s, const uint8_t* asleep, double heaviest, double* votes) noexcept nogil
