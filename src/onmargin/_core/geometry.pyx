"""A geometry holds the weights and moves them."""

import numpy as np

from libc.math cimport isnan, sqrt
from libc.string cimport memset

from onmargin._core.row cimport Row, Vec, address
from onmargin._core.task cimport HalfSpace, Round

cdef extern from "vec.h" nogil:
    const Vec* vec_for(Py_ssize_t itemsize)
    Py_ssize_t vec_stride(Py_ssize_t columns, Py_ssize_t itemsize)

# The "auto" intercept coordinate is this part of the norm of the first non-zero row: large enough to be learned quickly,
# too small to dominate the row as a plain 1 does beside unit-norm text.
cdef double AUTO_BIAS = 0.3


cdef class Geometry:
    """The interface.

    scores       s[c] = <W[:, c], x> for every column
    mean_scores  the same with the weights that predict: the averaged ones, if any
    measure      the row is being learned: count it and take its norm, intercept coordinate included
    curvature    the squared length of a half-space's direction
    move         go tau along every violated half-space of the round
    """

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        self.scores(x, s)

    cdef void measure(self, Row* x) noexcept nogil:
        pass

    cdef void scores(self, const Row* x, double* s) noexcept nogil:
        pass

    cdef double curvature(self, const Row* x, const HalfSpace* h) noexcept nogil:
        return 0

    cdef void move(self, const Row* x, const Round* r) noexcept nogil:
        pass


