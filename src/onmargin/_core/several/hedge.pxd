"""Losses of several models and the weights of their votes (AdaHedge)."""

from onmargin._core.round cimport Round
from onmargin._core.several.votes cimport COST, LOSS, MISTAKE, SQUARED_LOSS, SleepCounts


cdef class Hedge:
    cdef readonly Py_ssize_t n, experts
    cdef readonly Py_ssize_t leader  # the model with the smallest loss, the first of equal ones
    cdef readonly double ceiling, gap, mixed
    cdef readonly double heaviest    # largest weight of a round in which losses differed; 0 before the first
    cdef readonly double shares      # number of rounds with shares
    cdef readonly bint voting
    cdef readonly object groups      # models of the same number sleep together; None if none sleeps
    cdef Py_ssize_t padded           # number of models in the arrays
    cdef Py_ssize_t judged           # the outcome that is the loss
    cdef double log_experts, log_negligible
    cdef tuple owners
    # Outcomes by models:
    cdef double* now                 # of the round
    cdef double* total               # while awake
    # Per model:
    cdef double* p
    cdef double* v                   # normalized p of the awake models
    cdef double* l                   # judged loss of the round times the weight of the example, or charge
    cdef double* weighted            # the sum of these losses while awake
    cdef double* L                   # the same with charges
    cdef SleepCounts sleep
    cdef object ends
    cdef Py_ssize_t* end             # the first model after its group
    cdef double* trend               # recent and usual loss of the vote, its usual square, and the number of rounds
    cdef Py_ssize_t sleepers         # number of models that sleep
    cdef double rounds               # rounds so far
    cdef bint changed                # whether a model has fallen asleep or woken up in the round

    cdef inline void record(self, Py_ssize_t m, const Round* r) noexcept nogil:
        """Set the outcome of a model in this round."""
        self.now[MISTAKE * self.padded + m] = r.mistake
        self.now[LOSS * self.padded + m] = r.loss
        self.now[SQUARED_LOSS * self.padded + m] = r.squared_loss
        self.now[COST * self.padded + m] = r.cost

    cdef void restart(self) noexcept nogil
    cdef double rate(self) noexcept nogil
    cdef void add_up(self) noexcept nogil
    cdef void weigh(self, double weight) noexcept nogil
    cdef void reweigh(self, double low, double expected, double weight) noexcept nogil
    cdef double log_mean(self, double eta, double low) noexcept nogil
    cdef void share(self) noexcept nogil
    cdef void update_sleep(self) noexcept nogil
    cdef void watch(self, double expected) noexcept nogil
    cdef bint is_worse(self) noexcept nogil
    cdef void wake(self) noexcept nogil
    cdef void set_asleep(self, Py_ssize_t first, bint asleep) noexcept nogil
