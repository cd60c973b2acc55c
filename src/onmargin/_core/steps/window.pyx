"""Dual ascent over the last examples of a stream ([PD] sec. 5.2)."""

import numpy as np

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from onmargin._core.geometries.geometry cimport Columns, Geometry
from onmargin._core.geometries.kernel cimport Expansion
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Rows, Vec, Weights, address, vec_for
from onmargin._core.steps.simultaneous cimport Scheme
from onmargin._core.steps.simultaneous import Sopopo
from onmargin._core.steps.step cimport Step


ACCURACY = 1e-12  # relative accuracy of the gain of a round, and of a margin
FLAT = 1e-10      # of a row's squared norm: a rest this small, besides the rows before it, is rounding
MOST_SWEEPS = 1000  # of a round without a number of sweeps
cdef double MOST_SQUARES = 1e290  # of the length of a change: longer ones are not made, as in `step.pyx`


cdef inline bint fits(double step, double q) noexcept nogil:
    """Return whether a change by a multiple of a row, whose squared norm is q, leaves the weights finite."""
    return step * (step * q) < MOST_SQUARES


cdef class Window(Step):
    """Rounds that maximize the dual over the variables of the last `window` examples.

    max margin sum_ir alpha_ir - G(theta), theta = sum_ir alpha_ir z_ir, alpha_ir >= 0, sum_r alpha_ir <= C, where z_ir
    is x_i in the right column minus x_i in that of a rival r; two classes have one column and one variable per example,
    and z is y_i x_i. Examples are visited from the newest to the oldest, `sweeps` times, or with 0 until
    there is no gain. Variables that leave the window do not change any more.

    Examples are the rows of X, in their order, from row `now` on; those before it were learned. `weight` has the
    factors on their C, and `alpha` the variables of the last examples, that of row i at i modulo its length: one per
    column, zero for the right column. It is updated.
    """

    def __init__(
        self, Rows X, y, weight, Py_ssize_t now, alpha, *, double C, double margin, Py_ssize_t window, Py_ssize_t sweeps
    ):
        self.owners = (y, weight, alpha)
        self.X, self.now, self.C, self.margin, self.window, self.sweeps = X, now, C, margin, window, sweeps
        self.held, self.n_columns = alpha.shape
        self.y = <double*>address(y, "d", X.n_rows)
        self.weight = <double*>address(weight, "d", X.n_rows)
        self.alpha = <double*>address(alpha, "d", self.held * self.n_columns, writable=True)
        self.eager = True

    def __reduce__(self):
        raise TypeError("a window over rows cannot be copied: every call creates a new one")

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        """Move the weights variable by variable, and leave no half-space to the geometry."""
        cdef Py_ssize_t i, _sweep
        cdef double total = 0, gained
        self.receive(r)
        r.n_halfspaces = 0
        for _sweep in range(self.sweeps if self.sweeps > 0 else MOST_SWEEPS):
            gained = 0
            for i in range(self.now, self.first() - 1, -1):
                gained += self.improve(i, geometry)
            total += gained
            if not gained > ACCURACY * total:  # also stops at NaN
                break
        self.now += 1
        return total

    cdef void receive(self, const Round* r) noexcept nogil:
        """Start a round: the newest example has no variables yet, and its memory is used for the others."""
        memset(self.variables(self.now), 0, self.n_columns * sizeof(double))
        self.r = r[0]
        self.r.x = &self.x
        self.origin = r.t - self.now

    cdef double improve(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """Maximize the dual over the variables of one example; return the gain."""
        cdef double cap = self.C * self.weight[i]
        if cap == 0:
            return 0
        self.take(i)
        if self.n_columns == 1:
            return self.improve_one(i, geometry, cap)
        return self.improve_rivals(i, geometry, cap)

    cdef double improve_one(self, Py_ssize_t i, Geometry geometry, double cap) noexcept nogil:
        cdef double loss, gained
        cdef double* alpha = self.variables(i)
        cdef HalfSpace* h = self.r.halfspaces
        cdef bint more
        geometry.scores(&self.r)
        loss = self.margin - self.y[i] * self.r.s[0]
        more = loss > 0
        cap = cap - alpha[0] if more else alpha[0]
        if cap <= 0 or loss == 0:
            return 0
        h.up, h.down = (0, -1) if (self.y[i] > 0) == more else (-1, 0)
        h.loss = fabs(loss)
        gained = self.go(geometry, cap)
        alpha[0] += h.tau if more else -h.tau
        return gained

    cdef double improve_rivals(self, Py_ssize_t i, Geometry geometry, double cap) noexcept nogil:
        """Distribute C: each rival has alpha_r and the right column the rest. As long as the dual increases,
        the column with the largest gain takes from the one with the smallest loss."""
        cdef double total = 0, available
        cdef double* alpha = self.variables(i)
        cdef HalfSpace* h = self.r.halfspaces
        cdef Py_ssize_t _step, right = <Py_ssize_t>self.y[i]
        for _step in range(MOST_SWEEPS):
            geometry.scores(&self.r)
            available = self.choose(i, self.r.s, cap, h)
            if available == 0:
                break
            total += self.go(geometry, available)
            if h.tau == 0:
                break
            if h.up != right:
                alpha[h.up] -= h.tau
            if h.down != right:
                alpha[h.down] += h.tau
        return total

    cdef double go(self, Geometry geometry, double cap) noexcept nogil:
        """Move along the half-space to the maximum, at most `cap`; return the gain."""
        cdef HalfSpace* h = self.r.halfspaces
        self.r.n_halfspaces = 1
        h.tau = 0
        geometry.norms(&self.r)
        geometry.curvatures(&self.r)
        if not 0 < h.q < INFINITY:
            return 0
        h.tau = geometry.line_search(&self.r, h, cap)
        if not 0 < h.tau < INFINITY or not fits(h.tau, h.q):
            h.tau = 0
            return 0
        return h.tau * h.loss - geometry.move(&self.r) / 2

    cdef double choose(self, Py_ssize_t i, const double* s, double cap, HalfSpace* h) noexcept nogil:
        """Find which column should take from which, and the gain; return how much there is to take, 0 if none should.

        A share of column r gains its score, and the margin if it is a rival: margin - (s_y - s_r), up to a constant.
        """
        cdef Py_ssize_t c, right = <Py_ssize_t>self.y[i]
        cdef double* alpha = self.variables(i)
        cdef double rest = cap, most = s[right], least, gain
        for c in range(self.n_columns):
            rest -= alpha[c]
        if rest <= 1e-15 * cap:  # only a rounding error is left
            rest = 0
        least = s[right] if rest > 0 else INFINITY
        h.up = h.down = <int32_t>right
        for c in range(self.n_columns):
            if c == right:
                continue
            gain = s[c] + self.margin
            if gain > most:
                most, h.down = gain, <int32_t>c
            if alpha[c] > 0 and gain < least:
                least, h.up = gain, <int32_t>c
        h.loss = most - least
        if not h.loss > ACCURACY * (self.margin + fabs(most) + fabs(least)):
            return 0
        return rest if h.up == right else alpha[h.up]


cdef Py_ssize_t solve_where_curved(double* H, double* d, Py_ssize_t m) noexcept nogil:
    """Maximize d x - x H x / 2 over the variables whose rows of H are independent of those before them, and leave
    the others at zero: d <- x. Return the one of the others along which the value grows fastest, or -1.

    The lower half of H is given; its Cholesky factor L replaces it, with a zero on the diagonal for each of
    the others.
    """
    cdef Py_ssize_t i, j, k, steepest = -1
    cdef double rest, most = -1
    for j in range(m):
        for i in range(j, m):
            rest = H[i * m + j]
            for k in range(j):
                rest -= H[i * m + k] * H[j * m + k]
            if i == j:
                H[j * m + j] = sqrt(rest) if rest > FLAT * H[j * m + j] else 0
            else:
                H[i * m + j] = rest / H[j * m + j] if H[j * m + j] > 0 else 0
    for i in range(m):
        for k in range(i):
            d[i] -= H[i * m + k] * d[k]
        if H[i * m + i] > 0:
            d[i] /= H[i * m + i]
        else:
            if fabs(d[i]) > most:
                most, steepest = fabs(d[i]), i
            d[i] = 0
    solve_upper(H, d, m, m)
    return steepest


cdef void find_flat(const double* L, double* d, Py_ssize_t m, Py_ssize_t chosen, double sign) noexcept nogil:
    """Set d to the direction in which H is flat and the dependent variable `chosen` changes by `sign`."""
    cdef Py_ssize_t k
    memset(d, 0, m * sizeof(double))
    for k in range(chosen):
        d[k] = -sign * L[chosen * m + k]
    solve_upper(L, d, m, chosen)
    d[chosen] = sign


cdef void solve_upper(const double* L, double* d, Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    """d <- L'^-1 d for the first n variables, without those with a zero on the diagonal."""
    cdef Py_ssize_t i, k
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            d[i] -= L[k * m + i] * d[k]
        d[i] = d[i] / L[i * m + i] if L[i * m + i] > 0 else 0


cdef Py_ssize_t MOST_ROWS = 512  # longest window with inner products: more would take much memory and time per call
LIMITS = MOST_ROWS, MOST_SWEEPS


cdef class GramWindow(Window):
    """The same for plain weights: a quadratic program in the variables of the window only.

    A move along x_i changes the scores of row j by multiples of <x_i, x_j>. So the scores of the window's rows are
    stored, and the weights move at the end, once per changed example. A round adds only the inner
    products of the newest row with the others; a round without gain defers them.

    `scores` has the scores of the last examples in the places of their variables in `alpha`, and is updated.
    """

    cdef Py_ssize_t capacity  # number of rows with room for inner products
    cdef Py_ssize_t related   # rows before this one have their inner products
    cdef double* scores
    cdef double* G            # the inner products, without the intercept coordinate
    cdef double squared_bias  # square of the intercept coordinate
    cdef double* change       # change of the weights in this round, in multiples of each row
    cdef double* H            # scratch of `climb`
    cdef double* d
    cdef Py_ssize_t* free
    cdef const Vec* vec
    cdef Weights spread       # memory for one sparse row in dense form
    cdef Scheme sopopo

    def __init__(
        self, Rows X, y, weight, Py_ssize_t now, alpha, scores, *, double C, double margin, Py_ssize_t window,
        Py_ssize_t sweeps,
    ):
        super().__init__(X, y, weight, now, alpha, C=C, margin=margin, window=window, sweeps=sweeps)
        cdef Py_ssize_t n = min(self.held, MOST_ROWS)
        memory = np.zeros(2 * n * n + 2 * n + n * self.n_columns)
        laid_out = np.zeros(0 if self.X.indices == NULL else self.X.n_features)
        self.owners += (scores, memory, laid_out)
        self.capacity = n
        self.scores = <double*>address(scores, "d", self.held * self.n_columns, writable=True)
        self.G = <double*>address(memory, "d", memory.size, writable=True)
        self.H = self.G + n * n
        self.d = self.H + n * n
        self.free = <Py_ssize_t*>(self.d + n)
        self.change = self.d + 2 * n
        self.vec = vec_for(self.X.itemsize)
        self.spread.W = <void*>address(laid_out, "d", laid_out.size, writable=True)
        self.spread.columns = self.spread.stride = self.spread.gap = 1
        self.sopopo = Sopopo(self.C)

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return self.sopopo.room(n)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, _sweep, first = self.first()
        cdef double total = 0, gained
        if self.now - first >= self.capacity:
            return Window.solve(self, r, geometry)
        self.receive(r)
        memcpy(self.scores_of(self.now), r.s, self.n_columns * sizeof(double))
        r.n_halfspaces = 0
        self.squared_bias = (<Columns>geometry).squared_bias()
        for _sweep in range(self.sweeps if self.sweeps > 0 else MOST_SWEEPS):
            gained = 0
            for i in range(self.now, first - 1, -1):
                gained += self.raise_one(i, geometry) if self.n_columns == 1 else self.raise_rivals(i, geometry)
            if self.sweeps == 0 and gained > 0 and self.n_columns == 1:
                gained += self.climb()
            total += gained
            if not gained > ACCURACY * total:  # also stops at NaN
                break
        if total != 0:  # rounding may make a gain negative
            for i in range(first, self.now + 1):
                self.carry_out(i, geometry)
        self.now += 1
        return total

    cdef inline Py_ssize_t place(self, Py_ssize_t i) noexcept nogil:
        return i % self.held

    cdef inline double* scores_of(self, Py_ssize_t i) noexcept nogil:
        return self.scores + self.place(i) * self.n_columns

    cdef inline double product(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        return self.G[self.place(i) * self.capacity + self.place(j)] + self.squared_bias

    cdef double relate(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """Compute missing inner products of the window; return that of row i with itself, or 0 if
        the row cannot be projected onto."""
        cdef double q
        self.related = max(self.related, self.first())
        while self.related <= self.now:
            self.multiply(self.related, geometry)
            self.related += 1
        q = self.product(i, i)
        return q if 1e-300 < q < INFINITY else 0

    cdef void multiply(self, Py_ssize_t j, Geometry geometry) noexcept nogil:
        """Compute the inner products of row j with those before it."""
        cdef Py_ssize_t i, at = self.place(j)
        cdef Row x
        cdef Row z
        cdef double product
        self.X.row(j, &x)
        self.G[at * self.capacity + at] = self.vec.squared_norm(&x)
        if x.indices != NULL:
            self.vec.add(&x, &self.spread, 0, -1, 1)
        for i in range(self.first(), j):
            self.X.row(i, &z)
            if x.indices != NULL:
                self.vec.scores(&z, &self.spread, &product)
            else:
                product = self.vec.dot(&z, &x)
            self.G[at * self.capacity + self.place(i)] = self.G[self.place(i) * self.capacity + at] = product
        if x.indices != NULL:
            self.vec.add(&x, &self.spread, 0, -1, -1)

    cdef double raise_one(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """Maximize the dual over the variable of one example of two classes; return the gain."""
        cdef double* alpha = self.variables(i)
        cdef double cap = max(self.C * self.weight[i], alpha[0]), old = alpha[0]
        cdef double loss = self.margin - self.y[i] * self.scores_of(i)[0], q, new, step
        if fabs(loss) <= ACCURACY * self.margin or old == (cap if loss > 0 else 0):
            return 0
        q = self.relate(i, geometry)
        if q == 0:
            return 0
        new = min(max(old + loss / q, 0), cap)
        step = new - old
        if not fits(step, q):
            return 0
        alpha[0] = new
        self.r.change[0] = self.y[i] * step
        self.spread_change(i)
        return step * (loss - step * q / 2)

    cdef double raise_rivals(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """Maximize the dual over the variables of all rivals of an example: Sopopo's step without its old variables."""
        cdef double* alpha = self.variables(i)
        cdef double* s = self.scores_of(i)
        cdef double* change = self.r.change
        cdef HalfSpace* h = self.r.halfspaces
        cdef Py_ssize_t c, n = 0, right = <Py_ssize_t>self.y[i]
        cdef double cap = self.C * self.weight[i], used = 0, gain = 0, q
        if cap == 0 or self.choose(i, s, cap, h) == 0:
            return 0
        q = self.relate(i, geometry)
        if q == 0:
            return 0
        for c in range(self.n_columns):
            used += alpha[c]
        for c in range(self.n_columns):
            h[n].down, h[n].q, h[n].loss = <int32_t>c, 2 * q, self.margin - s[right] + s[c] + q * (used + alpha[c])
            n += c != right and h[n].loss > 0
            change[c] = alpha[c]
        if n > 0:
            self.sopopo.share(&self.r, geometry, h, n, max(cap, used))
        for c in range(n):
            change[h[c].down] -= h[c].tau
        for c in range(self.n_columns):
            if not fits(change[c], q):
                return 0
        for c in range(self.n_columns):
            if c != right:
                alpha[c] -= change[c]
                change[right] -= change[c]
                gain -= change[c] * (self.margin - s[right] + s[c] + change[c] * q / 2)
        gain -= change[right] * change[right] * q / 2
        self.spread_change(i)
        return gain

    cdef void spread_change(self, Py_ssize_t i) noexcept nogil:
        """Record a change of the weights by multiples of row i, one per column, and update the scores."""
        cdef Py_ssize_t j, c, K = self.n_columns
        cdef double product
        cdef double* s
        cdef double* noted = self.change + self.place(i) * K
        for c in range(K):
            noted[c] += self.r.change[c]
        for j in range(self.first(), self.now + 1):
            product = self.product(i, j)
            s = self.scores_of(j)
            for c in range(K):
                s[c] += self.r.change[c] * product

    cdef double climb(self) noexcept nogil:
        """Move to the maximum over the variables that are within their bounds, or to the first bound;
        return the gain. One column only.

        If some of their rows are combinations of others, the maximum over the others comes first. Then there are
        directions along which the weights do not change and the dual grows until a variable reaches its bound.
        """
        cdef Py_ssize_t i, j, k, m = 0, steepest
        cdef double gained, slope
        cdef bint stopped = False
        for i in range(self.first(), self.now + 1):
            if 0 < fabs(self.variables(i)[0]) < self.C * self.weight[i]:
                self.free[m] = i
                m += 1
        if m < 2:
            return 0
        for k in range(m):
            i = self.free[k]
            self.d[k] = self.slope(i)
            for j in range(k + 1):
                self.H[k * m + j] = self.sign(i) * self.sign(self.free[j]) * self.product(i, self.free[j])
        steepest = solve_where_curved(self.H, self.d, m)
        gained = self.go_along(m, 1, &stopped)
        if not stopped and steepest >= 0:
            slope = self.slope(self.free[steepest])
            if fabs(slope) > FLAT * (self.margin + fabs(self.scores_of(self.free[steepest])[0])):
                find_flat(self.H, self.d, m, steepest, 1 if slope > 0 else -1)
                gained += self.go_along(m, INFINITY, &stopped)
        return gained

    cdef double go_along(self, Py_ssize_t m, double length, bint* stopped) noexcept nogil:
        """Change the free variables by `length` times d, or until the first is at a bound; return the gain."""
        cdef Py_ssize_t i, k, first = -1
        cdef double room, step, gained = 0
        for k in range(m):
            room = self.room_for(self.free[k], self.d[k])
            if fabs(self.d[k]) * length > room:
                length, first = room / fabs(self.d[k]), k
        stopped[0] = first >= 0
        for k in range(m):
            if self.d[k] != 0 and not fits(length * self.d[k], self.product(self.free[k], self.free[k])):
                return 0
        for k in range(m):
            i = self.free[k]
            if self.d[k] != 0:
                step = length * self.d[k]
                gained += self.gain(i, step)
                self.set_variable(i, step, k == first)
                self.r.change[0] = self.sign(i) * step
                self.spread_change(i)
        return gained

    cdef double sign(self, Py_ssize_t i) noexcept nogil:
        """The multiple of row i in the weights, for each unit of its variable."""
        return self.y[i]

    cdef double slope(self, Py_ssize_t i) noexcept nogil:
        """How fast the dual grows with the variable of example i, which is within its bounds."""
        return self.margin - self.y[i] * self.scores_of(i)[0]

    cdef double room_for(self, Py_ssize_t i, double change) noexcept nogil:
        """How far the variable is from the bound that lies in the direction of a change."""
        return self.C * self.weight[i] - self.variables(i)[0] if change > 0 else self.variables(i)[0]

    cdef double gain(self, Py_ssize_t i, double step) noexcept nogil:
        """How much the dual grows when the variable, which stays within its bounds, changes by a step."""
        return step * (self.slope(i) - step * self.product(i, i) / 2)

    cdef void set_variable(self, Py_ssize_t i, double step, bint at_bound) noexcept nogil:
        cdef double* alpha = self.variables(i)
        if at_bound:
            alpha[0] = self.C * self.weight[i] if step > 0 else 0
        else:
            alpha[0] = min(max(alpha[0] + step, 0), self.C * self.weight[i])

    cdef void carry_out(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        """Move the weights by the recorded change of row i."""
        cdef Py_ssize_t c
        cdef double* noted = self.change + self.place(i) * self.n_columns
        cdef HalfSpace* h = self.r.halfspaces
        self.r.n_halfspaces = 0
        for c in range(self.n_columns):
            if noted[c] > 0 or noted[c] < 0:  # and is not NaN, which has no side
                h[0].up = <int32_t>c if noted[c] > 0 else -1
                h[0].down = <int32_t>c if noted[c] < 0 else -1
                h[0].tau = fabs(noted[c])
                h += 1
                self.r.n_halfspaces += 1
            noted[c] = 0
        if self.r.n_halfspaces > 0:
            self.take(i)
            geometry.move(&self.r)


cdef class TubeWindow(GramWindow):
    """The same for numbers: max sum_i y_i beta_i - epsilon |beta_i| - |sum_i beta_i x_i|^2 / 2, |beta_i| <= C.

    The dual of |w|^2 / 2 + C sum_i [|y_i - <w, x_i>| - epsilon]_+ ([PD] sec. 3). `alpha` has the beta_i, and epsilon
    takes the place of the margin.
    """

    cdef double best(self, Py_ssize_t i, double s, double q) noexcept nogil:
        """Return the variable of an example that maximizes the dual, with all others fixed."""
        cdef double old = self.variables(i)[0], cap = max(self.C * self.weight[i], fabs(old))
        cdef double pull = self.y[i] - s + old * q, over = fabs(pull) - self.margin
        if over <= 0:
            return 0
        return min(over / q, cap) if pull > 0 else -min(over / q, cap)

    cdef inline bint rests(self, Py_ssize_t i, double s) noexcept nogil:
        """Return whether an example with variable zero can keep it."""
        return self.variables(i)[0] == 0 and fabs(self.y[i] - s) <= self.margin

    cdef double gain_of(self, Py_ssize_t i, double s, double q, double new) noexcept nogil:
        cdef double old = self.variables(i)[0], step = new - old
        return step * (self.y[i] - s - step * q / 2) - self.margin * (fabs(new) - fabs(old))

    cdef double raise_one(self, Py_ssize_t i, Geometry geometry) noexcept nogil:
        cdef double s = self.scores_of(i)[0], q, new, gained
        if self.rests(i, s):
            return 0
        q = self.relate(i, geometry)
        if q == 0:
            return 0
        new = self.best(i, s, q)
        gained = self.gain_of(i, s, q, new)
        if not gained > 0 or fabs(new - self.variables(i)[0]) * q <= ACCURACY * (fabs(self.y[i]) + self.margin):
            return 0
        if not fits(new - self.variables(i)[0], q):
            return 0
        self.r.change[0] = new - self.variables(i)[0]
        self.variables(i)[0] = new
        self.spread_change(i)
        return gained

    cdef double sign(self, Py_ssize_t i) noexcept nogil:
        return 1

    cdef double slope(self, Py_ssize_t i) noexcept nogil:
        """The slope on this side of zero: a variable that is within its bounds keeps its sign."""
        return self.y[i] - self.scores_of(i)[0] - (self.margin if self.variables(i)[0] > 0 else -self.margin)

    cdef double room_for(self, Py_ssize_t i, double change) noexcept nogil:
        cdef double beta = self.variables(i)[0]
        return self.C * self.weight[i] - fabs(beta) if (change > 0) == (beta > 0) else fabs(beta)

    cdef void set_variable(self, Py_ssize_t i, double step, bint at_bound) noexcept nogil:
        cdef double* beta = self.variables(i)
        if not at_bound:
            beta[0] += step
        elif (step > 0) == (beta[0] > 0):
            beta[0] = self.C * self.weight[i] if step > 0 else -self.C * self.weight[i]
        else:
            beta[0] = 0

    cdef double improve_one(self, Py_ssize_t i, Geometry geometry, double cap) noexcept nogil:
        """Maximize over one example through the weights, for a window that is too long for inner products."""
        cdef double old = self.variables(i)[0], new, gained
        cdef HalfSpace* h = self.r.halfspaces
        geometry.scores(&self.r)
        if self.rests(i, self.r.s[0]):
            return 0
        self.r.n_halfspaces = 1
        h.up, h.down = 0, -1
        geometry.norms(&self.r)
        geometry.curvatures(&self.r)
        if not 1e-300 < h.q < INFINITY:
            return 0
        new = self.best(i, self.r.s[0], h.q)
        gained = self.gain_of(i, self.r.s[0], h.q, new)
        if not gained > 0 or not fits(new - old, h.q):
            return 0
        h.up, h.down, h.tau = 0 if new > old else -1, -1 if new > old else 0, fabs(new - old)
        geometry.move(&self.r)
        self.variables(i)[0] = new
        return gained


cdef class KernelWindow(GramWindow):
    """The same in the feature space of a kernel: inner products are kernel values, which the expansion has.

    An example whose variables are all zero again is removed from the supports.
    """

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, c, first = self.first()
        cdef double used, total = GramWindow.solve(self, r, geometry)
        if total > 0:
            for i in range(first, self.now):
                used = 0
                for c in range(self.n_columns):
                    used += self.variables(i)[c]
                if used == 0:
                    (<Expansion>geometry).forget(self.origin + i)
        return total

    cdef void multiply(self, Py_ssize_t j, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, at = self.place(j)
        for i in range(self.first(), j + 1):
            self.G[at * self.capacity + self.place(i)] = self.G[self.place(i) * self.capacity + at] = (
                (<Expansion>geometry).product(self.origin + i, self.origin + j)
            )