cdef class Euclidean(Geometry):
    """Plain weights, feature-major: W[j] holds feature j's weights, one a column.

    The intercept is the weight of one more coordinate of value `bias`, inside the norm. It is kept in score units
    (bias times the weight), so that it means the same whatever the bias: a move of tau changes it by tau bias^2.

    With `average` the mean of the weights after each round from that one on is kept at the cost of the updates alone. A change d
    made at round s is missing from the first s - average of those T weights, so their mean is W - lag / T with
    lag = sum_s max(s - average, 0) d_s.
    """

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, double bias=0.0, Py_ssize_t average=0):
        self.n_features = n_features
        self.n_columns = n_columns
        self.dtype = np.dtype(dtype)
        self.bias = bias
        self.average = average
        self.vec = vec_for(self.dtype.itemsize)
        self.stride = vec_stride(n_columns, self.dtype.itemsize)
        self.weights, self.intercept = self.blank()
        self.W = <void*>address(self.weights, "fd", n_features * self.stride, writable=True)
        self.b = <double*>address(self.intercept, "d", self.stride, writable=True)
        self.change = np.zeros(self.stride)
        self.t = <double*>address(self.change, "d", self.stride, writable=True)
        if average:
            self.lag, self.lag_intercept = self.blank()
            self.L = <void*>address(self.lag, "fd", n_features * self.stride, writable=True)
            self.lb = <double*>address(self.lag_intercept, "d", self.stride, writable=True)

    def blank(self):
        """Zero weights, each row of them whole cache lines where it can be, and zero intercepts."""
        size = self.n_features * self.stride * self.dtype.itemsize
        raw = np.zeros(size + 64, dtype=np.uint8)
        first = -raw.ctypes.data % 64
        weights = raw[first:first + size].view(self.dtype).reshape(self.n_features, self.stride)
        return weights, np.zeros(self.stride)

    def __reduce__(self):
        return type(self), (self.n_features, self.n_columns, self.dtype, self.bias, self.average), self.__getstate__()

    def __getstate__(self):
        names = ("weights", "intercept", "lag", "lag_intercept") if self.average else ("weights", "intercept")
        return self.clock, {name: getattr(self, name)[..., :self.n_columns].copy() for name in names}

    def __setstate__(self, state):
        self.clock, arrays = state
        for name, array in arrays.items():
            getattr(self, name)[..., :self.n_columns] = array

    def current(self):
        """The weights of the last round, columns first, as a view; and a copy of the intercepts."""
        return self.weights[:, :self.n_columns].T, self.intercept[:self.n_columns].copy()

    def mean(self):
        """The averaged weights and intercepts, or the current ones as long as averaging has not started."""
        rounds = self.clock - self.average + 1
        if not self.average or rounds < 1:
            return self.current()
        coef = (self.weights - self.lag / self.dtype.type(rounds))[:, :self.n_columns].T
        return coef, (self.intercept - self.lag_intercept / rounds)[:self.n_columns]

    def assign(self, coef, intercept):
        """Put these in place of the current weights and intercepts; what was averaged so far is forgotten."""
        self.weights[:, :self.n_columns] = coef.T
        self.intercept[:self.n_columns] = intercept
        if self.average:
            self.lag[:] = 0
            self.lag_intercept[:] = 0

    def recombined(self, mixing):
        """A copy whose columns are combinations of these: column c is sum_k mixing[k, c] times column k."""
        clock, arrays = self.__getstate__()
        copy = type(self)(self.n_features, mixing.shape[1], self.dtype, self.bias, self.average)
        copy.__setstate__((clock, {name: array @ mixing.astype(array.dtype) for name, array in arrays.items()}))
        return copy

    def resized(self, Py_ssize_t n_features):
        """A copy with the first features only, or with new ones of weight zero."""
        cdef Euclidean copy = type(self)(n_features, self.n_columns, self.dtype, self.bias, self.average)
        copy.clock, arrays = self.__getstate__()
        for name, array in arrays.items():
            shared = (slice(min(n_features, self.n_features)), slice(self.n_columns))[2 - array.ndim:]
            getattr(copy, name)[shared] = array[shared]
        return copy

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Py_ssize_t c, rounds = self.clock - self.average + 1
        self.scores(x, s)
        if self.average and rounds > 0:
            self.vec.scores(x, self.L, self.stride, spare)
            for c in range(self.n_columns):
                s[c] -= (spare[c] + self.lb[c]) / rounds

    cdef void measure(self, Row* x) noexcept nogil:
        x.squared_norm = self.vec.squared_norm(x)
        if isnan(self.bias) and x.squared_norm > 0:
            self.bias = AUTO_BIAS * sqrt(x.squared_norm)
        if not isnan(self.bias):
            x.squared_norm += self.bias * self.bias
        self.clock += 1

    cdef void scores(self, const Row* x, double* s) noexcept nogil:
        cdef Py_ssize_t c
        self.vec.scores(x, self.W, self.stride, s)
        for c in range(self.n_columns):
            s[c] += self.b[c]

    cdef double curvature(self, const Row* x, const HalfSpace* h) noexcept nogil:
        return x.squared_norm * ((h.up >= 0) + (h.down >= 0))

    cdef void move(self, const Row* x, const Round* r) noexcept nogil:
        self.shift(x, r, self.W, self.b, 1)
        if self.average and self.clock > self.average:
            self.shift(x, r, self.L, self.lb, self.clock - self.average)

    cdef void shift(self, const Row* x, const Round* r, void* W, double* b, double scale) noexcept nogil:
        """W += scale * (the round's move): column by column, or all at once where that is cheaper."""
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef double tau, squared_bias = 0 if isnan(self.bias) else self.bias * self.bias
        cdef bint at_once = self.stride > 1 and r.n_violated * 8 > self.stride
        if at_once:
            memset(self.t, 0, self.stride * sizeof(double))
        for i in range(r.n_violated):
            h = &r.violated[i]
            tau = scale * h.tau
            if h.up >= 0:
                b[h.up] += tau * squared_bias
            if h.down >= 0:
                b[h.down] -= tau * squared_bias
            if not at_once:
                self.vec.add(x, W, self.stride, h.up, h.down, tau)
                continue
            if h.up >= 0:
                self.t[h.up] += tau
            if h.down >= 0:
                self.t[h.down] -= tau
        if at_once:
            self.vec.add_all(x, W, self.stride, self.t)
