"""Weights with a full metric: online ridge regression."""

import numpy as np

from onmargin._core.restore import zeros

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from onmargin._core.geometries.geometry cimport Euclidean
from onmargin._core.matrix cimport MATRIX_ROWS, Matrix, matrix_for, matrix_stride
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, address

# The smallest fraction of its initial value that a penalty decays to.
cdef double SMALLEST_PENALTY = 0.01
# Rounds of the forecaster with a longer step along A x change nothing, as moves of such a gain.
cdef double MOST_STEP = 1e290
# Limit on features: time per round and memory grow with the square of their number (8 MB for a thousand).
MAX_FEATURES = 1000


cdef class Ridge(Euclidean):
    """Weights whose metric is A, with A^-1 = alpha I + sum of x x' over all rounds, this one included.

    A move of tau is W[:, c] += tau A x. By a step of the residual y - w.x it leads to

        argmin_u  alpha |u|^2 / 2 + sum (y - u.x)^2 / 2,

    the ridge regression on all rounds so far ([PD] sec. 3, follow the regularized leader). All columns share A, which
    is maintained by rank-one updates, O(n^2) per round. Example weights multiply the squared errors. Rows that were
    learned in an earlier pass change nothing: the solution contains them.

    With `forgetting` f, a round counts (1 - f)^s after s others: A grows by 1 / (1 - f) after each round. alpha decays
    the same way, and A would grow without bound in directions that no longer occur. Therefore the penalty of one
    feature per round, the one that has decayed most, is reset to alpha / 100 if it is below. The weights are those of

        argmin_u  sum_j alpha faded_j u_j^2 / 2 + sum (1 - f)^s (y - u.x)^2 / 2,

    with all faded_j between (1 - f)^n / 100 and 1, n being the number of features seen.

    With `forecast`, scores are those of the ridge regression that includes x with a target of 0: w.x divided
    by 1 + q, q = x'Ax before the round ([AW]). The regret bound is for these scores.

    The intercept is the weight of one more coordinate of value `bias`, as in plain weights; it is the first of A, so
    that new features are the last. Features that are zero in all rows change no bit. Rows are dense or sparse, in
    double precision: rounding must not reach the smallest eigenvalues.
    """

    cdef readonly double alpha
    cdef public double forgetting
    cdef bint forecasts
    cdef object stored               # A, (n_features + 1) x stride, from the diagonal on
    cdef readonly object faded       # remaining fraction of the penalty of each feature; 0 if it was not seen yet
    cdef Py_ssize_t size, stride
    cdef const Matrix* primitives
    cdef tuple owners
    cdef double* A
    cdef double* u                   # A x of the round, with A before or after it
    cdef double* x                   # the intercept's coordinate and the row, dense
    cdef double* column              # a column of A
    cdef double* late                # A += delay late late' is deferred to the next round, which passes over A anyway
    cdef double delay
    cdef double* f                   # `faded`
    cdef double q

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0, double alpha=1.0, double forgetting=0.0, bint forecast=False):
        super().__init__(n_features, n_columns, dtype, sparse=sparse, bias=bias, average=average)
        if self.dtype.itemsize != 8 or average:
            raise ValueError("ridge regression needs double precision and has no averaging")
        if not 0 < alpha < INFINITY or not 0 <= forgetting < 1:
            raise ValueError(f"alpha must be above 0, and forgetting in [0, 1); got {alpha} and {forgetting}")
        if n_features > MAX_FEATURES:
            raise ValueError(
                f"ridge regression keeps a number for each pair of features, and takes at most {MAX_FEATURES} "
                f"features; got {n_features}: leave out or hash some, or use AROWRegressor"
            )
        self.alpha, self.forgetting, self.forecasts = alpha, forgetting, forecast
        self.size = n_features + 1
        self.stride = matrix_stride(self.size, 8)
        self.primitives = matrix_for(8)
        raw = zeros((int(self.size) + MATRIX_ROWS - 1) * self.stride + 8)
        first = -raw.ctypes.data % 64 // 8
        self.stored = raw[first:first + self.size * self.stride].reshape(self.size, self.stride)
        np.fill_diagonal(self.stored, 1 / alpha)
        self.A = <double*>address(self.stored, "d", self.stored.size, writable=True)
        self.faded = zeros(self.size)
        self.f = <double*>address(self.faded, "d", self.size, writable=True)
        self.owners = tuple([zeros(self.stride) for _ in range(4)])
        self.u = <double*>address(self.owners[0], "d", self.stride, writable=True)
        self.x = <double*>address(self.owners[1], "d", self.stride, writable=True)
        self.column = <double*>address(self.owners[2], "d", self.stride, writable=True)
        self.late = <double*>address(self.owners[3], "d", self.stride, writable=True)
        self.n_spare = max(self.n_spare, 2 * self.stride)

    @property
    def sparsifiable(self):
        return False

    def for_prediction(self):
        return self

    @property
    def cannot_mix(self):
        return "with forgetting the order of rows counts. Set forgetting=0" if self.forgetting else ""

    def size_beside_weights(self, Py_ssize_t n_features):
        return n_features**2

    @property
    def forecast(self):
        """Whether scores are those of the forecaster, which includes x."""
        return self.forecasts

    @forecast.setter
    def forecast(self, bint forecast):
        self.catch_up()  # so that predictions, which read A, change nothing
        self.forecasts = forecast

    @property
    def inverse(self):
        """Return the upper half of A."""
        self.catch_up()
        return self.stored

    def settings(self):
        options = {"alpha": self.alpha, "forgetting": self.forgetting, "forecast": self.forecast}
        return {**super().settings(), **options}

    def arrays(self):
        return {**self.columns(), "inverse": self.inverse, "faded": self.faded}

    def room(self, Py_ssize_t n_features):
        room = super().room(n_features)
        return max(n_features, min(room, MAX_FEATURES))

    def recombine(self, column_map):
        copy = super().recombine(column_map)
        copy.inverse[...] = self.inverse
        copy.faded[...] = self.faded
        return copy

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones, which were zero so far."""
        copy = super().resize(n_features)
        shared = min(n_features, self.n_features) + 1
        copy.inverse[:shared, :shared] = self.inverse[:shared, :shared]
        copy.faded[:shared] = self.faded[:shared]
        return copy

    def full(self):
        """Return the full matrix A; the intercept's coordinate is first."""
        upper = np.triu(self.inverse[:, :self.size])
        return upper + np.triu(upper, 1).T

    cdef void lay_out(self, const Row* x, double* out) noexcept nogil:
        cdef const double* values = <const double*>x.values
        cdef Py_ssize_t k
        memset(out, 0, self.stride * sizeof(double))
        for k in range(x.n):
            out[1 + (k if x.indices == NULL else x.indices[k])] = values[k]
        out[0] = self.bias if self.bias == self.bias else 0

    cdef void catch_up(self) noexcept nogil:
        """Apply the deferred update of A."""
        if self.delay != 0:
            self.primitives.update(self.A, self.size, self.stride, self.late, self.delay)
            self.delay = 0

    cdef double product(self, const double* x, double* out) noexcept nogil:
        """Set out = A x and return x'Ax."""
        cdef Py_ssize_t k
        cdef double q = 0
        if self.delay != 0:
            self.primitives.advance(self.A, self.size, self.stride, self.late, self.delay, x, out)
            self.delay = 0
        else:
            self.primitives.product(self.A, self.size, self.stride, x, out)
        for k in range(self.size):
            q += x[k] * out[k]
        return q

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t c
        Euclidean.scores(self, r)
        if self.forecasts:
            self.lay_out(r.x, self.x)
            self.q = self.product(self.x, self.u) * r.weight
            for c in range(self.n_columns):
                r.s[c] /= 1 + self.q

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Py_ssize_t c
        cdef double q
        Euclidean.mean_scores(self, x, s, spare)
        if self.forecasts:
            self.lay_out(x, spare + self.n_scores)
            q = self.product(spare + self.n_scores, spare + self.n_scores + self.stride)
            for c in range(self.n_columns):
                s[c] /= 1 + q

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t c, k
        cdef bint known = self.forecasts and self.bias == self.bias  # whether the scores have computed A x
        Euclidean.measure(self, r)
        if r.seen:
            memset(self.u, 0, self.size * sizeof(double))
            return
        if not known:
            self.lay_out(r.x, self.x)
            self.q = self.product(self.x, self.u) * r.weight
        if not 0 < self.q < INFINITY or self.overflows(r):
            memset(self.u, 0, self.size * sizeof(double))
            return
        self.delay = -r.weight / (1 + self.q)
        memcpy(self.late, self.u, self.stride * sizeof(double))
        if self.forecasts or self.forgetting > 0:  # both read A before the next round
            self.catch_up()
        for k in range(self.size):
            self.u[k] /= 1 + self.q
        if self.forecasts:
            for c in range(self.n_columns):  # from the weights of the previous rounds to those of the forecast
                self.shift_column(c, -self.q * r.s[c] * r.weight)
        if self.forgetting > 0:
            self.forget()

    cdef bint overflows(self, const Round* r) noexcept nogil:
        """Return whether a step that the forecast takes along A x before the move would overflow."""
        cdef Py_ssize_t c
        for c in range(self.n_columns if self.forecasts else 0):
            if not fabs(self.q * r.s[c] * r.weight) < MOST_STEP:
                return True
        return False

    cdef void forget(self) noexcept nogil:
        """Discount the rounds so far, and reset a penalty that has decayed too much."""
        cdef Py_ssize_t i, j, c, most = -1
        cdef double kept = 1 - self.forgetting, added, scale
        cdef double* column = self.column
        for i in range(self.size):
            if self.x[i] != 0 and self.f[i] == 0:
                self.f[i] = 1
            if self.f[i] > 0:
                self.f[i] *= kept
                most = i if most < 0 or self.f[i] < self.f[most] else most
                for j in range(i, self.size):
                    self.A[i * self.stride + j] /= kept
        if most < 0 or self.f[most] >= SMALLEST_PENALTY:
            return
        # Its penalty grows by `added`: with a its column of A, A -= scale a a', and the weights, those of the move to
        # come included, become w - scale a w_most.
        for i in range(self.size):
            column[i] = self.A[min(i, most) * self.stride + max(i, most)]
        added = self.alpha * (SMALLEST_PENALTY - self.f[most])
        scale = added / (1 + added * column[most])
        self.f[most] = SMALLEST_PENALTY
        for c in range(self.n_columns):
            self.shift_along(column, c, -scale * self.weight_of(c, most))
        added = scale * self.u[most]
        for i in range(self.size):
            self.u[i] -= added * column[i]
        self.primitives.update(self.A, self.size, self.stride, column, -scale)

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(r.n_halfspaces):
            r.halfspaces[i].q = 0  # not used

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

    cdef double weight_of(self, Py_ssize_t c, Py_ssize_t i) noexcept nogil:
        """Return the weight of a coordinate of A in a column."""
        return self.b[c] / self.x[0] if i == 0 else (<double*>self.w.W + c * self.w.gap)[(i - 1) * self.w.stride]

    cdef void shift_column(self, Py_ssize_t c, double a) noexcept nogil:
        """W[:, c] += a A x."""
        self.shift_along(self.u, c, a)

    cdef void shift_along(self, const double* u, Py_ssize_t c, double a) noexcept nogil:
        """W[:, c] += a u."""
        cdef Py_ssize_t j
        cdef double* w = <double*>self.w.W + c * self.w.gap
        for j in range(self.n_features):
            w[j * self.w.stride] += a * u[j + 1]
        self.b[c] += a * u[0] * self.x[0]
