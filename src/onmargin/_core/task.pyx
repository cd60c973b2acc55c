"""A task turns scores and a target into half-spaces, and scores into a prediction.

`constrain` fills in the half-spaces that the weights violate, the loss of the round and whether it is a mistake;
`decode` predicts from a matrix of scores, one row an example.
"""

import numpy as np

from libc.math cimport fabs


cdef inline void violate(Round* r, Py_ssize_t up, Py_ssize_t down, double loss) noexcept nogil:
    """Add a half-space to the round."""
    cdef HalfSpace* h = &r.violated[r.n_violated]
    h.up = up
    h.down = down
    h.loss = loss
    r.n_violated += 1
    r.loss += loss
    r.squared_loss += loss * loss


cdef class Task:
    """The interface, and how a task without parameters is copied and pickled."""

    cdef void constrain(self, const double* s, Py_ssize_t n_columns, double y, Round* r) noexcept nogil:
        pass

    def __reduce__(self):
        return type(self), ()


cdef class Binary(Task):
    """y in {-1, +1} and one column; loss [1 - y s]_+ ([JMLR] sec. 3). A score of zero is a mistake."""

    cdef void constrain(self, const double* s, Py_ssize_t n_columns, double y, Round* r) noexcept nogil:
        cdef double margin = y * s[0]
        r.mistake = margin <= 0
        if margin < 1:
            violate(r, 0 if y > 0 else -1, -1 if y > 0 else 0, 1 - margin)

    def decode(self, scores):
        return (scores[:, 0] >= 0).astype(np.intp)


cdef class Regression(Task):
    """y real and one column; loss [|y - s| - epsilon]_+ ([JMLR] sec. 5). Outside the tube counts as a mistake."""

    cdef readonly double epsilon

    def __init__(self, double epsilon):
        self.epsilon = epsilon

    def __reduce__(self):
        return type(self), (self.epsilon,)

    cdef void constrain(self, const double* s, Py_ssize_t n_columns, double y, Round* r) noexcept nogil:
        cdef double loss = fabs(y - s[0]) - self.epsilon
        r.mistake = loss > 0
        if loss > 0:
            violate(r, 0 if y > s[0] else -1, -1 if y > s[0] else 0, loss)

    def decode(self, scores):
        return scores[:, 0]


cdef class Multiclass(Task):
    """y a column, one prototype a class; loss [1 - (s_y - max_{r != y} s_r)]_+ ([JMLR] sec. 7, max update)."""

    cdef void constrain(self, const double* s, Py_ssize_t n_columns, double y, Round* r) noexcept nogil:
        cdef Py_ssize_t right = <Py_ssize_t>y
        cdef Py_ssize_t c, rival = 1 if right == 0 else 0
        if n_columns < 2:
            return
        for c in range(rival + 1, n_columns):
            if s[c] > s[rival] and c != right:
                rival = c
        cdef double margin = s[right] - s[rival]
        r.mistake = margin <= 0
        if margin < 1:
            violate(r, right, rival, 1 - margin)

    def decode(self, scores):
        return scores.argmax(axis=1)


cdef class OneVsRest(Multiclass):
    """y a column, each column a binary problem of its own: its class against all others.

    Loss and squared loss are summed over the columns; a mistake is one of the joint prediction.
    """

    cdef void constrain(self, const double* s, Py_ssize_t n_columns, double y, Round* r) noexcept nogil:
        cdef Py_ssize_t c, right = <Py_ssize_t>y
        cdef double margin
        for c in range(n_columns):
            margin = s[c] if c == right else -s[c]
            if margin < 1:
                violate(r, c if c == right else -1, -1 if c == right else c, 1 - margin)
            if c != right and s[right] <= s[c]:
                r.mistake = True
