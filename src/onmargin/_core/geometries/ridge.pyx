"""Weights with a full metric: online ridge regression."""

import numpy as np

from onmargin._core.restore import zeros

from libc.math cimport INFINITY
from libc.string cimport memset

from onmargin._core.geometries.geometry cimport Euclidean
from onmargin._core.matrix cimport Matrix, matrix_for, matrix_stride
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, address


cdef class Ridge(Euclidean):
    """Weights whose metric is A, with A^-1 = alpha I + sum of x x' over all rounds, this one included.

    A move of tau is W[:, c] += tau A x. By a step of the residual y - w.x it leads to

        argmin_u  alpha |u|^2 / 2 + sum (y - u.x)^2 / 2,

    the ridge regression on all rounds so far ([PD] sec. 3, follow the regularized leader). All columns share A, which is
    kept by updates of rank one, O(n^2) a round. Weights of examples multiply their squares. With `forgetting` f a round
    counts (1 - f)^s after s others; the diagonal of A grows no larger on average than it was at first.

    With `forecast` scores are those of the ridge regression in which x counts already, with a target of 0: w.x / (1 + q)
    with q = x'Ax before the round (Vovk; Azoury, Warmuth). They are what regret is bounded for.

    The intercept is the weight of one more coordinate of value `bias`, as in plain weights. Rows are dense or sparse, in
    double precision: rounding must not reach the smallest eigenvalues.
    """

    cdef readonly double alpha, forgetting
    cdef readonly bint forecast
    cdef readonly object matrix      # (n_features + 1) x stride, from the diagonal on
    cdef Py_ssize_t size, stride
    cdef const Matrix* primitives
    cdef tuple owners
    cdef double* A
    cdef double* u                   # A x of the round, A being that before or after it
    cdef double* x                   # the row laid out, and the intercept's coordinate
    cdef double q

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0, double alpha=1.0, double forgetting=0.0, bint forecast=False):
        super().__init__(n_features, n_columns, dtype, sparse=sparse, bias=bias, average=average)
        if self.dtype.itemsize != 8 or average:
            raise ValueError("ridge regression needs double precision, and has no averages")
        self.alpha, self.forgetting, self.forecast = alpha, forgetting, forecast
        self.size = n_features + 1
        self.stride = matrix_stride(self.size, 8)
        self.primitives = matrix_for(8)
        raw = zeros(int(self.size) * self.stride + 8)
        first = -raw.ctypes.data % 64 // 8
        self.matrix = raw[first:first + self.size * self.stride].reshape(self.size, self.stride)
        np.fill_diagonal(self.matrix, 1 / alpha)
        self.A = <double*>address(self.matrix, "d", self.matrix.size, writable=True)
        self.owners = np.zeros(self.size), np.zeros(self.size)
        self.u = <double*>address(self.owners[0], "d", self.size, writable=True)
        self.x = <double*>address(self.owners[1], "d", self.size, writable=True)
        self.n_spare = max(self.n_spare, 2 * self.size) if forecast else self.n_spare

    def settings(self):
        options = {"alpha": self.alpha, "forgetting": self.forgetting, "forecast": self.forecast}
        return {**super().settings(), **options}

    def arrays(self):
        return {**self.columns(), "matrix": self.matrix}

    def recombined(self, mixing):
        copy = super().recombined(mixing)
        copy.matrix[...] = self.matrix
        return copy

    def resized(self, Py_ssize_t n_features):
        """A copy with the first features only, or with new ones, which were zero so far."""
        copy = super().resized(n_features)
        full = self.full()
        shared = min(n_features, self.n_features)
        other = np.eye(n_features + 1) / self.alpha
        old, new = [*range(shared), -1], [*range(shared), -1]
        other[np.ix_(new, new)] = full[np.ix_(old, old)]
        copy.matrix[:, :n_features + 1] = np.triu(other)
        return copy

    def full(self):
        """A with both of its halves; the intercept's coordinate is last."""
        upper = np.triu(self.matrix[:, :self.size])
        return upper + np.triu(upper, 1).T

    cdef void lay_out(self, const Row* x, double* out) noexcept nogil:
        cdef const double* values = <const double*>x.values
        cdef Py_ssize_t k
        for k in range(self.size):
            out[k] = 0
        for k in range(x.n):
            out[k if x.indices == NULL else x.indices[k]] = values[k]
        out[self.n_features] = self.bias if self.bias == self.bias else 0

    cdef double product(self, const double* x, double* out) noexcept nogil:
        """out = A x; x'Ax."""
        cdef Py_ssize_t k
        cdef double q = 0
        self.primitives.product(self.A, self.size, self.stride, x, out)
        for k in range(self.size):
            q += x[k] * out[k]
        return q

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t c
        Euclidean.scores(self, r)
        if self.forecast:
            self.lay_out(r.x, self.x)
            self.q = self.product(self.x, self.u) * r.weight
            for c in range(self.n_columns):
                r.s[c] /= 1 + self.q

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Py_ssize_t c
        cdef double q
        Euclidean.mean_scores(self, x, s, spare)
        if self.forecast:
            self.lay_out(x, spare + self.n_scores)
            q = self.product(spare + self.n_scores, spare + self.n_scores + self.size)
            for c in range(self.n_columns):
                s[c] /= 1 + q

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t c, k
        cdef bint known = self.forecast and self.bias == self.bias  # A x, from the scores
        Euclidean.measure(self, r)
        if not known:
            self.lay_out(r.x, self.x)
            self.q = self.product(self.x, self.u) * r.weight
        if not 0 < self.q < INFINITY:
            memset(self.u, 0, self.size * sizeof(double))
            return
        self.primitives.update(self.A, self.size, self.stride, self.u, -r.weight / (1 + self.q))
        for k in range(self.size):
            self.u[k] /= 1 + self.q
        if self.forecast:
            for c in range(self.n_columns):  # from the weights of the rounds before to those of the forecast
                self.shift_column(c, -self.q * r.s[c] * r.weight)
        if self.forgetting > 0:
            self.forget()

    cdef void forget(self) noexcept nogil:
        """A / (1 - f) for the rounds to come, unless its diagonal were larger on average than at first."""
        cdef Py_ssize_t i, j
        cdef double trace = 0, growth = 1 / (1 - self.forgetting)
        for i in range(self.size):
            trace += self.A[i * (self.stride + 1)]
        growth = min(growth, self.size / self.alpha / trace)
        for i in range(self.size):
            for j in range(i, self.size):
                self.A[i * self.stride + j] *= growth

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(r.n_halfspaces):
            r.halfspaces[i].q = 0  # not asked for

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef const HalfSpace* h
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.up >= 0:
                self.shift_column(h.up, h.tau)
            if h.down >= 0:
                self.shift_column(h.down, -h.tau)
        return 0

    cdef void shift_column(self, Py_ssize_t c, double a) noexcept nogil:
        """W[:, c] += a A x."""
        cdef Py_ssize_t j
        cdef double* w = <double*>self.w.W + c * self.w.gap
        for j in range(self.n_features):
            w[j * self.w.stride] += a * self.u[j]
        self.b[c] += a * self.u[self.n_features] * self.x[self.n_features]
