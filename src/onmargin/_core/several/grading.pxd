"""Graded scores of a vote."""

from onmargin._core.round cimport Round
from onmargin._core.several.odds cimport Odds


cdef class Grading:
    cdef Py_ssize_t n, padded, width
    cdef tuple owners
    cdef Odds odds        # of two classes; otherwise None
    # Per model, with ranking losses only for more than two classes:
    cdef double* squares  # sums of squared scores
    cdef double* ranks    # ranking losses
    cdef double* losses   # ranking losses of the round
    cdef double* shares   # shares of the models in graded scores, up to a factor
    cdef double* recent   # kept rounds for comparisons: label + 1, and the scores of all models
    cdef double* grades
    cdef double count     # number of squared scores per model
    cdef double rounds    # rounds so far
    cdef double[2] kept   # rounds kept for even and odd labels
    cdef double heaviest  # the largest weight of an example, for which the shares were set
    cdef bint stale       # whether the shares are out of date

    cdef double mean_of(self, const double* s) noexcept nogil
    cdef void observe(
        self, const Round* r, const double* s, const double* awake, bint all_awake, double heaviest
    ) noexcept nogil
    cdef void judge(self, const Round* r, const double* s, const double* awake) noexcept nogil
    cdef double rarity(self, Py_ssize_t label) noexcept nogil
    cdef void take_units(self, const double* s, const double* awake) noexcept nogil
    cdef Py_ssize_t compare(self, const double* s, Py_ssize_t label) noexcept nogil
    cdef void keep(self, const double* s, Py_ssize_t label) noexcept nogil
    cdef void refresh(self, double heaviest) noexcept nogil
    cdef bint blend(self, const double* s, const double* awake, const double* v, double* out) noexcept nogil
    cdef void grade(self, const double* s, const double* awake, double heaviest, double* votes) noexcept nogil
