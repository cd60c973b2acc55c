"""The Euclidean geometry of labellings: weights that emit labels, and weights from one label to the next."""

import numpy as np

from libc.math cimport isnan
from libc.stdint cimport int32_t

from onmargin._core.geometry cimport Euclidean
from onmargin._core.row cimport Weights, address
from onmargin._core.task cimport Round


cdef inline double square_and_clear(double* number) noexcept nogil:
    cdef double square = number[0] * number[0]
    number[0] = 0
    return square


cdef class Paths(Euclidean):
    """Labellings z of the rows of a trial: s(z) = sum_i <W[:, z_i], x_i> + sum_{i > 0} T[z_{i-1}, z_i] ([JMLR] sec. 9).

    That is <w, Phi(x, z)> with w = (W, T). The one half-space of a round is {w : <w, v> >= ...}, v = Phi(x, y) -
    Phi(x, q) being the difference of the right labelling and its rival: only rows that they label differently take
    part, and only steps from label to label that one has and the other has not.
    """

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0):
        super().__init__(n_features, n_columns, dtype, sparse=sparse, bias=bias, average=average)
        self.padded = np.full((n_columns, self.n_scores), -np.inf)
        self.transitions = self.padded[:, :n_columns]
        self.transitions[:] = 0
        self.t = <double*>address(self.padded, "d", self.padded.size, writable=True)
        self.counts = np.zeros((n_columns, n_columns))
        self.n = <double*>address(self.counts, "d", self.counts.size, writable=True)
        if average:
            self.lag_transitions = np.zeros((n_columns, n_columns))
            self.lt = <double*>address(self.lag_transitions, "d", self.lag_transitions.size, writable=True)

    def arrays(self):
        """What is learned, by name."""
        return self.columns() | {name: getattr(self, name) for name in self.tables()}

    def tables(self):
        """The names of what is learned from label to label."""
        return ("transitions", "lag_transitions") if self.average else ("transitions",)

    def recombined(self, mixing):
        """A copy whose labels are combinations of these: label c is sum_k mixing[c, k] times label k."""
        copy = super().recombined(mixing)
        self.hand_over(copy, mixing)
        return copy

    def resized(self, Py_ssize_t n_features):
        """A copy with the first features only, or with new ones of weight zero."""
        copy = super().resized(n_features)
        self.hand_over(copy, np.eye(self.n_columns))
        return copy

    def hand_over(self, copy, mixing):
        """Give a copy its combinations of the transitions."""
        for name in self.tables():
            getattr(copy, name)[:] = mixing @ getattr(self, name) @ mixing.T

    def mean_transitions(self):
        """The averaged transitions, padded as the scores are; the current ones until averaging has started."""
        mean = self.padded.copy()
        rounds = self.clock - self.average + 1
        if self.average and rounds > 0:
            mean[:, :self.n_columns] -= self.lag_transitions / rounds
        return mean

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        self.labels = np.empty(rows, np.int32)
        self.right = <int32_t*>address(self.labels, "i", rows, writable=True)

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(r.n_rows):
            Euclidean.project(self, &r.x[i], &self.w, self.b, r.s + i * self.n_scores)
        r.n_scores = self.n_columns
        r.stride = self.n_scores
        r.transitions = self.t
        r.pace = 0

    cdef void measure(self, Round* r) noexcept nogil:
        """A round of labellings has no norm before there is a rival: `curvatures` gives it to the first row."""
        cdef Py_ssize_t i
        for i in range(r.n_rows):
            if isnan(self.bias):
                self.measure_row(&r.x[i])
            r.x[i].squared_norm = 0
        self.clock += 1

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(r.n_rows):
            self.right[i] = <int32_t>r.y[i]
        r.halfspaces.q = r.x.squared_norm = self.stepped(r) + crossed(
            self.vec, r.x, self.right, r.rival, r.n_rows, self.squared_bias()
        )

    cdef double stepped(self, const Round* r) noexcept nogil:
        """The squared length of the difference in steps from label to label."""
        cdef Py_ssize_t i, k = self.n_columns
        cdef double total = 0
        self.step(r, self.n, k, 1)
        for i in range(1, r.n_rows):
            total += square_and_clear(&self.n[<Py_ssize_t>r.y[i - 1] * k + <Py_ssize_t>r.y[i]])
            total += square_and_clear(&self.n[r.rival[i - 1] * k + r.rival[i]])
        return total

    cdef void step(self, const Round* r, double* T, Py_ssize_t stride, double tau) noexcept nogil:
        """T += tau * (steps of the right labelling - steps of its rival)."""
        cdef Py_ssize_t i
        for i in range(1, r.n_rows):
            T[<Py_ssize_t>r.y[i - 1] * stride + <Py_ssize_t>r.y[i]] += tau
            T[r.rival[i - 1] * stride + r.rival[i]] -= tau

    cdef double move(self, const Round* r) noexcept nogil:
        cdef double tau = r.halfspaces.tau, late = self.clock - self.average
        self.relabel(r, &self.w, self.b, tau)
        self.step(r, self.t, self.n_scores, tau)
        if self.average and late > 0:
            self.relabel(r, &self.l, self.lb, late * tau)
            self.step(r, self.lt, self.n_columns, late * tau)
        return tau * tau * r.halfspaces.q

    cdef void relabel(self, const Round* r, const Weights* w, double* b, double tau) noexcept nogil:
        cdef Py_ssize_t i, up, down
        cdef double change = tau * self.squared_bias()
        for i in range(r.n_rows):
            up, down = <Py_ssize_t>r.y[i], r.rival[i]
            if up != down:
                self.vec.add(&r.x[i], w, up, down, tau)
                b[up] += change
                b[down] -= change
