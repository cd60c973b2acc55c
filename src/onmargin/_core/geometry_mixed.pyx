"""Single columns of different metrics, which lie together."""

import numpy as np

from libc.math cimport sqrt
from libc.string cimport memset

from onmargin._core.geometry_adaptive import Adaptive, Normalized

from onmargin._core.geometry_adaptive cimport Diagonal, inverse
from onmargin._core.geometry_confidence import Confidence
from onmargin._core.metric cimport METRIC_LEAST, METRIC_MOST, Kinds, Moves, metric_kept
from onmargin._core.row cimport address
from onmargin._core.task cimport HalfSpace, Round


cdef class Mixed(Diagonal):
    """So many columns that are `adaptive`, then `normalized` ones, then one with variances for each of `forgetting`.

    Each learns as in a geometry of its own kind. All numbers of a feature stand together, at most sixteen weights and
    what is beside them, so that a non-zero costs one trip to memory for all columns; and the lengths and moves of all
    are made in one go over the row. No half-space has two sides. For sparse rows, without averaging.
    """

    cdef readonly Py_ssize_t adaptive, normalized
    cdef readonly tuple forgetting
    cdef readonly object scales  # n_features
    cdef readonly object counts  # rounds t, and N, as in Normalized
    cdef Kinds kinds
    cdef Moves moves
    cdef tuple scratch
    cdef double* rates
    cdef double* q
    cdef void* s
    cdef double* n
    cdef double k                # of the round
    cdef bint known              # the lengths of the round

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=True, double bias=0.0,
                 Py_ssize_t average=0, Py_ssize_t adaptive=0, Py_ssize_t normalized=0, forgetting=()):
        self.adaptive, self.normalized, self.forgetting = adaptive, normalized, tuple(forgetting)
        self.kinds.roots, self.kinds.scaled, self.kinds.columns = adaptive + normalized, normalized, n_columns
        if n_columns != self.kinds.roots + len(self.forgetting) or not 2 <= n_columns <= METRIC_MOST or average:
            raise ValueError(f"{n_columns} columns are not mixed like this")
        super().__init__(n_features, n_columns, dtype, sparse=True, bias=bias)
        self.metric[self.kinds.roots:] = self.metric_intercept[self.kinds.roots:] = 1
        self.scales = np.zeros(n_features, self.dtype)
        self.s = address(self.scales, "fd", n_features, writable=True) if normalized else NULL
        self.counts = np.zeros(2)
        self.n = <double*>address(self.counts, "d", 2, writable=True)
        # Pages of it that no row is long enough for are never touched.
        self.scratch = np.empty(2 * n_features * metric_kept(&self.kinds)), np.empty(METRIC_MOST)
        self.rates = <double*>address(self.scratch[0], "d", self.scratch[0].size, writable=True)
        self.q = <double*>address(self.scratch[1], "d", METRIC_MOST, writable=True)
        for c, rate in enumerate(self.forgetting, self.kinds.roots):
            self.moves.growth[c] = 1 + rate

    @staticmethod
    def of(columns):
        """The geometry that holds these columns, given as geometries of one; None: there is none."""
        order = {Adaptive: 0, Normalized: 1, Confidence: 2}
        kinds = [order.get(type(column), -1) for column in columns]
        one = columns[0]
        fit = kinds == sorted(kinds) and kinds[0] >= 0 and 2 <= len(kinds) <= METRIC_MOST
        if not fit or one.average or not one.sparse:
            return None
        forgetting = [column.forgetting for column in columns if isinstance(column, Confidence)]
        mixed = Mixed(
            one.n_features, len(kinds), one.dtype, bias=one.bias, adaptive=kinds.count(0), normalized=kinds.count(1),
            forgetting=forgetting,
        )
        if one.clock > 0:
            learned = {
                name: np.concatenate([getattr(column, name) for column in columns])
                for name in ("weights", "intercept", "metric", "metric_intercept")
            }
            shared = next((column for column in columns if isinstance(column, Normalized)), mixed)
            mixed.__setstate__(
                {"clock": one.clock, **learned, "scales": shared.scales, "counts": shared.counts}
            )
        return mixed

    def settings(self):
        sizes = {"adaptive": self.adaptive, "normalized": self.normalized, "forgetting": self.forgetting}
        return {**super().settings(), **sizes}

    def by_feature(self):
        return {**super().by_feature(), "scales": self.scales}

    def others(self):
        return {**super().others(), "counts": self.counts}

    def alone(self, Py_ssize_t c):
        """A copy of one column, in a geometry of its kind."""
        options = {"sparse": True, "bias": self.bias}
        if c < self.kinds.roots:
            kind = Adaptive if c < self.adaptive else Normalized
        else:
            kind, options["forgetting"] = Confidence, self.forgetting[c - self.kinds.roots]
        copy = kind(self.n_features, 1, self.dtype, **options)
        state = {
            name: array if name in {"scales", "counts"} else array[c:c + 1] for name, array in self.arrays().items()
        }
        copy.__setstate__({"clock": self.clock, **state})
        return copy

    cdef void measure(self, Round* r) noexcept nogil:
        Diagonal.measure(self, r)
        self.known = False
        if self.normalized > 0:
            self.n[0] += 1
            self.n[1] += self.primitives.extend(r.x, self.s) + (self.squared_bias() > 0)
            self.k = sqrt(self.n[0] / self.n[1]) if self.n[1] > 0 else 0

    cdef void know(self, const Round* r) noexcept nogil:
        """The lengths of x in the metrics of all columns."""
        cdef Py_ssize_t c
        cdef double bias = self.squared_bias(), root
        self.primitives.lengths(r.x, &self.kinds, &self.m, self.s, self.rates, self.q)
        for c in range(self.n_columns):
            root = sqrt(self.mb[c] * self.mb[c] + bias)
            if c < self.adaptive:
                self.q[c] += bias * inverse(root)
            elif c < self.kinds.roots:
                self.q[c] = self.k * (self.q[c] + bias * inverse(sqrt(bias) * root))
            else:
                self.q[c] += bias * self.mb[c]
        self.known = True

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        if not self.known:
            self.know(r)
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.q = self.q[h.up if h.up >= 0 else h.down]

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef const HalfSpace* h
        cdef double squares = 0
        if not self.known:
            self.know(r)
        memset(self.moves.a, 0, sizeof(self.moves.a))
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.tau > 0:
                squares += h.tau * (h.tau * h.q)
                self.lead(h.up if h.up >= 0 else h.down, h.tau if h.up >= 0 else -h.tau, h.beta)
        self.primitives.moves(r.x, &self.kinds, &self.w, &self.m, self.rates, &self.moves)
        return squares

    cdef void lead(self, Py_ssize_t c, double a, double beta) noexcept nogil:
        """Say where a column goes, and take its intercept there."""
        cdef double bias = self.squared_bias(), metric = self.mb[c], growth
        if c >= self.kinds.roots:
            self.b[c] += a * bias * metric
            growth = self.moves.growth[c]
            if bias > 0:
                self.mb[c] = min(max(growth * (metric - beta * bias * metric * metric), METRIC_LEAST), 1)
        else:
            self.mb[c] = sqrt(metric * metric + bias)
            if c >= self.adaptive:
                a *= self.k
                self.b[c] += a * bias * inverse(sqrt(bias) * self.mb[c])
            else:
                self.b[c] += a * bias * inverse(self.mb[c])
        self.moves.a[c], self.moves.beta[c] = a, beta
