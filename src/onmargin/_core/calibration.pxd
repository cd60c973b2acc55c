"""Probabilities of classes, calibrated on the stream itself."""

from libc.stdint cimport uint64_t

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Evidence, Round
from onmargin._core.tasks.task cimport Task


# Bins of the reliability diagram.
cdef enum:
    BINS = 10


cdef class Calibration:
    cdef readonly Py_ssize_t n_classes
    cdef readonly long long rounds, judged
    cdef public bint learning, agrees
    cdef double a, b, a_squares, b_squares    # factors of scores and votes, and the squares of their gradients
    cdef double s_square, v_square            # running mean squares of scores and votes
    cdef double weight, log_loss, brier       # sums over the rounds
    cdef double[3 * BINS] bins                # of each bin: rounds, probabilities, and how often they came true
    cdef object memory
    cdef double* c                            # one number per class, and the squares of their gradients
    cdef double* c_squares
    cdef double* p

    cdef inline Py_ssize_t due(self, Py_ssize_t n_scores) noexcept nogil:
        """For how many rounds this one stands: 0 means that it is not looked at.

        Past the first rounds of a single model it is one of 16, chosen by the number of the round.
        """
        cdef uint64_t h
        if self.n_classes < 2:
            return 0
        self.rounds += 1
        if (self.learning and self.judged < 4096) or n_scores > self.n_classes:
            return 1
        h = <uint64_t>self.rounds * <uint64_t>0x9E3779B97F4A7C15
        h = (h ^ (h >> 32)) * <uint64_t>0xD6E8FEB86659FD93
        return 16 if h >> 60 == 0 else 0

    cdef take(self, memory)
    cdef void observe(self, Task task, Geometry geometry, Round* r, Py_ssize_t weight) noexcept nogil
    cdef bint infer(self, const Evidence* e, double* p) noexcept nogil
    cdef void agree(self, const Evidence* e, double* p) noexcept nogil
    cdef void judge(self, Py_ssize_t right, double weight) noexcept nogil
    cdef void learn(self, const Evidence* e, Py_ssize_t right) noexcept nogil
