"""Losses of several models and the weights of their votes (AdaHedge)."""

from libc.stdint cimport uint8_t

from onmargin._core.round cimport finite
from onmargin._core.several.task_list cimport Outcome


cdef class Hedge:
    cdef readonly Py_ssize_t n, experts
    cdef readonly Py_ssize_t leader  # the model with the smallest loss, the first of equal ones
    cdef readonly double ceiling, gap, mixed
    cdef readonly double heaviest    # largest weight of a round in which losses differed; 0 before the first
    cdef double weight               # weight of the example of the round
    cdef readonly bint voting
    cdef readonly object groups      # models of the same number sleep together; None if none sleeps
    cdef Py_ssize_t judged           # index of the loss in an outcome
    cdef double log_experts
    cdef tuple owners
    cdef Outcome* now                # outcomes of the round, one per model
    cdef Outcome* total              # outcomes while awake
    cdef double* p
    cdef double* v                   # normalized p of the awake models
    cdef Py_ssize_t* group
    cdef uint8_t* asleep
    # Per model:
    cdef double* weighted            # judged loss while awake, times the weights of the examples
    cdef double* charged             # charged loss for the rounds it slept
    cdef double* slept               # number of rounds it slept
    cdef double* before              # total loss and charge when it fell asleep
    cdef double* since               # rounds since it fell asleep or woke up, or was last checked
    cdef double* behind              # its loss minus that of the vote in these rounds
    cdef double rounds               # rounds so far
    cdef bint changed                # whether a model has fallen asleep or woken up in the round

    cdef inline double lost(self, Py_ssize_t m) noexcept nogil:
        return self.weighted[m] + self.charged[m]

    cdef inline double lost_now(self, Py_ssize_t m) noexcept nogil:
        return finite(self.weight * (<const double*>&self.now[m])[self.judged])

    cdef void restart(self) noexcept nogil
    cdef Py_ssize_t best(self) noexcept nogil
    cdef double rate(self) noexcept nogil
    cdef void weigh(self, double weight) noexcept nogil
    cdef void reweigh(self, double low, double expected) noexcept nogil
    cdef double log_mean(self, double eta, double low, double expected) noexcept nogil
    cdef void share(self) noexcept nogil
    cdef bint far_behind(self, double lost) noexcept nogil
    cdef void look(self) noexcept nogil
    cdef void send(self, Py_ssize_t first, Py_ssize_t end, bint asleep) noexcept nogil
