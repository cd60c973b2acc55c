"""Weights that are a link of a sum: entropic, balanced entropic and p-norm ([PD] sec. 4; [NIPS]; [SIMPROJ])."""

from functools import partial

import numpy as np

from onmargin._core.restore import fill, number, whole, whole_size, zeros

from libc.math cimport INFINITY, exp, fabs, frexp, ldexp, log, pow, sinh, sqrt

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, address, vec_for, vec_padded


FALL = 1e-6  # a sum that has fallen to this fraction is no longer exact


cdef class Additive(Geometry):
    """Weights w = grad G(theta), where theta is the sum of the updates and G a function of S = sum_i f(theta_i).

    So w_i is the slope f'(theta_i) times a factor that all weights share. Slopes are stored next to theta, and S next
    to both: a score is an inner product, and a move touches only the non-zeros of its row. f and its slope are in units
    of a `level` that follows the largest theta, so that nothing overflows; a weight that underflows next to the largest
    one comes back when that falls, because theta has it.

    `threshold` is subtracted from every score. Rows are float64.
    """

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, *, double threshold=0.0):
        self.n_features = whole_size(n_features, "n_features")
        self.n_columns = whole_size(n_columns, "n_columns", least=1)
        self.threshold = threshold
        self.dtype = np.dtype(np.float64)
        self.vec = vec_for(8)
        self.n_scores = vec_padded(n_columns, 8) if n_columns > 1 else 1
        self.theta, self.slopes = zeros((n_features, self.n_scores)), zeros((n_features, self.n_scores))
        self.t = <double*>address(self.theta, "d", self.theta.size, writable=True)
        self.v = <double*>address(self.slopes, "d", self.slopes.size, writable=True)
        self.w.W, self.w.columns, self.w.stride, self.w.gap = self.v, n_columns, self.n_scores, 1
        self.sum_anew()

    @property
    def cannot_mix(self):
        return "the mean of weights in this geometry is not in the geometry"

    def settings(self):
        return {"n_features": self.n_features, "n_columns": self.n_columns, "threshold": self.threshold}

    def __reduce__(self):
        state = {
            "clock": self.clock, "theta": self.theta[:, :self.n_columns], "slopes": self.slopes[:, :self.n_columns],
            "level": self.level, "S": self.S, "highest": self.highest, "touched": self.touched,
        }
        return partial(type(self), **self.settings()), (), state

    def __setstate__(self, state):
        fill(self.theta[:, :self.n_columns], state, "theta")
        fill(self.slopes[:, :self.n_columns], state, "slopes")
        self.clock, self.touched = whole(state["clock"], "clock"), whole(state["touched"], "touched")
        self.level = number(state["level"], "level")
        self.S, self.highest = number(state["S"], "S", least=0), number(state["highest"], "highest", least=0)

    def weights(self):
        """Return a copy of the weights, columns by features."""
        return (self.factor(self.S, self.level) * self.slopes[:, :self.n_columns]).T

    def mean(self):
        """Return the weights, and minus the threshold for each column."""
        return self.weights(), np.full(self.n_columns, 0 - self.threshold)

    def alike(self, Py_ssize_t n_columns):
        """Return an untrained geometry of the same kind with other columns.

        Only a single column has a threshold: a threshold that all columns share would change no decision.
        """
        threshold = self.threshold if n_columns == 1 else 0.0
        return type(self)(**{**self.settings(), "n_columns": n_columns, "threshold": threshold})

    def recombine(self, column_map):
        """Return a copy with new columns of theta, as a `ColumnMap` makes them of those of this geometry."""
        cdef Additive copy = self.alike(len(column_map))
        if column_map.factor.tolist() == [-1]:  # sums over the opposite of theta stay as they are
            copy.__setstate__(self.__reduce__()[2])
            for array in (copy.theta, copy.slopes):
                np.negative(array, out=array)
            return copy
        copy.clock = self.clock
        copy.theta[:, :copy.n_columns] = column_map.of(self.theta[:, :self.n_columns])
        copy.sum_anew()
        return copy

    # Methods that define a geometry.

    cdef void bend(self, const double* theta, double* slope, Py_ssize_t n, double level) noexcept nogil:
        """Compute the slopes f'(theta)."""
        pass

    cdef double lift(self, const double* theta, const double* slope, Py_ssize_t n, double level) noexcept nogil:
        """Return the sum of f(theta), given the slopes."""
        return 0

    cdef double factor(self, double S, double level) noexcept nogil:
        """Return the factor that turns slopes into weights."""
        return 1

    cdef double potential(self, double S, double level) noexcept nogil:
        """Return G up to a constant."""
        return 0

    cdef double size(self, double low, double high) noexcept nogil:
        """Return the theta between two values that has the largest f."""
        return max(fabs(low), fabs(high))

    cdef double level_for(self, double size) noexcept nogil:
        return 1

    cdef double converted(self, double S, double level, double new_level) noexcept nogil:
        """Return a sum in units of another level."""
        return S

    cdef bint is_beyond(self, double size, double level) noexcept nogil:
        """Return whether f may overflow."""
        return False

    cdef double curvature(self, const Row* x, bint both) noexcept nogil:
        """Return a bound on <z, Hess G z>, where z is x in one column, or with `both` x in one and -x in another."""
        return 0

    # Methods that all geometries share.

    cdef void sum_anew(self) noexcept nogil:
        """Choose the level by the largest theta, and recompute all slopes and their sum from theta."""
        cdef Py_ssize_t j, c, k, n
        cdef double low = INFINITY, high = -INFINITY
        for j in range(self.n_features):
            for c in range(self.n_columns):
                low = min(low, self.t[j * self.n_scores + c])
                high = max(high, self.t[j * self.n_scores + c])
        self.level = self.level_for(self.size(low, high)) if high >= low else 1
        self.S, j = 0, 0
        while j < self.n_features:  # a single column is contiguous; with several, the columns of a feature are
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
        """Set the square of the largest value; other norms are computed on demand, since powers are expensive."""
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

    cdef void find_range(self, const Row* x, Py_ssize_t column, double a, double* low, double* high) noexcept nogil:
        """Widen [low, high] to hold the theta that a move by a x would touch."""
        cdef Py_ssize_t i
        cdef double theta
        for i in range(x.n if column >= 0 else 0):
            theta = self.t[self.place(x, i, column)] + a * (<double*>x.values)[i]
            low[0], high[0] = min(low[0], theta), max(high[0], theta)

    cdef double rest(self, const Row* x, double S, double touched) noexcept nogil:
        """Return the rest of a sum without the part of a row; only rounding errors may be left."""
        return 0 if x.n == self.n_features and self.n_columns == 1 else S - touched

    cdef double move(self, const Round* r) noexcept nogil:
        """Return twice G(theta') - G(theta) - <w, theta' - theta>, the squared length of a move for plain weights."""
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
        # The rest of a sum that was much larger is not exact, nor is a sum after many changes.
        if not self.S > max(FALL * self.highest, 1e-200) or self.touched > 8 * self.n_features * self.n_columns:
            self.sum_anew()
        self.highest = max(self.highest, self.S)
        return 2 * (self.potential(self.S, self.level) - before - along)

    cdef void shift(self, const Row* x, Py_ssize_t column, double a) noexcept nogil:
        """theta += a x in one column."""
        cdef double[64] theta, slope
        cdef Py_ssize_t first, i, k, n
        cdef double low = INFINITY, high = -INFINITY, old = 0, new = 0
        self.find_range(x, column, a, &low, &high)
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


