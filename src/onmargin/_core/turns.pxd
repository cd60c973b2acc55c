"""Threads that take turns to use one model."""

cimport cython
from cpython.pythread cimport PyThread_get_thread_ident


@cython.final
cdef class Turns:
    cdef unsigned long holder            # the thread whose turn it is; only valid while depth > 0
    cdef Py_ssize_t depth                # how often it has entered
    cdef unsigned long long drawn, called
    cdef set given_up                    # drawn numbers whose threads gave up; None until the first
    cdef Py_ssize_t users                # number of `TakingTurns` in use

    cdef int wait(self) except -1
    cdef int skip(self) except -1

    cdef inline int enter(self) except -1:
        cdef unsigned long me = <unsigned long>PyThread_get_thread_ident()
        if self.depth > 0 and self.holder == me:
            self.depth += 1
            return 0
        if self.drawn != self.called:
            self.wait()
        else:
            self.drawn += 1
        self.holder, self.depth = me, 1
        return 0

    cdef inline int leave(self) except -1:
        self.depth -= 1
        if self.depth == 0:
            self.called += 1
            if self.given_up is not None:
                self.skip()
        return 0
