"""Probabilities of classes, calibrated on the stream itself."""

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Evidence, Round
from onmargin._core.tasks.task cimport Task


# Bins of the reliability diagram, and knots of the log odds of the best class.
cdef enum:
    BINS = 10
    KNOTS = 4


cdef struct Centered:
    # Evidence with one score per class, also for two classes, and the means of the scores and of the votes.
    const double* s
    const double* v
    Py_ssize_t n
    double s_mean, v_mean


cdef class Calibration:
    cdef readonly Py_ssize_t n_classes
    cdef readonly long long rounds, judged
    cdef public long long wait                # rounds until the next one that is used
    cdef public bint learning
    cdef double a, b, a_squares, b_squares    # factors of scores and votes, and the squares of their gradients
    cdef double slope, shift, bend            # adjustment of the log odds of the best class
    cdef double slope_squares, shift_squares, bend_squares
    cdef double[2 * KNOTS] lifts              # of the log odds at knots: if the first of two classes is best, or not
    cdef double[2 * KNOTS] lift_squares
    cdef double doubt                         # log likelihood ratio against raising the predicted class
    cdef double s_square, v_square            # running mean squares of scores and votes
    cdef double weight, log_loss, brier       # sums over the rounds
    cdef double[3 * BINS] bins                # per bin: rounds, sum of probabilities, and how often the class was right
    cdef object memory
    cdef double* c                            # one number per class, and the squares of their gradients
    cdef double* c_squares
    cdef double* p

    cdef inline Py_ssize_t due(self, Py_ssize_t n_scores) noexcept nogil:
        """Return how many rounds this one represents; 0 if it is skipped."""
        if self.wait > 1:
            self.wait -= 1
            self.rounds += 1
            return 0
        return self.next_due(n_scores)

    cdef Py_ssize_t next_due(self, Py_ssize_t n_scores) noexcept nogil
    cdef Calibration mirror                  # of the classes in the other order, while only one of two has a name
    cdef use_memory(self, memory)
    cdef void note(self, const Evidence* found, Py_ssize_t right, Py_ssize_t weight) noexcept nogil
    cdef void observe(self, Task task, Geometry geometry, Round* r, Py_ssize_t weight) noexcept nogil
    cdef void show(self, const Evidence* evidence, double* p) noexcept nogil
    cdef bint infer(self, const Centered* e, double* p) noexcept nogil
    cdef Py_ssize_t settle(self, const Centered* e, double* p, Py_ssize_t right=*) noexcept nogil
    cdef double adjust(self, double* p, Py_ssize_t best, Py_ssize_t right) noexcept nogil
    cdef void keep_increasing(self) noexcept nogil
    cdef void judge(self, Py_ssize_t best, Py_ssize_t right, double weight) noexcept nogil
    cdef void learn(self, const Centered* e, Py_ssize_t right) noexcept nogil
