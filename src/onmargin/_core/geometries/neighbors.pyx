"""Nearest neighbors: scores are means of the targets of the most similar recent rows."""

import numpy as np

from onmargin._core.geometries.geometry import float_type
from onmargin._core.restore import fill, whole, whole_size, zeros

from libc.math cimport INFINITY
from libc.string cimport memcpy

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.matrix cimport Matrix, matrix_for
from onmargin._core.round cimport HalfSpace, Round, finite
from onmargin._core.rows cimport Row, address

# Number of kept rows: those that were learned last.
cdef enum:
    KEPT = 1024
# Number of neighbors. One more is found, whose distance is the unit of the others.
cdef enum:
    NEAREST = 5

# Windows of the last rows: each is a fourth of the one before.
cdef enum:
    WINDOWS = 3
# What is left of the losses of the windows after a round.
cdef double DECAY = 1 - 1 / 128.0
# A shorter window predicts while its loss is below this part of that of the longer ones: a longer one knows more.
cdef double CLEAR = 0.8

# A reach of neighbors that is not 0, so that an exported model need not divide by 0.
cdef double SMALLEST = 1e-300


cdef struct Nearest:
    Py_ssize_t[NEAREST + 1] rows     # by distance; the last of them is no neighbor
    Py_ssize_t n


cdef inline double square(double x) noexcept nogil:
    return x * x


cdef double narrowed(const Row* x, const Row* out, Py_ssize_t itemsize) noexcept nogil:
    """Copy the values of a row to `out` in single precision; return half of their squared norm."""
    cdef float* to = <float*>out.values
    cdef double half = 0
    cdef Py_ssize_t k
    for k in range(x.n):
        to[k] = (<const float*>x.values)[k] if itemsize == 4 else <float>(<const double*>x.values)[k]
        half += <double>to[k] * to[k] / 2
    return half


