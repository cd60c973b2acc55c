"""The first target, and outliers among targets."""


cdef class Origin:
    cdef readonly bint from_first, tempered
    cdef readonly double value  # NaN before the first target
    cdef double reach           # largest distance of a target from the origin, without outliers; 0 if unknown
    cdef double nearest         # smallest distance of the `n_far` outliers since the last ordinary target
    cdef Py_ssize_t n_far

    cdef double temper(self, double distance) noexcept nogil
    cdef bint is_wrong(self, double target) noexcept nogil
