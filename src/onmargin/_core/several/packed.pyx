"""Single columns of different metrics, which lie together."""

import numpy as np

from onmargin._core.restore import claim, whole, zeros

from libc.math cimport INFINITY, sqrt
from libc.string cimport memset

from onmargin._core.geometries.diagonal cimport Diagonal, in_range, inverse
from onmargin._core.geometries.diagonal import Adaptive, Confidence, GradientAdaptive, Normalized
from onmargin._core.metric cimport METRIC_LEAST, METRIC_MOST, Kept, Kinds, Moves, metric_kept
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport address


# The kinds of columns, in the order in which they lie.
KINDS = (GradientAdaptive, Adaptive, Normalized, Confidence)


cdef struct Kind:
    # What a column does with its intercept, the weight of a coordinate that has the square `bias`.
    double (*rate)(double metric, double bias) noexcept nogil  # A
    double (*learned)(double metric, double bias, double beta, double growth) noexcept nogil  # the metric after a move
    bint scaled  # whether A has the factor k of Normalized


cdef double adaptive_rate(double metric, double bias) noexcept nogil:
    return inverse(sqrt(metric * metric + bias))


cdef double normalized_rate(double metric, double bias) noexcept nogil:
    return inverse(sqrt(bias) * sqrt(metric * metric + bias))


cdef double confidence_rate(double metric, double bias) noexcept nogil:
    return metric


cdef double longer_root(double metric, double bias, double beta, double growth) noexcept nogil:
    return sqrt(metric * metric + bias)


cdef double less_variance(double metric, double bias, double beta, double growth) noexcept nogil:
    return min(max(growth * (metric - beta * bias * metric * metric), METRIC_LEAST), 1) if bias > 0 else metric


cdef Kind[4] TABLE  # as KINDS
TABLE[0] = TABLE[1] = Kind(adaptive_rate, longer_root, False)
TABLE[2] = Kind(normalized_rate, longer_root, True)
TABLE[3] = Kind(confidence_rate, less_variance, False)


