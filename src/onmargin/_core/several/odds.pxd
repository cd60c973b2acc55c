"""Log odds of two classes, from the scores of several models."""

from onmargin._core.several.votes cimport Calibrations


cdef class Odds:
    cdef Py_ssize_t n, padded
    cdef object owner
    cdef Calibrations of
    cdef double most       # ln of the number of models
    cdef double last_rate  # for which the shares were set
    cdef bint stale        # whether the losses have changed since

    cdef double rate(self, double rounds, double heaviest) noexcept nogil
    cdef void refresh(self, double rounds, double heaviest) noexcept nogil
    cdef double pooled(
        self, const double* s, const double* awake, const double* squares, double rounds, double heaviest
    ) noexcept nogil
    cdef void observe(
        self, const double* s, const double* awake, bint all_awake, const double* squares, double rounds, double y,
        double weight, double heaviest
    ) noexcept nogil
