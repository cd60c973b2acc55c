"""The first target, and outliers among targets."""


cdef class Origin:
    cdef readonly bint from_first, tempered
    cdef readonly double value  # NaN until there was a target
    cdef double reach           # how far from the origin targets were so far, outliers aside; 0 if not known
    cdef double nearest         # and the nearest of the outliers since the last that was none, `n_far` of them
    cdef Py_ssize_t n_far

    cdef double temper(self, double distance) noexcept nogil
    cdef bint is_wrong(self, double target) noexcept nogil
