"""The tasks of several models that learn from the same examples."""

from onmargin._core.round cimport Round
from onmargin._core.several.hedge cimport Hedge
from onmargin._core.tasks.task cimport Task


cdef inline void clear(Round* r) noexcept nogil:
    """Clear the half-spaces and losses of a round."""
    r.n_halfspaces = r.mistake = 0
    r.loss = r.squared_loss = r.cost = 0


cdef class TaskList:
    cdef Task task
    cdef Py_ssize_t n
    cdef TaskList rest

    cdef void vote(
        self, const double* s, Py_ssize_t first, Py_ssize_t width, const double* p, double* votes
    ) noexcept nogil
    cdef void constrain(
        self, Round* r, Round* own, const double* s, const Py_ssize_t* place, Py_ssize_t first, Hedge votes
    ) noexcept nogil
