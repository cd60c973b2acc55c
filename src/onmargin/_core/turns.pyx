"""Threads that take turns to use one model."""

from time import sleep

from cpython.exc cimport PyErr_CheckSignals

# Seconds between two checks whose turn it is.
cdef double SOON = 2e-5, LATE = 2e-3


cdef class Turns:
    """A fair reentrant lock: threads take turns in the order of their arrival.

    Its state changes only while the GIL is held, so an uncontended turn costs a few instructions.
    The compiled core does not declare itself safe without the GIL: a free-threaded interpreter enables it again.
    """

    def __enter__(self):
        self.enter()
        return self

    def __exit__(self, kind, error, trace):
        self.leave()

    cdef int wait(self) except -1:
        """Draw a number and wait until it is called. An interrupt ends the wait."""
        cdef unsigned long long number = self.drawn
        cdef double pause = SOON
        self.drawn += 1
        try:
            while self.called != number:
                sleep(pause)
                PyErr_CheckSignals()  # the signal may have interrupted the sleep of another thread
                pause = min(2 * pause, LATE)
        except BaseException:
            if self.called == number:
                self.depth = 1
                self.leave()
            elif self.given_up is None:
                self.given_up = {number}
            else:
                self.given_up.add(number)
            raise
        return 0

    cdef int skip(self) except -1:
        """Call the next number that a thread waits for."""
        while self.called in self.given_up:
            self.given_up.remove(self.called)
            self.called += 1
        return 0


cdef dict turns_of = {}  # by id of the object, which lives as long as one of its methods runs


cdef class TakingTurns:
    """A context manager that excludes other threads from such blocks for the same object."""

    cdef Turns turns
    cdef object of

    def __init__(self, of):
        self.of = of

    def __enter__(self):
        self.turns = turns_of.get(id(self.of))
        if self.turns is None:
            self.turns = turns_of[id(self.of)] = Turns()
        self.turns.users += 1
        try:
            self.turns.enter()
        except BaseException:
            self.done()
            raise

    def __exit__(self, kind, error, trace):
        self.turns.leave()
        self.done()

    cdef done(self):
        self.turns.users -= 1
        if self.turns.users == 0:
            del turns_of[id(self.of)]
