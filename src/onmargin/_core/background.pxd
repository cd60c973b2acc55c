"""Work that a second thread does without the GIL while its caller goes on."""

from cpython.pythread cimport PyThread_type_lock


cdef class Work:
    cdef void run(self) noexcept nogil


cdef class Background:
    cdef Work work                       # of the thread; None ends it
    cdef bint started, busy
    cdef PyThread_type_lock given, done

    cdef start(self, Work work)
    cdef bint open(self) except -1
    cpdef wait(self)
    cpdef close(self)


cpdef bint pays(double reading, double running) noexcept
cdef void free_lock(PyThread_type_lock lock) noexcept
