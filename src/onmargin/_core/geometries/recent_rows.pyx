"""Geometries that keep the rows that were learned last."""

import numpy as np

from onmargin._core.geometries.geometry import float_type
from onmargin._core.restore import fill, whole, whole_size, zeros

from libc.math cimport sqrt
from libc.string cimport memset

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round, finite
from onmargin._core.rows cimport Row, address

# Rows, the fewest that are compared with earlier ones; this often losses are compared.
cdef enum:
    SHORTEST = 32
# By how many deviations recent losses must exceed earlier ones for a change of the concept.
cdef double SURE = 3
KEPT = 4096


cdef class RecentRows(Geometry):
    """Base of geometries that keep the last `n_kept` rows with their targets, in single precision.

    Targets are moved as those of `Neighbors`: a move along a half-space of column c is the distance of its target from
    its score. Rows that were learned in an earlier pass are not learned again.

    Deviation: the concept may change. If the mean of the squared residuals in the last SHORTEST, 2 SHORTEST, ... rows
    exceeds that of the rows before them by more than SURE standard errors, those before are not used any more: a test
    of a few cuts of the window of [ADWIN].
    """

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, Py_ssize_t n_kept=KEPT):
        self.n_features = whole_size(n_features, "n_features")
        self.n_columns = self.n_scores = whole_size(n_columns, "n_columns", least=1)
        self.n_kept = whole(n_kept, "n_kept", least=2, most=2**24)
        self.dtype = float_type(dtype)
        self.itemsize = self.dtype.itemsize
        self.n_spare = self.n_features + 1
        self.rows = zeros((self.n_features, n_kept), np.float32)
        self.targets, self.weights, self.losses = zeros((n_kept, n_columns), np.float32), zeros(n_kept), zeros(n_kept)
        self.of_round = zeros(self.n_features + 1, np.float32), zeros(self.n_columns)
        self.Z = <float*>address(self.rows, "f", self.n_features * n_kept, writable=True)
        self.y = <float*>address(self.targets, "f", n_kept * n_columns, writable=True)
        self.w = <double*>address(self.weights, "d", n_kept, writable=True)
        self.loss = <double*>address(self.losses, "d", n_kept, writable=True)
        self.x = <float*>address(self.of_round[0], "f", self.n_features + 1, writable=True)
        self.last = <double*>address(self.of_round[1], "d", self.n_columns, writable=True)

    def __reduce__(self):
        return type(self), (self.n_features, self.n_columns, self.dtype.name, self.n_kept), self.state()

    def state(self):
        """Return the learned numbers and arrays by name."""
        return {
            "clock": self.clock, "first": self.first,
            "rows": self.rows, "targets": self.targets, "weights": self.weights, "losses": self.losses,
        }

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        self.first = whole(state["first"], "first", most=self.clock)
        for name in ("rows", "targets", "weights", "losses"):
            fill(getattr(self, name), state, name)

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
        return self.n_rows() < self.clock

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones, which were zero so far."""
        return self.made(n_features, self.resized_arrays(n_features))

    def resized_arrays(self, Py_ssize_t n_features):
        """Return the arrays that depend on the number of features."""
        rows = np.zeros((n_features, self.n_kept), np.float32)
        shared = min(n_features, self.n_features)
        rows[:shared] = self.rows[:shared]
        # Features that are left out are zero from now on, and so is the outcome of their tests.
        left_out = self.tested >= n_features
        always = np.where(self.thresholds < 0, np.float32(-np.inf), np.float32(np.inf))
        return {
            "rows": rows,
            "tested": np.where(left_out, np.int32(0), self.tested),
            "thresholds": np.where(left_out, always, self.thresholds),
        }

    def made(self, n_features, changes):
        """Return a copy with some other arrays."""
        state = self.state() | changes
        other = type(self)(n_features, state["targets"].shape[1], self.dtype, self.n_kept)
        other.__setstate__(state)
        return other

    def restore_tests(self, state):
        """Restore the tests of nodes, if every path ends."""
        tested, children = np.empty_like(self.tested), np.empty_like(self.children)
        fill(tested, state, "tested")
        fill(children, state, "children")
        n_nodes = children.shape[children.ndim - 1]
        if tested.min() < 0 or tested.max() >= max(self.n_features, 1):
            raise ValueError(f"tested must have features below {self.n_features}")
        # Children come after their parents.
        if not ((children <= 0) | (children > np.arange(n_nodes)) & (children < n_nodes - 1)).all():
            raise ValueError(f"children must have nodes after their parents, below {n_nodes - 1}")
        if children.min() <= -self.n_leaves:
            raise ValueError(f"children must have leaves below {self.n_leaves}")
        self.tested[...], self.children[...] = tested, children
        fill(self.thresholds, state, "thresholds", infinite=True)  # those of features that were left out

    cdef double lay_out(self, const Row* x, float* out) noexcept nogil:
        """Write all features of a row in single precision; return its squared norm."""
        cdef Py_ssize_t j, k
        cdef double value, squares = 0
        if x.indices != NULL:
            memset(out, 0, self.n_features * sizeof(float))
        for k in range(x.n):
            j = k if x.indices == NULL else x.indices[k]
            value = (<const float*>x.values)[k] if self.itemsize == 4 else (<const double*>x.values)[k]
            out[j] = narrowed(value)
            squares += value * value
        return squares

    cdef void keep(self, const Round* r) noexcept nogil:
        """Keep the row of the round, as if its scores were its targets."""
        cdef Py_ssize_t i = self.clock % self.n_kept, j, c
        for j in range(self.n_features):
            self.Z[j * self.n_kept + i] = self.x[j]
        self.w[i] = r.weight
        self.loss[i] = 0
        for c in range(self.n_columns):
            self.y[i * self.n_columns + c] = narrowed(self.last[c])
        self.clock += 1

    cdef void correct(self, const Round* r) noexcept nogil:
        """Correct the targets of the row of the round."""
        cdef Py_ssize_t i = (self.clock - 1) % self.n_kept, n, c
        cdef const HalfSpace* h
        for n in range(r.n_halfspaces):
            h = &r.halfspaces[n]
            c = max(h.up, h.down)
            self.y[i * self.n_columns + c] = narrowed(self.last[c] + (h.tau if h.up >= 0 else -h.tau) / r.weight)
            self.loss[i] = finite(self.loss[i] + h.loss * h.loss)

    cdef bint drop_earlier(self) noexcept nogil:
        """Drop the rows before the last few if losses are higher since then; return whether they are."""
        cdef Py_ssize_t n = self.n_rows(), t = self.clock, recent = SHORTEST
        cdef double sum = 0, squares = 0, new_sum = 0, new_squares = 0, loss, new, old, variance
        if self.clock % SHORTEST:
            return False
        for t in range(self.clock - n, self.clock):
            loss = self.loss[t % self.n_kept]
            sum += loss
            squares += loss * loss
        t = self.clock
        while 2 * recent <= n:
            while t > self.clock - recent:
                t -= 1
                loss = self.loss[t % self.n_kept]
                new_sum += loss
                new_squares += loss * loss
            new, old = new_sum / recent, (sum - new_sum) / (n - recent)
            variance = (new_squares / recent - new * new) / recent
            variance += ((squares - new_squares) / (n - recent) - old * old) / (n - recent)
            if new > old + SURE * sqrt(max(variance, 0)):
                self.first = self.clock - recent
                return True
            recent *= 2
        return False
