"""A task turns scores and a target into half-spaces, and scores into a prediction."""

from libc.math cimport fabs
from libc.stdint cimport uint8_t

from onmargin._core.round cimport Evidence, Round, demand_of_one, suffer

# Tasks of one score, which the round calls directly.
cdef enum Kind:
    OTHER, BINARY, REGRESSION


cdef class Task:
    cdef Kind kind  # OTHER also for a class derived from one of those
    cdef reserve(self, Py_ssize_t rows, Py_ssize_t scores)
    cdef Py_ssize_t most_halfspaces(self, Py_ssize_t scores)
    cdef void constrain(self, Round* r) noexcept nogil
    cdef void vote(self, const double* s, Py_ssize_t n, double weight, double* votes) noexcept nogil
    cdef Py_ssize_t settle(self, double* s, Py_ssize_t n) noexcept nogil
    cdef Evidence evidence(self, const double* s, Py_ssize_t n, double* room) noexcept nogil
    cdef const uint8_t* asleep(self) noexcept nogil


cdef class Classes(Task):
    cdef readonly object margin
    cdef readonly bint eager, weighted
    cdef object owner
    cdef double* margins
    cdef Py_ssize_t last

    cdef ask(self, margin)

    cdef inline double asked(self, Py_ssize_t right) noexcept nogil:
        """Return the margin of a class."""
        return self.margins[min(right, self.last)]

    cdef inline double weigh(self, const Round* r, double loss, double asked) noexcept nogil:
        """Return by how much a step must reduce a loss from the required margin, for the weight of the example."""
        return loss + (r.weight - 1) * min(loss, asked) if self.weighted else loss


cdef class Binary(Classes):
    cdef inline void require(self, Round* r) noexcept nogil:
        cdef double y = r.y[0], margin = y * r.s[0], asked = self.asked(y > 0), loss = asked - margin
        r.mistake = not margin > 0
        if loss > 0 or self.eager:
            demand_of_one(r, y > 0, self.weigh(r, loss, asked), r.mistake)
            suffer(r, max(loss, 0))


cdef class Regression(Task):
    cdef readonly double epsilon

    cdef inline void require(self, Round* r) noexcept nogil:
        cdef double y = r.y[0], loss = fabs(y - r.s[0]) - self.epsilon
        r.mistake = not loss <= 0
        if loss > 0:
            demand_of_one(r, y > r.s[0], loss, True)
            suffer(r, loss)


cdef inline void constrain(Task task, Round* r) noexcept nogil:
    """`task.constrain`, not called through the table of methods for a task of one score."""
    if task.kind == REGRESSION:
        (<Regression>task).require(r)
    elif task.kind == BINARY:
        (<Binary>task).require(r)
    else:
        task.constrain(r)
