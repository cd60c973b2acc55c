"""The tasks of several models that learn from the same examples."""

import numpy as np

from libc.stdint cimport uint8_t, uint16_t

from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.tasks.task import Binary


# Lists of tasks, steps and geometries are nested one level per model: more levels would fill the stack.
MOST_MODELS = 1000


def check_models(models):
    """Return the parts of models that learn side by side, one per model, as a tuple."""
    found = tuple(models)
    if not 1 <= len(found) <= MOST_MODELS:
        raise ValueError(f"the number of models side by side must be from 1 to {MOST_MODELS}; got {len(found)}")
    return found


cdef class TaskList:
    """A linked list of the tasks of several models, because the loop over rounds has no Python lists."""

    def __init__(self, tasks):
        self.task = tasks[0]
        self.n = next((m for m, task in enumerate(tasks) if task is not self.task), len(tasks))
        self.rest = list_tasks(tasks[self.n:]) if self.n < len(tasks) else None

    cdef void vote(
        self, const double* s, const Py_ssize_t* place, Py_ssize_t width, const double* p, double* votes
    ) noexcept nogil:
        cdef Py_ssize_t m
        for m in range(self.n):
            if p[m] > 0:
                self.task.vote(s + place[m], width, p[m], votes)
        if self.rest is not None:
            self.rest.vote(s, place + self.n, width, p + self.n, votes)

    cdef void constrain(
        self, Round* r, Round* own, const Py_ssize_t* place, Py_ssize_t first, const uint8_t* asleep, Outcome* now
    ) noexcept nogil:
        """Compute half-spaces and outcomes of the awake models, from the first on.

        `own` is a round of one model's scores.
        """
        cdef Py_ssize_t m, i
        cdef HalfSpace* h
        for m in range(first, first + self.n):
            if asleep[m]:
                continue
            own.s = r.s + place[m]
            own.halfspaces = r.halfspaces + r.n_halfspaces
            clear(own)
            self.task.constrain(own)
            for i in range(own.n_halfspaces):
                h = &own.halfspaces[i]
                h.up += <int>place[m] if h.up >= 0 else 0
                h.down += <int>place[m] if h.down >= 0 else 0
                h.model = <uint16_t>m
            r.n_halfspaces += own.n_halfspaces
            now[m] = Outcome(own.mistake, own.loss, own.squared_loss, own.cost)
        if self.rest is not None:
            self.rest.constrain(r, own, place, first + self.n, asleep, now)


cdef class Margins(TaskList):
    """The same for `Binary` in one loop without branches on the losses, which could not be predicted."""

    cdef double[2] asked
    cdef bint eager

    def __init__(self, tasks):
        super().__init__(tasks)
        self.asked = np.broadcast_to(tasks[0].margin, 2)
        self.eager = tasks[0].eager

    cdef void vote(
        self, const double* s, const Py_ssize_t* place, Py_ssize_t width, const double* p, double* votes
    ) noexcept nogil:
        cdef Py_ssize_t m
        for m in range(self.n):
            votes[0] += p[m] * (1 - 2 * (s[place[m]] < 0))
        if self.rest is not None:
            self.rest.vote(s, place + self.n, width, p + self.n, votes)

    cdef void constrain(
        self, Round* r, Round* own, const Py_ssize_t* place, Py_ssize_t first, const uint8_t* asleep, Outcome* now
    ) noexcept nogil:
        cdef double y = r.y[0], asked = self.asked[y > 0], margin, loss
        cdef Py_ssize_t m, n = r.n_halfspaces
        cdef HalfSpace* h
        for m in range(first, first + self.n):
            margin = y * r.s[place[m]]
            loss = asked - margin
            h = &r.halfspaces[n]  # always written, and kept if violated
            h.up, h.down = <int>place[m] if y > 0 else -1, -1 if y > 0 else <int>place[m]
            h.loss, h.part, h.model, h.mistaken = loss, 0, <uint16_t>m, margin <= 0
            n += ((loss > 0) | self.eager) & (not asleep[m])
            loss = max(loss, 0)
            now[m].mistake, now[m].loss, now[m].squared_loss = margin <= 0, loss, loss * loss
        r.n_halfspaces = n
        if self.rest is not None:
            self.rest.constrain(r, own, place, first + self.n, asleep, now)


def list_tasks(tasks):
    """Return the list of the tasks of several models."""
    return (Margins if type(tasks[0]) is Binary else TaskList)(tasks)