cdef class Searching(Additive):
    """Find the step along a half-space at which its loss is zero, by a search that touches the non-zeros of its row.

    The sum has the part of the row and the rest. The row's part is summed at every step of the search;
    the rest is the old sum minus the row's old part. If the row holds nearly all of the sum, only rounding
    errors are left of that difference, which does no harm as long as the new sum is of the size of the old one. Where
    it falls far below, the rest is summed once over all features.
    """

    cdef double line_search(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        """Return argmax_{0 <= a <= cap} of the dual along a half-space, where its loss is zero ([PD] eq. 32).

        The remaining loss falls as a grows and is positive before loss / curvature: bracket the root from
        there, then use false position.
        """
        # The quotient may underflow, and zero times any factor is zero.
        cdef double low = 0, at_low = h.loss, high = min(cap, max(h.loss / h.q, 5e-324)), at_high, a, at_a
        cdef Py_ssize_t step
        self.set_apart(r.x, h)
        at_high = self.left_at(r, h, high)
        while at_high > 0 and high < cap:
            if high > 1e300:
                return 0  # no step reaches it
            low, at_low, high = high, at_high, min(cap, 4 * high)
            at_high = self.left_at(r, h, high)
        if at_high >= 0:
            return high
        for step in range(400):
            # Every third step is a bisection.
            a = low + (high - low) * (0.5 if step % 3 == 2 else at_low / (at_low - at_high))
            at_a = self.left_at(r, h, a)
            if at_a >= 0:
                low, at_low = a, at_a
            else:
                high, at_high = a, at_a
            if high - low <= 1e-15 * high or at_a == 0:
                break
        return low

    cdef double left_at(self, const Round* r, const HalfSpace* h, double a) noexcept nogil:
        """Return the remaining loss of a half-space at theta + a z."""
        cdef double low = INFINITY, high = -INFINITY, size, along
        self.find_range(r.x, h.up, a, &low, &high)
        self.find_range(r.x, h.down, -a, &low, &high)
        size = self.size(low, high)
        if not (
            not self.is_beyond(size, self.level) and self.score_at(r.x, h, a, self.level, &along)
            or self.score_at(r.x, h, a, max(self.level_for(size), self.beside_level), &along)
        ):
            along = 0  # theta is zero there, and so are the weights
        if h.up >= 0:
            along -= r.s[h.up] + self.threshold
        if h.down >= 0:
            along += r.s[h.down] + self.threshold
        return h.loss - along

    cdef bint score_at(self, const Row* x, const HalfSpace* h, double a, double level, double* along) noexcept nogil:
        """Compute <z, w> at theta + a z in units of a level; return whether that is in range."""
        cdef double S, touched = 0
        along[0] = self.tally(x, h.up, a, level, &touched) - self.tally(x, h.down, -a, level, &touched)
        S = touched + self.converted(self.beside, self.beside_level, level)
        if not self.exact and S <= max(FALL * self.converted(self.highest, self.level, level), 1e-250):
            self.sum_beside(x, h)
            S = touched + self.converted(self.beside, self.beside_level, level)
        along[0] *= self.factor(S, level)
        return 1e-250 < S < INFINITY

    cdef void set_apart(self, const Row* x, const HalfSpace* h) noexcept nogil:
        """Return the rest of the sum without the features of a half-space: a difference, if that is exact enough."""
        cdef double touched = 0
        self.tally(x, h.up, 0, self.level, &touched)
        self.tally(x, h.down, 0, self.level, &touched)
        self.beside, self.beside_level, self.exact = self.S - touched, self.level, False

    cdef void sum_beside(self, const Row* x, const HalfSpace* h) noexcept nogil:
        """Sum the same from scratch at the level of its largest theta; it dominates where the row's part falls."""
        cdef Py_ssize_t j, c, i, k, turn
        cdef double low = INFINITY, high = -INFINITY, slope
        self.beside, self.exact = 0, True
        for turn in range(2):  # the level in the first pass, the sum in the second
            i = 0
            for j in range(self.n_features):
                while x.indices != NULL and i < x.n and x.indices[i] < j:
                    i += 1
                for c in range(self.n_columns):
                    if (c == h.up or c == h.down) and (x.indices == NULL or i < x.n and x.indices[i] == j):
                        continue
                    k = j * self.n_scores + c
                    if turn == 0:
                        low, high = min(low, self.t[k]), max(high, self.t[k])
                    else:
                        self.bend(&self.t[k], &slope, 1, self.beside_level)
                        self.beside += self.lift(&self.t[k], &slope, 1, self.beside_level)
            self.beside_level = self.level_for(self.size(low, high))
        if self.beside == 0:
            self.beside_level = -INFINITY  # empty rest: any level works

    cdef double tally(self, const Row* x, Py_ssize_t column, double a, double level, double* S) noexcept nogil:
        """Return <x, slopes> after a move by a x in one column; add the column's new part of the sum to S."""
        cdef double[64] theta, slope
        cdef Py_ssize_t first, i, n, stop = x.n if column >= 0 else 0
        cdef double total = 0
        for first in range(0, stop, 64):
            n = min(<Py_ssize_t>64, x.n - first)
            for i in range(n):
                theta[i] = self.t[self.place(x, first + i, column)] + a * (<double*>x.values)[first + i]
            self.bend(theta, slope, n, level)
            S[0] += self.lift(theta, slope, n, level)
            for i in range(n):
                total += (<double*>x.values)[first + i] * slope[i]
        return total


cdef class Entropic(Searching):
    """Weights on the simplex, w_i = exp(theta_i) / sum_j exp(theta_j): G = ln(sum exp(theta) / n).

    The level is a theta itself: f(theta) = exp(theta - level).
    """

    @property
    def symmetric(self):
        return False

    @property
    def half(self):
        raise ValueError(
            "two classes have one vector of weights on the simplex, which cannot become three: name all classes with "
            "classes= in the first call of partial_fit, or set balanced=True"
        )

    def resize(self, Py_ssize_t n_features):
        raise ValueError(
            f"weights on the simplex start at 1 / n_features, so their number cannot change: they are for "
            f"{self.n_features} features; got {n_features}"
        )

    cdef void bend(self, const double* theta, double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            slope[i] = exp(theta[i] - level)

    cdef double lift(self, const double* theta, const double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(n):
            total += slope[i]
        return total

    cdef double factor(self, double S, double level) noexcept nogil:
        return 1 / S if S > 0 else 0

    cdef double potential(self, double S, double level) noexcept nogil:
        return log(S) + level

    cdef double size(self, double low, double high) noexcept nogil:
        return high

    cdef double level_for(self, double size) noexcept nogil:
        return size

    cdef double converted(self, double S, double level, double new_level) noexcept nogil:
        return S * exp(level - new_level) if S != 0 and level != new_level else S

    cdef bint is_beyond(self, double size, double level) noexcept nogil:
        return size > level + 600

    cdef void norms(self, Round* r) noexcept nogil:
        """A row of equal values moves nothing, like a zero row."""
        Additive.norms(self, r)
        if self.curvature(r.x, False) == 0:
            r.x.squared_norm = 0

    cdef double curvature(self, const Row* x, bint both) noexcept nogil:
        """Return (max z - min z)^2 / 4, zeros of z included."""
        cdef bint has_zeros = x.n < self.n_features or self.n_columns > 1
        cdef double low = 0 if has_zeros else INFINITY, high = 0 if has_zeros else -INFINITY
        extremes(x, &low, &high)
        if both:
            return max(high, -low) ** 2
        return (high - low) ** 2 / 4 if high > low else 0

    cdef double line_search(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        """In closed form for rows of -1, 0 and 1 ([SIMPROJ] App. C, E13): ln of the root of a quadratic equation."""
        cdef double up = 0, down = 0, rest, gamma, beta
        cdef Py_ssize_t i
        for i in range(r.x.n):
            if fabs((<double*>r.x.values)[i]) != 1 and (<double*>r.x.values)[i] != 0:
                return Searching.line_search(self, r, h, cap)
        self.weigh(r.x, h.up, 1, &up, &down)
        self.weigh(r.x, h.down, -1, &up, &down)
        gamma, rest = h.loss + up - down, 1 - up - down  # the required score
        beta = sqrt(gamma * gamma * rest * rest + 4 * (1 - gamma * gamma) * up * down) if gamma < 1 else 0
        if gamma < 0:
            beta = 2 * (1 + gamma) * down / (beta - gamma * rest)
        elif gamma < 1 and up > 0:
            beta = (beta + gamma * rest) / (2 * (1 - gamma) * up)
        else:
            return cap if cap < INFINITY else 0  # cannot be reached
        return max(min(cap, log(beta)), 0)

    cdef void weigh(self, const Row* x, Py_ssize_t column, double sign, double* up, double* down) noexcept nogil:
        """Sum the weights that a move along the row raises and those that it lowers."""
        cdef Py_ssize_t i
        cdef double value
        for i in range(x.n if column >= 0 else 0):
            value = (<double*>x.values)[i] * sign
            if value > 0:
                up[0] += self.v[self.place(x, i, column)] / self.S
            elif value < 0:
                down[0] += self.v[self.place(x, i, column)] / self.S


cdef class Balanced(Entropic):
    """Signed weights of total size 1: the entropic geometry over features (x, -x), w_i = sinh(theta_i) / sum_j cosh."""

    @property
    def symmetric(self):
        return True

    @property
    def half(self):
        return 1.0  # it keeps the sign of the margin: weights are proportional to sinh(theta)

    cdef void bend(self, const double* theta, double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        cdef double unit = exp(-level)
        for i in range(n):
            if fabs(theta[i]) < 1:  # the difference of two exponentials would lose digits here
                slope[i] = sinh(theta[i]) * unit
            else:
                slope[i] = (exp(theta[i] - level) - exp(-theta[i] - level)) / 2

    cdef double lift(self, const double* theta, const double* slope, Py_ssize_t n, double level) noexcept nogil:
        """Return cosh(theta), by cosh^2 = 1 + sinh^2."""
        cdef Py_ssize_t i
        cdef double total = 0, unit = exp(-level)
        for i in range(n):
            total += sqrt(slope[i] * slope[i] + unit * unit)
        return total

    cdef double size(self, double low, double high) noexcept nogil:
        return max(fabs(low), fabs(high))

    cdef bint is_beyond(self, double size, double level) noexcept nogil:
        """Squares of slopes must not overflow."""
        return size > level + 300

    cdef double line_search(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        return Searching.line_search(self, r, h, cap)

    cdef double curvature(self, const Row* x, bint both) noexcept nogil:
        cdef double low = 0, high = 0
        extremes(x, &low, &high)
        return max(high, -low) ** 2


cdef class PNorm(Searching):
    """w_i = sign(theta_i) |theta_i|^(p - 1) / |theta|_p^(p - 2): G = |theta|_p^2 / 2. p = 2 is Euclidean.

    The level is a size, and a power of two, so that p = 2 changes nothing but exponents: f(theta) = |theta / level|^p.
    """

    cdef readonly double p
    cdef double range  # range of |theta| / level in which powers do not overflow

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, double p, *, double threshold=0.0):
        self.p = p
        self.range = pow(2, 800 / p)
        super().__init__(n_features, n_columns, threshold=threshold)

    @property
    def half(self):
        return 2 ** (-2 / self.p)  # the link of (-h theta, h theta) is 2^(2/p) h times that of theta

    def settings(self):
        return {**super().settings(), "p": self.p}

    def resize(self, Py_ssize_t n_features):
        """Return a copy with new features of weight zero, which add nothing to the norm of theta."""
        cdef PNorm copy = type(self)(**{**self.settings(), "n_features": n_features})
        copy.theta[:self.n_features], copy.slopes[:self.n_features] = self.theta, self.slopes
        copy.clock, copy.level, copy.S = self.clock, self.level, self.S
        copy.highest, copy.touched = self.highest, self.touched
        return copy

    def __setstate__(self, state):
        number(state["level"], "level", least=5e-324)  # a power of two, which may be subnormal
        Searching.__setstate__(self, state)

    cdef void bend(self, const double* theta, double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        cdef double size, power = self.p - 1
        for i in range(n):
            size = fabs(theta[i]) / level
            size = size if power == 1 else pow(size, power) if size > 0 else 0
            slope[i] = size if theta[i] >= 0 else -size

    cdef double lift(self, const double* theta, const double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(n):
            total += theta[i] / level * slope[i]
        return total

    cdef double factor(self, double S, double level) noexcept nogil:
        return level * (1 if self.p == 2 else pow(S, 2 / self.p - 1) if S > 0 else 0)

    cdef double potential(self, double S, double level) noexcept nogil:
        return level * level * pow(S, 2 / self.p) / 2 if S > 0 else 0

    cdef double level_for(self, double size) noexcept nogil:
        cdef int exponent = 0
        if size > 0:
            frexp(size, &exponent)
        return ldexp(1, exponent)

    cdef double converted(self, double S, double level, double new_level) noexcept nogil:
        return S * pow(level / new_level, self.p) if S != 0 and level != new_level else S

    cdef bint is_beyond(self, double size, double level) noexcept nogil:
        return size > level * self.range

    cdef double curvature(self, const Row* x, bint both) noexcept nogil:
        """Return (p - 1) |z|_p^2."""
        cdef Py_ssize_t i
        cdef double low = 0, high = 0, largest, total = 0
        extremes(x, &low, &high)
        largest = max(high, -low)
        if largest == 0:
            return 0
        for i in range(x.n):
            total += pow(fabs((<double*>x.values)[i]) / largest, self.p)
        return (self.p - 1) * largest * largest * pow((2 if both else 1) * total, 2 / self.p)
