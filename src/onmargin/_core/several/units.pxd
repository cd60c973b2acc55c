"""The units of C, taken from the rows and targets so far."""

from onmargin._core.round cimport Round


cdef class Units:
    cdef readonly double per_norm
    cdef readonly bint in_targets
    cdef object owner
    cdef double* sizes  # number of rows, and the sums of |x|^2, y and y^2

    cdef void measure(self, const Round* r) noexcept nogil
    cdef double deviation(self) noexcept nogil
    cdef double unit(self) noexcept nogil