cdef class PackedColumns(Diagonal):
    """So many columns of `descents`, then `adaptive`, then `normalized` ones, and one with variances per `forgetting`.

    Each learns as in a geometry of its own kind. All numbers of a feature stand together, at most sixteen weights and
    what is next to them, so that a non-zero costs one trip to memory for all columns; lengths and moves are worked out
    for a vector of columns at a time. No half-space has two sides. For sparse rows, without averaging.
    """

    cdef readonly Py_ssize_t descents, adaptive, normalized
    cdef readonly tuple forgetting
    cdef readonly object scales  # n_features
    cdef readonly object counts  # rounds t, and N, as in Normalized
    cdef tuple kinds             # of the columns
    cdef Kind[16] kind
    cdef Kinds sizes
    cdef Moves moves
    cdef Kept kept
    cdef tuple scratch
    cdef double* q
    cdef void* s
    cdef double* n
    cdef double k                # of the round
    cdef bint known              # the lengths of the round

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=True, double bias=0.0,
                 Py_ssize_t average=0, Py_ssize_t descents=0, Py_ssize_t adaptive=0, Py_ssize_t normalized=0,
                 forgetting=()):
        self.descents = whole(descents, "descents", most=METRIC_MOST)
        self.adaptive = whole(adaptive, "adaptive", most=METRIC_MOST)
        self.normalized = whole(normalized, "normalized", most=METRIC_MOST)
        self.forgetting = tuple(forgetting)
        sizes = descents, adaptive, normalized, len(self.forgetting)
        self.kinds = sum(((kind,) * size for kind, size in zip(KINDS, sizes, strict=True)), ())
        if n_columns != len(self.kinds) or not 2 <= n_columns <= METRIC_MOST or average:
            raise ValueError(f"{n_columns} columns are not mixed like this")
        super().__init__(n_features, n_columns, dtype, sparse=True, bias=bias)
        cdef Py_ssize_t c, roots = descents + adaptive + normalized
        self.sizes = Kinds(descents, roots, normalized, n_columns)
        self.metric[roots:] = self.metric_intercept[roots:] = 1
        self.scales = zeros(n_features, self.dtype)
        self.s = address(self.scales, "fd", n_features, writable=True) if normalized else NULL
        self.counts = np.zeros(2)
        self.n = <double*>address(self.counts, "d", 2, writable=True)
        # Pages of it that no row is long enough for are never touched.
        size = n_features * metric_kept(&self.sizes)
        claim(16 * size)
        self.scratch = np.empty(size), np.empty(size, self.dtype), np.empty(METRIC_MOST)
        self.kept.rates = <double*>address(self.scratch[0], "d", size, writable=True)
        self.kept.roots = address(self.scratch[1], "fd", size, writable=True)
        self.q = <double*>address(self.scratch[2], "d", METRIC_MOST, writable=True)
        for c in range(n_columns):
            self.kind[c] = TABLE[KINDS.index(self.kinds[c])]
            self.moves.growth[c] = 1 + self.forgetting[c - roots] if c >= roots else 1

    @staticmethod
    def fits(column):
        """Whether a geometry of one column can be one of these."""
        return type(column) in KINDS and column.sparse and not column.average

    @staticmethod
    def of(columns):
        """The geometry that holds these columns, given as geometries of one that fit; None: there is none."""
        one, kinds = columns[0], [type(column) for column in columns]
        if kinds != sorted(kinds, key=KINDS.index) or not 2 <= len(kinds) <= METRIC_MOST:
            return None
        forgetting = [column.forgetting for column in columns if isinstance(column, Confidence)]
        mixed = PackedColumns(
            one.n_features, len(kinds), one.dtype, bias=one.bias, descents=kinds.count(GradientAdaptive),
            adaptive=kinds.count(Adaptive), normalized=kinds.count(Normalized), forgetting=forgetting,
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
        sizes = {"descents": self.descents, "adaptive": self.adaptive, "normalized": self.normalized}
        return {**super().settings(), **sizes, "forgetting": self.forgetting}

    def by_feature(self):
        return {**super().by_feature(), "scales": self.scales}

    def others(self):
        return {**super().others(), "counts": self.counts}

    def alone(self, Py_ssize_t c):
        """A copy of one column, in a geometry of its kind."""
        options = {"sparse": True, "bias": self.bias}
        if self.kinds[c] is Confidence:
            options["forgetting"] = self.forgetting[c - self.sizes.roots]
        copy = self.kinds[c](self.n_features, 1, self.dtype, **options)
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
        cdef double bias = self.squared_bias(), q
        self.primitives.lengths(r.x, &self.sizes, &self.m, self.s, &self.kept, self.q)
        for c in range(self.n_columns):
            q = self.q[c] + bias * self.kind[c].rate(self.mb[c], bias)
            self.q[c] = self.k * q if self.kind[c].scaled else q
            if not r.x.squared_norm < INFINITY:  # a metric that learned from the row would be none
                self.q[c] = INFINITY
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
        cdef Py_ssize_t i, c
        cdef const HalfSpace* h
        cdef double squares = 0
        memset(self.moves.a, 0, sizeof(self.moves.a))
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.tau > 0:
                c = h.up if h.up >= 0 else h.down
                if c < self.descents and not in_range(h.loss * r.weight, r.x):
                    continue
                squares += h.tau * (h.tau * h.q)
                if not self.known and self.descents <= c < self.sizes.roots:
                    self.know(r)  # and keep the rates of the move
                self.lead(c, h.tau if h.up >= 0 else -h.tau, h.beta, h.loss * r.weight)
        self.primitives.moves(r.x, &self.sizes, &self.w, &self.m, &self.kept, &self.moves)
        return squares

    cdef void lead(self, Py_ssize_t c, double a, double beta, double slope) noexcept nogil:
        """Say where a column goes, and take its intercept there."""
        cdef double bias = self.squared_bias(), metric = self.mb[c], square = bias
        if self.kind[c].scaled:
            a *= self.k
        if c < self.descents:
            square *= slope * slope
        self.b[c] += a * bias * self.kind[c].rate(metric, square)
        self.mb[c] = self.kind[c].learned(metric, square, beta, self.moves.growth[c])
        self.moves.a[c], self.moves.beta[c], self.moves.g[c] = a, beta, slope