cdef class Neighbors(Geometry):
    """The score of a column is a weighted mean of its targets in the NEAREST of the last rows ([KNN]).

    With d_i the squared distance of neighbor i, and d that of the first row that is none, its weight is 1 - d_i / d
    times the weight of its example; if all of these are 0, or there are no more rows, the distances do not count.

    A move along a half-space of column c is the distance of its target from its score, as that of `Indicators` and of
    `Regression` by the step `Residual`; their sum is kept as the target of the row. Without a move, the score was the
    target. Rows are in single precision, feature by feature: so the inner products with all kept rows are computed as
    the phases of `Fourier`, and as |x - z|^2 / 2 = |x|^2 / 2 - (<x, z> - |z|^2 / 2), the largest of these numbers are
    those of the nearest rows. Rows that were learned in an earlier pass are not kept again: a row would have copies of
    itself for neighbors. Newer rows come first among equally distant ones.

    Deviation: the last KEPT rows are the window, or fewer of them, as the short-term memory of [SAMKNN]: KEPT / 4 or
    KEPT / 16, while the squared residuals of the last rounds, discounted, are clearly smaller with these.
    """

    cdef readonly Py_ssize_t clock   # rows that were learned
    cdef readonly object rows        # n_features x KEPT
    cdef readonly object targets     # KEPT x n_columns
    cdef readonly object weights     # KEPT
    cdef readonly object losses      # WINDOWS: the discounted squared residuals with each window
    cdef tuple owners
    cdef const Matrix* primitives
    cdef float* Z
    cdef float* lowered              # -|z|^2 / 2; -inf for a row that is not kept yet
    cdef double* y
    cdef double* w
    cdef double* loss
    cdef double* last                # scores of the round
    cdef double* each                # the same for each window
    cdef float* near
    cdef Row row                     # the row of the round, in single precision
    cdef double half                 # |x|^2 / 2
    cdef Py_ssize_t itemsize

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype):
        self.n_features = whole_size(n_features, "n_features")
        self.n_columns = self.n_scores = whole_size(n_columns, "n_columns", least=1)
        self.dtype = float_type(dtype)
        self.itemsize = self.dtype.itemsize
        self.n_spare = self.n_features + KEPT
        self.primitives = matrix_for(4)
        self.rows = zeros((self.n_features, KEPT), np.float32)
        self.targets, self.weights = zeros((KEPT, self.n_columns)), zeros(KEPT)
        self.losses = zeros(WINDOWS)
        self.owners = (
            np.full(KEPT, -np.inf, np.float32), np.zeros(KEPT, np.float32), zeros(self.n_columns),
            zeros(self.n_features, np.float32), zeros((WINDOWS, self.n_columns)),
        )
        self.Z = <float*>address(self.rows, "f", self.n_features * KEPT, writable=True)
        self.y = <double*>address(self.targets, "d", KEPT * self.n_columns, writable=True)
        self.w = <double*>address(self.weights, "d", KEPT, writable=True)
        self.lowered = <float*>address(self.owners[0], "f", KEPT, writable=True)
        self.near = <float*>address(self.owners[1], "f", KEPT, writable=True)
        self.last = <double*>address(self.owners[2], "d", self.n_columns, writable=True)
        self.loss = <double*>address(self.losses, "d", WINDOWS, writable=True)
        self.each = <double*>address(self.owners[4], "d", WINDOWS * self.n_columns, writable=True)
        self.row.values = address(self.owners[3], "f", self.n_features, writable=True)

    def __reduce__(self):
        return type(self), (self.n_features, self.n_columns, self.dtype.name), self.state()

    def state(self):
        """Return the learned numbers and arrays by name."""
        return {
            "clock": self.clock, "rows": self.rows, "targets": self.targets, "weights": self.weights,
            "losses": self.losses,
        }

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        for name in ("rows", "targets", "weights", "losses"):
            fill(getattr(self, name), state, name)
        squares = np.square(self.rows, dtype=np.float64).sum(axis=0)
        self.owners[0][...] = np.where(np.arange(KEPT) < self.clock, -squares / 2, -np.inf)

    @property
    def bias(self):
        """There is no intercept."""
        return 0.0

    @property
    def linear(self):
        return False

    @property
    def forgot(self):
        """Whether some learned rows are not used any more."""
        return self.clock > self.window()

    def recombine(self, column_map):
        """Return a copy with the targets of new columns: see `Euclidean.recombine`."""
        targets = np.zeros((KEPT, len(column_map)))
        column_map.write(self.targets[:self.clock], targets[:self.clock])  # there are no others yet
        return self.made(self.rows, targets)

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones, which were zero so far."""
        rows = np.zeros((n_features, KEPT), np.float32)
        shared = min(n_features, self.n_features)
        rows[:shared] = self.rows[:shared]
        return self.made(rows, self.targets)

    def made(self, rows, targets):
        other = type(self)(len(rows), targets.shape[1], self.dtype)
        other.__setstate__(self.state() | {"rows": rows, "targets": targets})
        return other

    def trace(self, rows):
        cdef Py_ssize_t n = min(self.clock, self.window())
        if n == 0:
            return rows.times(np.zeros((self.n_features, self.n_columns)), np.zeros(self.n_columns))
        rows, kept = rows.rounded(np.float32), (self.clock - 1 - np.arange(n)) % KEPT
        found, places = rows.times(self.rows[:, kept], self.owners[0][kept]).nearest(min(n, NEAREST + 1))
        distances = ((rows * rows).sum(1, keep=True) / 2 - found).clip(0, np.inf)
        n = min(n, NEAREST)
        nearest = places.gather(range(n))
        weights = given = nearest.table(self.weights[kept])
        if self.clock > NEAREST:
            reach = distances.gather(range(NEAREST, NEAREST + 1))
            near = (distances.gather(range(NEAREST)) / reach.clip(SMALLEST, np.inf) * -1.0 + 1.0).clip(0, np.inf)
            close = given * near * (reach > 0.0).numbers()
            weights = (close.sum(1, keep=True) > 0.0).where(close, given)
        total = weights.sum(1, keep=True)
        sums = (nearest.table(self.targets[kept]) * weights.reshape(0, n, 1)).sum(1)
        return sums / (total > 0.0).where(total, 1.0)

    cdef Py_ssize_t window(self) noexcept nogil:
        """Return the number of the last rows that predict."""
        cdef Py_ssize_t w, best = 0
        for w in range(1, WINDOWS):
            if self.loss[w] < CLEAR * self.loss[best]:
                best = w
        return KEPT >> 2 * best

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Nearest best
        cdef Py_ssize_t w, window = self.window(), newer = 0
        self.half = narrowed(r.x, &self.row, self.itemsize)
        self.row.n, self.row.indices = r.x.n, r.x.indices
        self.primitives.phases(&self.row, self.Z, self.lowered, KEPT, self.near)
        best.n = 0
        for w in reversed(range(WINDOWS)):
            self.find(self.near, newer, KEPT >> 2 * w, &best)
            self.average(self.near, self.half, &best, self.each + w * self.n_columns)
            newer = KEPT >> 2 * w
            if newer == window:
                memcpy(self.last, self.each + w * self.n_columns, self.n_columns * sizeof(double))
        memcpy(r.s, self.last, self.n_columns * sizeof(double))
        r.n_scores = self.n_columns

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Row row = x[0]
        cdef Nearest best
        cdef float* near = <float*>(spare + self.n_features)
        cdef double half
        row.values = spare
        half = narrowed(x, &row, self.itemsize)
        self.primitives.phases(&row, self.Z, self.lowered, KEPT, near)
        best.n = 0
        self.find(near, 0, self.window(), &best)
        self.average(near, half, &best, s)

    cdef void find(self, const float* near, Py_ssize_t newer, Py_ssize_t window, Nearest* best) noexcept nogil:
        """Find the nearest among the last rows of the window, given those among the `newer` of them."""
        cdef Py_ssize_t age, i, j
        cdef float least = near[best.rows[NEAREST]] if best.n > NEAREST else -INFINITY
        for age in range(newer, min(window, self.clock)):
            i = (self.clock - 1 - age) & (KEPT - 1)
            if not near[i] > least:
                continue
            j = min(best.n, NEAREST)
            while j > 0 and near[best.rows[j - 1]] < near[i]:
                best.rows[j] = best.rows[j - 1]
                j -= 1
            best.rows[j] = i
            best.n = min(best.n + 1, NEAREST + 1)
            least = near[best.rows[NEAREST]] if best.n > NEAREST else -INFINITY

    cdef void average(self, const float* near, double half, const Nearest* best, double* s) noexcept nogil:
        """Set the scores of a row with this half of a squared norm."""
        cdef Py_ssize_t i, j, c
        cdef double weight, unit = 0, sum = 0
        cdef double reach = max(half - near[best.rows[NEAREST]], 0) if best.n > NEAREST else 0
        for c in range(self.n_columns):
            s[c] = 0
        for j in range(min(best.n, NEAREST)):
            i = best.rows[j]
            unit += self.w[i] * max(1 - max(half - near[i], 0) / reach, 0) if reach > 0 else 0
        for j in range(min(best.n, NEAREST)):
            i = best.rows[j]
            weight = self.w[i]
            if unit > 0:
                weight *= max(1 - max(half - near[i], 0) / reach, 0)
            sum += weight
            for c in range(self.n_columns):
                s[c] += weight * self.y[i * self.n_columns + c]
        for c in range(self.n_columns):
            s[c] = finite(s[c] / sum) if sum > 0 else 0

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i = self.clock % KEPT, j, k, c, w
        if r.x.squared_norm == 0:
            r.x.squared_norm = 2 * self.half
        if r.seen:
            return
        for j in range(self.n_features):
            self.Z[j * KEPT + i] = 0
        for k in range(self.row.n):
            j = k if self.row.indices == NULL else self.row.indices[k]
            self.Z[j * KEPT + i] = (<const float*>self.row.values)[k]
        self.lowered[i] = <float>-self.half
        self.w[i] = r.weight
        memcpy(self.y + i * self.n_columns, self.last, self.n_columns * sizeof(double))
        for w in range(WINDOWS):
            self.loss[w] *= DECAY
            for c in range(self.n_columns):
                self.loss[w] = finite(self.loss[w] + square(self.each[w * self.n_columns + c] - self.last[c]))
        self.clock += 1

    cdef double move(self, const Round* r) noexcept nogil:
        cdef double* y = self.y + (self.clock - 1) % KEPT * self.n_columns
        cdef const HalfSpace* h
        cdef Py_ssize_t i, w, c
        cdef double before, score
        for i in range(0 if r.seen else r.n_halfspaces):
            h = &r.halfspaces[i]
            c = h.up if h.up >= 0 else h.down
            before = y[c]
            y[c] = finite(before + (h.tau if h.up >= 0 else -h.tau) / r.weight)
            for w in range(WINDOWS):
                score = self.each[w * self.n_columns + c]
                self.loss[w] = max(finite(self.loss[w] + square(score - y[c]) - square(score - before)), 0)
        return 0
