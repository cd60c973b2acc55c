"""Sequences: a label for every row of a trial, in a chain."""

from functools import partial

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from onmargin._core.chain cimport Chain, best_path, most_wrong_path, path_score
from onmargin._core.row cimport address
from onmargin._core.task cimport Round, Task, demand, suffer

# The scores that a half-space of sequences compares are those of two labellings.
cdef enum:
    RIGHT, RIVAL


cdef class Sequence(Task):
    """y a label for each row; the labelling z is predicted whose emissions and transitions sum to most ([JMLR] sec. 9).

    Loss s(q) - s(y) + sqrt(rho(y, q)), where rho(y, z) = sum_i cost[y_i, z_i], or with `squared` its square. q is the
    prediction, or with `max_loss` the labelling of largest loss: with `squared` the root is a sum over the rows, as the
    scores are; otherwise the cost must be 1 for each wrong label. The cost of the round is that of the prediction.
    """

    def __init__(self, cost, *, bint squared=False, bint max_loss=False):
        self.cost = np.ascontiguousarray(cost, dtype=np.float64)
        self.squared = squared
        self.max_loss = max_loss
        self.rho = <const double*>address(self.cost, "d", self.cost.size)

    def __reduce__(self):
        return partial(type(self), self.cost, squared=self.squared, max_loss=self.max_loss), ()

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t scores):
        cdef Py_ssize_t planes = rows * (rows + 1) + 1 if self.max_loss and not self.squared else rows
        self.owners = (
            np.empty(planes * scores),
            np.empty(rows * scores if self.max_loss and self.squared else 0),
            np.empty(2 * rows, np.int32),
        )
        self.work = <double*>address(self.owners[0], "d", self.owners[0].size, writable=True)
        self.augmented = <double*>address(self.owners[1], "d", self.owners[1].size, writable=True)
        self.right = <int32_t*>address(self.owners[2], "i", 2 * rows, writable=True)
        self.predicted = self.right + rows

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef Chain c = Chain(r.s, r.transitions, r.n_rows, r.n_scores, r.stride, r.pace)
        cdef Py_ssize_t i
        cdef double loss
        for i in range(r.n_rows):
            self.right[i] = <int32_t>r.y[i]
        self.choose(&c, r.rival)
        memcpy(self.predicted, r.rival, r.n_rows * sizeof(int32_t))
        if self.is_right(r, r.rival):  # then no other labelling scores as much
            return
        if self.max_loss:
            best_path(&c, self.predicted, self.work)
        r.mistake = not self.is_right(r, self.predicted)
        r.cost = self.cost_of(r, self.predicted)
        loss = path_score(&c, r.rival) - path_score(&c, self.right) + sqrt(self.cost_of(r, r.rival))
        if loss > 0:
            demand(r, RIGHT, RIVAL, loss, r.mistake)
            suffer(r, loss)

    cdef void choose(self, Chain* c, int32_t* rival) noexcept nogil:
        cdef Py_ssize_t i, a
        cdef Chain costly = c[0]
        if not self.max_loss:
            best_path(c, rival, self.work)
        elif not self.squared:
            most_wrong_path(c, self.right, rival, self.work)
        else:
            for i in range(c.length):
                for a in range(c.stride):
                    self.augmented[i * c.stride + a] = c.emissions[i * c.stride + a]
                for a in range(c.labels):
                    self.augmented[i * c.stride + a] += self.rho[self.right[i] * c.labels + a]
            costly.emissions = self.augmented
            best_path(&costly, rival, self.work)

    cdef bint is_right(self, const Round* r, const int32_t* path) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(r.n_rows):
            if path[i] != self.right[i]:
                return False
        return True

    cdef double cost_of(self, const Round* r, const int32_t* path) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(r.n_rows):
            total += self.rho[self.right[i] * r.n_scores + path[i]]
        return total * total if self.squared else total

    def decode(self, scores):
        raise TypeError("labels of a sequence follow from its transitions too: see onmargin._core.chain.decode")
