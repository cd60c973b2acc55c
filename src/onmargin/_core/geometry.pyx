"""A geometry holds the weights and moves them."""

import numpy as np

from libc.math cimport isnan, sqrt

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

    scores     s[c] = <W[:, c], x> for every column
    measure    the row is being learned: count it and take its norm, intercept coordinate included
    curvature  the squared length of a half-space's direction
    move       go tau along every violated half-space of the round
    """

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
        return {"clock": self.clock, **{name: getattr(self, name)[..., :self.n_columns].copy() for name in names}}

    def __setstate__(self, state):
        self.clock = state["clock"]
        for name in state.keys() - {"clock"}:
            getattr(self, name)[..., :self.n_columns] = state[name]

    def current(self):
        """The weights of the last round, columns first, as a view; and a copy of the intercepts."""
        return self.weights[:, :self.n_columns].T, self.intercept[:self.n_columns].copy()

    def mean(self):
        """The averaged weights and intercepts, or the current ones as long as averaging has not started."""
        rounds = self.clock - self.average + 1
        if not self.average or rounds < 1:
            return self.current()
        coef = (self.weights - self.lag / rounds)[:, :self.n_columns].T
        return coef, (self.intercept - self.lag_intercept / rounds)[:self.n_columns]

    def recombined(self, mixing):
        """A copy whose columns are combinations of these: column c is sum_k mixing[k, c] times column k."""
        state = self.__getstate__()
        mixed = type(self)(self.n_features, mixing.shape[1], self.dtype, self.bias, self.average)
        for name in state.keys() - {"clock"}:
            state[name] = state[name] @ mixing.astype(state[name].dtype)
        mixed.__setstate__(state)
        return mixed

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
        cdef Py_ssize_t i
        cdef HalfSpace* h
        for i in range(r.n_violated):
            h = &r.violated[i]
            if h.tau > 0:
                self.add(x, h.up, h.down, h.tau)

    cdef void add(self, const Row* x, Py_ssize_t up, Py_ssize_t down, double tau) noexcept nogil:
        cdef Py_ssize_t late = self.clock - self.average
        self.vec.add(x, self.W, self.stride, up, down, tau)
        self.shift(self.b, up, down, tau)
        if self.average and late > 0:
            self.vec.add(x, self.L, self.stride, up, down, tau * late)
            self.shift(self.lb, up, down, tau * late)

    cdef void shift(self, double* b, Py_ssize_t up, Py_ssize_t down, double tau) noexcept nogil:
        """The same move for the intercepts."""
        cdef double change = 0 if isnan(self.bias) else tau * self.bias * self.bias
        if up >= 0:
            b[up] += change
        if down >= 0:
            b[down] -= change
