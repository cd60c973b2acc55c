"""The tasks of several models that learn from the same examples."""

import numpy as np

from libc.math cimport exp, fabs, log1p
from libc.stdint cimport int32_t, uint8_t, uint16_t
from libc.string cimport memset

from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport address
from onmargin._core.several.hedge cimport Hedge
from onmargin._core.several.votes cimport LOSS, SQUARED_LOSS, Votes, votes_for, votes_padded
from onmargin._core.tasks.task import Binary, Indicators, Softmax

cdef const Votes* kernels = votes_for()


# Lists of tasks, steps and geometries are nested one level per model: more levels would fill the stack.
MOST_MODELS = 1000


def check_models(models):
    """Return the parts of models that learn side by side, one per model, as a tuple."""
    found = tuple(models)
    if not 1 <= len(found) <= MOST_MODELS:
        raise ValueError(f"the number of models side by side must be from 1 to {MOST_MODELS}; got {len(found)}")
    return found


cdef class TaskList:
    """A linked list of the tasks of several models, because the loop over rounds has no Python lists.

    The scores s of model m start at s + m * width, and in the round at place[m].
    """

    def __init__(self, tasks):
        self.task = tasks[0]
        self.n = 1
        while self.n < len(tasks) and tasks[self.n] is self.task:
            self.n += 1
        self.rest = TaskList(tasks[self.n:]) if self.n < len(tasks) else None

    cdef void vote(
        self, const double* s, Py_ssize_t first, Py_ssize_t width, const double* p, double* votes
    ) noexcept nogil:
        """Add the votes of the models, from the first on, with weights p."""
        cdef Py_ssize_t m
        for m in range(first, first + self.n):
            if p[m] > 0:
                self.task.vote(s + m * width, width, p[m], votes)
        if self.rest is not None:
            self.rest.vote(s, first + self.n, width, p, votes)

    cdef void constrain(
        self, Round* r, Round* own, const double* s, const Py_ssize_t* place, Py_ssize_t first, Hedge votes
    ) noexcept nogil:
        """Compute half-spaces and outcomes of the awake models, from the first on.

        `own` is a round of one model's scores.
        """
        cdef Py_ssize_t m, i
        cdef HalfSpace* h
        for m in range(first, first + self.n):
            if votes.sleep.awake[m] == 0:
                continue
            own.s = <double*>s + m * own.n_scores
            own.halfspaces = r.halfspaces + r.n_halfspaces
            clear(own)
            self.task.constrain(own)
            for i in range(own.n_halfspaces):
                h = &own.halfspaces[i]
                h.up += <int>place[m] if h.up >= 0 else 0
                h.down += <int>place[m] if h.down >= 0 else 0
                h.model = <uint16_t>m
            r.n_halfspaces += own.n_halfspaces
            votes.record(m, own)
        if self.rest is not None:
            self.rest.constrain(r, own, s, place, first + self.n, votes)


