"""What geometries share whose weights are a link of what was added up ([PD] sec. 4)."""

from functools import partial

import numpy as np

from libc.math cimport INFINITY, fabs

from onmargin._core.geometry cimport Geometry
from onmargin._core.row cimport Row, Vec, address
from onmargin._core.task cimport HalfSpace, Round


cdef extern from "vec.h" nogil:
    const Vec* vec_for(Py_ssize_t itemsize)
    Py_ssize_t vec_padded(Py_ssize_t columns, Py_ssize_t itemsize)


FALL = 1e-6  # of a sum: what is left of one that has fallen so far is not exact


cdef class Additive(Geometry):
    """theta is what was added up; w = grad G(theta), with G a function of S = sum_i f(theta_i).

    So w_i is the slope f'(theta_i) times a factor that all weights share. Slopes are kept beside theta, and S beside
    both: a score is an inner product, and a move touches the non-zeros of its row alone. f and its slope are in units
    of a `level` that follows the largest theta, so that nothing leaves its range; what is too small beside the largest
    to have a number gets it back when that falls, because theta has it.

    `threshold` is taken off every score. Rows are float64.
    """

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, *, double threshold=0.0):
        self.n_features = n_features
        self.n_columns = n_columns
        self.threshold = threshold
        self.dtype = np.dtype(np.float64)
        self.vec = vec_for(8)
        self.n_scores = vec_padded(n_columns, 8) if n_columns > 1 else 1
        self.theta, self.slopes = np.zeros((n_features, self.n_scores)), np.zeros((n_features, self.n_scores))
        self.t = <double*>address(self.theta, "d", self.theta.size, writable=True)
        self.v = <double*>address(self.slopes, "d", self.slopes.size, writable=True)
        self.w.W, self.w.columns, self.w.stride, self.w.gap = self.v, n_columns, self.n_scores, 1
        self.sum_anew()

    def settings(self):
        return {"n_features": self.n_features, "n_columns": self.n_columns, "threshold": self.threshold}

    def __reduce__(self):
        state = {
            "clock": self.clock, "theta": self.theta[:, :self.n_columns], "slopes": self.slopes[:, :self.n_columns],
            "level": self.level, "S": self.S, "highest": self.highest, "touched": self.touched,
        }
        return partial(type(self), **self.settings()), (), state

    def __setstate__(self, state):
        self.theta[:, :self.n_columns], self.slopes[:, :self.n_columns] = state["theta"], state["slopes"]
        self.clock, self.level, self.S = state["clock"], state["level"], state["S"]
        self.highest, self.touched = state["highest"], state["touched"]

    def weights(self):
        """The weights, columns by features; a copy."""
        return (self.factor(self.S, self.level) * self.slopes[:, :self.n_columns]).T

    def mean(self):
        """The weights, and minus the threshold for each column."""
        return self.weights(), np.full(self.n_columns, 0 - self.threshold)

    def alike(self, Py_ssize_t n_columns):
        """A geometry of the same kind with other columns, that has learned nothing."""
        return type(self)(**{**self.settings(), "n_columns": n_columns})

    def recombined(self, mixing):
        """A copy whose theta are combinations of these: column c is sum_k mixing[c, k] times column k."""
        cdef Additive copy = self.alike(len(mixing))
        copy.clock = self.clock
        copy.theta[:, :copy.n_columns] = self.theta[:, :self.n_columns] @ mixing.T
        copy.sum_anew()
        return copy

    # What a kind of geometry is.

    cdef void bend(self, const double* theta, double* slope, Py_ssize_t n, double level) noexcept nogil:
        """The slopes f'(theta)."""
        pass

    cdef double lift(self, const double* theta, const double* slope, Py_ssize_t n, double level) noexcept nogil:
        """The sum of f(theta), given the slopes."""
        return 0

    cdef double factor(self, double S, double level) noexcept nogil:
        """What makes slopes weights."""
        return 1

    cdef double potential(self, double S, double level) noexcept nogil:
        """G, but for a constant."""
        return 0

    cdef double size(self, double low, double high) noexcept nogil:
        """Of the theta between two that has the largest f."""
        return max(fabs(low), fabs(high))

    cdef double level_for(self, double size) noexcept nogil:
        return 1

    cdef double converted(self, double S, double level, double new_level) noexcept nogil:
        """A sum at another level."""
        return S

    cdef bint is_beyond(self, double size, double level) noexcept nogil:
        """Whether f may leave its range."""
        return False

    cdef double curvature(self, const Row* x, bint both) noexcept nogil:
        """A bound on <z, Hess G z> where z is x in one column, or with `both` x in one and -x in another."""
        return 0

    # What all kinds share.

    cdef void sum_anew(self) noexcept nogil:
        """Choose the level by the largest theta, and take all slopes and their sum from theta."""
        cdef Py_ssize_t j, c, k, n
        cdef double low = INFINITY, high = -INFINITY
        for j in range(self.n_features):
            for c in range(self.n_columns):
                low = min(low, self.t[j * self.n_scores + c])
                high = max(high, self.t[j * self.n_scores + c])
        self.level = self.level_for(self.size(low, high)) if high >= low else 1
        self.S, j = 0, 0
        while j < self.n_features:  # a single column stands together; of several, those of a feature do
            n = min(<Py_ssize_t>64, self.n_features - j) if self.n_columns == 1 else self.n_columns
            k = j * self.n_scores
            self.bend(&self.t[k], &self.v[k], n, self.level)
            self.S += self.lift(&self.t[k], &self.v[k], n, self.level)
            j += n if self.n_columns == 1 else 1
        self.highest, self.touched = self.S, 0

    cdef void scores(self, Round* r) noexcept nogil:
        self.mean_scores(r.x, r.s, NULL)
        r.n_scores = self.n_columns

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Py_ssize_t c
        cdef double factor = self.factor(self.S, self.level)
        self.vec.scores(x, &self.w, s)
        for c in range(self.n_columns):
            s[c] = factor * s[c] - self.threshold

    cdef void measure(self, Round* r) noexcept nogil:
        self.norms(r)
        self.clock += 1

    cdef void norms(self, Round* r) noexcept nogil:
        """The square of the largest number; other norms are taken where they matter, since powers are dear."""
        cdef double low = 0, high = 0
        extremes(r.x, &low, &high)
        r.x.squared_norm = max(high, -low) ** 2

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef double one = self.curvature(r.x, False), two = self.curvature(r.x, True) if self.n_columns > 1 else 0
        r.x.squared_norm = one
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.q = two if h.up >= 0 and h.down >= 0 else one

    cdef void look(self, const Row* x, Py_ssize_t column, double a, double* low, double* high) noexcept nogil:
        """Widen [low, high] to hold the theta that a move by a x would touch."""
        cdef Py_ssize_t i
        cdef double theta
        for i in range(x.n if column >= 0 else 0):
            theta = self.t[self.place(x, i, column)] + a * (<double*>x.values)[i]
            low[0], high[0] = min(low[0], theta), max(high[0], theta)

    cdef double rest(self, const Row* x, double S, double touched) noexcept nogil:
        """What a sum has beside the part that a row touches: nothing but rounding, if that is all there is."""
        return 0 if x.n == self.n_features and self.n_columns == 1 else S - touched

    cdef double move(self, const Round* r) noexcept nogil:
        """Answers twice G(theta') - G(theta) - <w, theta' - theta>, which is a squared length for plain weights."""
        cdef Py_ssize_t i, c
        cdef double along = 0, before = self.potential(self.S, self.level)
        cdef const HalfSpace* h
        for c in range(self.n_columns):
            r.change[c] = 0
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.up >= 0:
                r.change[h.up] += h.tau
            if h.down >= 0:
                r.change[h.down] -= h.tau
        for c in range(self.n_columns):
            if r.change[c] != 0:
                along += r.change[c] * (r.s[c] + self.threshold)
                self.shift(r.x, c, r.change[c])
        # What is left of a sum that was much larger is not exact, nor is one of many changes.
        if not self.S > max(FALL * self.highest, 1e-200) or self.touched > 8 * self.n_features * self.n_columns:
            self.sum_anew()
        self.highest = max(self.highest, self.S)
        return 2 * (self.potential(self.S, self.level) - before - along)

    cdef void shift(self, const Row* x, Py_ssize_t column, double a) noexcept nogil:
        """theta += a x in one column."""
        cdef double[64] theta, slope
        cdef Py_ssize_t first, i, k, n
        cdef double low = INFINITY, high = -INFINITY, old = 0, new = 0
        self.look(x, column, a, &low, &high)
        if high < low:
            return
        cdef bint beyond = self.is_beyond(self.size(low, high), self.level)
        for first in range(0, x.n, 64):
            n = min(<Py_ssize_t>64, x.n - first)
            for i in range(n):
                k = self.place(x, first + i, column)
                theta[i], slope[i] = self.t[k], self.v[k]
            old += self.lift(theta, slope, n, self.level)
            for i in range(n):
                theta[i] += a * (<double*>x.values)[first + i]
                self.t[self.place(x, first + i, column)] = theta[i]
            if not beyond:
                self.bend(theta, slope, n, self.level)
                new += self.lift(theta, slope, n, self.level)
                for i in range(n):
                    self.v[self.place(x, first + i, column)] = slope[i]
        self.touched += x.n
        self.S = self.rest(x, self.S, old) + new
        if beyond:
            self.sum_anew()
