"""Probabilities of classes instead of margins."""

import numpy as np

from libc.math cimport exp, log, log1p

from onmargin._core.task cimport Round, Task, demand, suffer

# A class as unlikely as this is left alone: moving it would cost as much as moving a likely one.
cdef double LEAST = 1e-3


cdef class Softmax(Task):
    """y a column, or -1 and +1 with one column; loss -ln p_y with p the softmax of the scores.

    A half-space for each column that the gradient moves, its `loss` being how far: 1 - p_y up, p_c down. A step along
    each by a rate times that descends the gradient.
    """

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef const double* s = r.s
        cdef Py_ssize_t c, n = r.n_scores, right = <Py_ssize_t>r.y[0]
        cdef double top, total = 0, p, margin
        if n == 1:
            margin = r.y[0] * s[0]
            r.mistake = margin <= 0
            p = 1 / (1 + exp(margin)) if margin > -700 else 1  # of the wrong class
            if p > LEAST:
                demand(r, 0 if r.y[0] > 0 else -1, -1 if r.y[0] > 0 else 0, p, r.mistake)
            suffer(r, log1p(exp(-margin)) if margin > 0 else log1p(exp(margin)) - margin)
            return
        top = s[0]
        for c in range(n):
            top = max(top, s[c])
            r.mistake = r.mistake or (c != right and s[right] <= s[c])
        for c in range(n):
            total += exp(s[c] - top)
        for c in range(n):
            p = exp(s[c] - top) / total
            if c == right and 1 - p > LEAST:
                demand(r, c, -1, 1 - p, r.mistake)
            elif c != right and p > LEAST:
                demand(r, -1, c, p, r.mistake)
        suffer(r, log(total) + top - s[right])

    cdef void vote(self, const double* s, Py_ssize_t n, double weight, double* votes) noexcept nogil:
        cdef Py_ssize_t c, best = 0
        if n == 1:
            votes[0] += weight if s[0] >= 0 else -weight
            return
        for c in range(1, n):
            if s[c] > s[best]:
                best = c
        votes[best] += weight

    def decode(self, scores):
        return (scores[:, 0] >= 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