cdef class TwoClasses(TaskList):
    """The same for models of two classes with one score each: `Binary`, `Softmax` and `Indicators`.

    Margins of all models are computed together. There is no branch on the losses, which could not be predicted.
    """

    cdef tuple owners
    cdef double* asked        # margins per class and model
    cdef double* slack        # the loss of the half-space of each model in the round
    cdef double* floor        # half-spaces of larger losses are emitted
    cdef Py_ssize_t* smooth   # the models with `Softmax`, then those with `Indicators`
    cdef Py_ssize_t logistic  # the number of the former
    cdef Py_ssize_t n_smooth  # the number of both
    cdef uint8_t* falls       # whether the score of each model must fall
    cdef bint weighted        # whether the weight of an example acts on the half-spaces (Classes.weigh)

    def __init__(self, tasks):
        self.n = len(tasks)
        cdef Py_ssize_t padded = votes_padded(self.n)
        logistic = [m for m, task in enumerate(tasks) if type(task) is Softmax]
        squared = [m for m, task in enumerate(tasks) if type(task) is Indicators]
        self.weighted = _weighted(tasks[0])
        self.logistic, self.n_smooth = len(logistic), len(logistic) + len(squared)
        self.owners = np.zeros((4, padded)), np.array([*logistic, *squared], dtype=np.intp), np.zeros(padded, np.uint8)
        for m, task in enumerate(tasks):
            if type(task) is Binary:
                self.owners[0][:2, m] = task.margin
                self.owners[0][3, m] = -np.inf if task.eager else 0
        self.owners[0][3, logistic] = [tasks[m].smallest for m in logistic]
        self.owners[0][3, squared] = -np.inf
        self.asked = <double*>address(self.owners[0], "d", 4 * padded, writable=True)
        self.slack, self.floor = self.asked + 2 * padded, self.asked + 3 * padded
        self.smooth = <Py_ssize_t*>address(self.owners[1], "lq", self.n_smooth)
        self.falls = <uint8_t*>address(self.owners[2], "B", padded, writable=True)

    cdef void vote(
        self, const double* s, Py_ssize_t first, Py_ssize_t width, const double* p, double* votes
    ) noexcept nogil:
        votes[0] += kernels.tally(s, p, votes_padded(self.n))

    cdef void constrain(
        self, Round* r, Round* own, const double* s, const Py_ssize_t* place, Py_ssize_t first, Hedge votes
    ) noexcept nogil:
        cdef double y = r.y[0]
        cdef Py_ssize_t m, n = r.n_halfspaces, padded = votes.padded
        cdef bint falls = y <= 0
        cdef int32_t side
        cdef HalfSpace* h
        kernels.margins(s, y, self.asked + (0 if falls else padded), padded, self.slack, votes.now)
        memset(self.falls, falls, self.n)
        self.smooth_losses(s, y, votes.now, padded)
        if self.weighted and r.weight != 1:
            self.weigh(r.weight, self.asked + (0 if falls else padded))
        for m in range(self.n):
            if votes.sleep.awake[m] == 0:
                continue
            h = &r.halfspaces[n]  # always written, and kept if it is needed
            side = -<int32_t>self.falls[m]  # all bits are 1 if the score must fall, otherwise 0
            h.up, h.down = <int32_t>place[m] | side, <int32_t>place[m] | ~side
            h.loss, h.part, h.model, h.mistaken = self.slack[m], 0, <uint16_t>m, votes.now[m] > 0
            n += self.slack[m] > self.floor[m]
        r.n_halfspaces = n

    cdef void weigh(self, double weight, const double* asked) noexcept nogil:
        cdef Py_ssize_t m
        for m in range(self.n):
            if self.slack[m] > 0:
                self.slack[m] += (weight - 1) * min(self.slack[m], asked[m])

    cdef void smooth_losses(self, const double* s, double y, double* now, Py_ssize_t padded) noexcept nogil:
        """Set the losses of models with logistic and with squared losses."""
        cdef Py_ssize_t i, m
        cdef double margin, wrong, loss
        for i in range(self.n_smooth):
            m = self.smooth[i]
            margin = y * s[m]
            if i < self.logistic:
                wrong = exp(-fabs(margin))  # the probability of the less probable class, up to a factor
                loss = log1p(wrong) + max(-margin, 0)
                self.slack[m] = (wrong if margin > 0 else 1) / (1 + wrong)
            else:
                loss = self.slack[m] = fabs(y - s[m])
                self.falls[m] = y <= s[m]
            now[LOSS * padded + m], now[SQUARED_LOSS * padded + m] = loss, loss * loss


def _weighted(task):
    return type(task) is Binary and task.weighted


def list_tasks(tasks, Py_ssize_t width):
    """Return the list of the tasks of several models, each with `width` scores."""
    together = width == 1 and {type(task) for task in tasks} <= {Binary, Softmax, Indicators}
    together = together and len(set(map(_weighted, tasks))) == 1
    return (TwoClasses if together else TaskList)(tasks)
