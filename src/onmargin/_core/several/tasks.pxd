"""Several models that learn from the same examples, and predict as one."""

from libc.stdint cimport uint8_t

from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.several.grading cimport Grading
from onmargin._core.several.hedge cimport Hedge
from onmargin._core.several.origin cimport Origin
from onmargin._core.several.task_list cimport TaskList
from onmargin._core.several.units cimport Units
from onmargin._core.tasks.task cimport Task


cdef class ExpertVote(Task):
    cdef readonly tuple tasks
    cdef readonly object places
    cdef readonly Py_ssize_t width
    cdef readonly Task judge
    cdef readonly bint hedge, by_loss
    cdef bint waits          # whether nothing is learned until there is a second class
    cdef Hedge votes         # losses of the models and weights of their votes
    cdef Origin targets
    cdef Grading grading     # None if scores are not graded
    cdef Units scale         # None if C is not scaled
    cdef Py_ssize_t n
    cdef TaskList first
    cdef tuple owners
    cdef Py_ssize_t* place
    cdef double* s           # the scores of the models, one after the other
    cdef double* polled
    cdef double* blended     # the mean of scaled scores
    # Weighted mistakes of the class with the best mean of scaled scores, minus those of the voted class: in all rounds,
    # and in those in which the mean predicted.
    cdef double* behind
    cdef object asleep_flags       # one flag per score of the geometry: whether its model sleeps
    cdef uint8_t* flags
    cdef HalfSpace* spare

    cdef void gather(self, const double* s) noexcept nogil
    cdef void poll(self, const double* s, double* votes) noexcept nogil
    cdef bint compares(self, const Round* r) noexcept nogil
    cdef bint blends(self) noexcept nogil
    cdef void compare(self, const Round* r, Round* own) noexcept nogil
    cdef void mark(self) noexcept nogil
    cdef void begin(self, Round* r, Round* own) noexcept nogil
