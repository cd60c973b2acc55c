"""The loop over rounds."""

import numpy as np

from onmargin._core.geometry cimport Geometry
from onmargin._core.row cimport Row, Rows, address
from onmargin._core.step cimport Step
from onmargin._core.task cimport HalfSpace, Round, Task


cdef class Totals:
    """What the rounds so far came to."""

    cdef public long long rounds, mistakes, updates
    cdef public double loss, squared_loss, dual_value, max_squared_norm, cost

    cdef inline void count(self, const Round* r, const Row* x) noexcept nogil:
        self.rounds += 1
        self.mistakes += r.mistake
        self.loss += r.loss
        self.squared_loss += r.squared_loss
        self.cost += r.cost
        self.max_squared_norm = max(self.max_squared_norm, x.squared_norm)

    def __getstate__(self):
        return (self.rounds, self.mistakes, self.updates, self.loss, self.squared_loss, self.dual_value,
                self.max_squared_norm, self.cost)

    def __setstate__(self, state):
        (self.rounds, self.mistakes, self.updates, self.loss, self.squared_loss, self.dual_value,
         self.max_squared_norm, self.cost) = state

    def __reduce__(self):
        return type(self), (), self.__getstate__()


cdef check_fit(Geometry geometry, Rows X):
    if X.n_features != geometry.n_features or X.itemsize != geometry.dtype.itemsize:
        raise ValueError(
            f"rows of {X.n_features} features in {8 * X.itemsize}-bit numbers do not fit weights for "
            f"{geometry.n_features} features in {geometry.dtype}"
        )


def play(Task task, Step step, Geometry geometry, Totals totals, Rows X, y, weight=None, order=None):
    """Learn the rows of X in the given order (None: as they come); `weight` scales C row by row, 0 skips a row."""
    check_fit(geometry, X)
    scores = np.empty(geometry.n_scores)
    halfspaces = np.empty(geometry.n_columns * sizeof(HalfSpace), np.uint8)  # no task violates more than one a column
    cdef Py_ssize_t t, i, n = X.n_rows if order is None else len(order)
    cdef double* target = <double*>address(y, "d", X.n_rows)
    cdef double* weights = NULL if weight is None else <double*>address(weight, "d", X.n_rows)
    cdef Py_ssize_t* sequence = NULL if order is None else <Py_ssize_t*>address(order, "lq", n)
    cdef double* s = <double*>address(scores, "d", scores.size, writable=True)
    cdef double w = 1, gain
    cdef Row x
    cdef Round r
    r.violated = <HalfSpace*>address(halfspaces, "B", halfspaces.size, writable=True)
    with nogil:
        for t in range(n):
            i = t if sequence == NULL else sequence[t]
            if weights != NULL:
                w = weights[i]
                if w == 0:
                    continue
            X.row(i, &x)                                                  # receive x_t
            geometry.scores(&x, s)                                        # predict
            geometry.measure(&x)
            r.n_violated = r.mistake = 0
            r.loss = r.squared_loss = r.cost = 0
            task.constrain(s, geometry.n_columns, target[i], &r)          # receive y_t, suffer the loss
            if r.n_violated > 0:                                          # otherwise passive
                gain = step.solve(&r, &x, geometry, w)
                if gain > 0:                                              # aggressive
                    totals.updates += 1
                    totals.dual_value += gain - geometry.move(&x, &r) / 2
            totals.count(&r, &x)


def score(Geometry geometry, Rows X, out):
    """Fill `out`, rows of X by scores of the geometry, with the scores that predict."""
    check_fit(geometry, X)
    scratch = np.empty(geometry.n_scores)
    cdef Py_ssize_t i, n_scores = geometry.n_scores
    cdef double* s = <double*>address(out, "d", X.n_rows * n_scores, writable=True)
    cdef double* spare = <double*>address(scratch, "d", n_scores, writable=True)
    cdef Row x
    with nogil:
        for i in range(X.n_rows):
            X.row(i, &x)
            geometry.mean_scores(&x, s + i * n_scores, spare)
