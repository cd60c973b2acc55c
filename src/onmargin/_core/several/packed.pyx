"""Single columns with different metrics, packed in memory."""

import numpy as np

from onmargin._core.restore import claim, whole, zeros

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport uint8_t
from libc.string cimport memset

from onmargin._core.geometries.diagonal cimport Diagonal, in_range, product
from onmargin._core.geometries.diagonal import Adaptive, Confidence, GradientAdaptive, Normalized
from onmargin._core.geometries.geometry import Euclidean
from onmargin._core.metric cimport METRIC_LEAST, METRIC_MOST, Kept, Kinds, Moves, metric_kept
from onmargin._core.round cimport HalfSpace, Round, finite
from onmargin._core.rows cimport Row, address


# The kinds of columns, in memory order.
KINDS = (GradientAdaptive, Adaptive, Normalized, Confidence, Euclidean)
# Features of dense rows up to which columns lie together.
MOST_DENSE = 40


cdef inline Py_ssize_t column_of(const HalfSpace* h) noexcept nogil:
    """Return the only column of a half-space."""
    return max(h.up, h.down)


cdef class PackedColumns(Diagonal):
    """Columns of kind `descents`, then `adaptive`, then `normalized`, and one with variances per value of `forgetting`.

    The last ones are `plain`: with variances that stay 1. Each column learns as in a geometry of its own kind. All
    numbers of a feature stand together, at most sixteen weights and what is next to them, so that a non-zero costs one
    trip to memory for all columns; scores, lengths and moves are worked out for a vector of columns at a time. No
    half-space has two sides. Without averaging.

    `order` says in which column each model is; by default they are in the order of the columns. Of dense rows each
    model may sleep by itself; of sparse ones all sleep together.
    """

    cdef readonly Py_ssize_t descents, adaptive, normalized, plain
    cdef readonly tuple forgetting
    cdef readonly tuple order    # the column of each model
    cdef readonly object scales  # n_features
    cdef readonly object counts  # rounds t, and N, as in Normalized
    cdef tuple kinds             # of the columns
    cdef Kinds sizes
    cdef Moves moves
    cdef Kept kept
    cdef tuple scratch
    cdef double* q
    cdef void* s
    cdef double* n
    # Per column:
    cdef double[16] factors      # of the metric in the round: k as in Normalized, otherwise 1
    cdef double[16] slopes       # of those whose lengths are known; 0: not known
    cdef double[16] roots        # of the intercept's metric after the round, where it keeps roots
    cdef double[16] rates        # the metric of the intercept in the round
    cdef Py_ssize_t[16] asleep   # the columns that sleep
    cdef Py_ssize_t n_asleep
    cdef bint scaling            # whether a column with scales is awake

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=True, double bias=0.0,
                 Py_ssize_t average=0, Py_ssize_t descents=0, Py_ssize_t adaptive=0, Py_ssize_t normalized=0,
                 forgetting=(), Py_ssize_t plain=0, order=()):
        self.descents = whole(descents, "descents", most=METRIC_MOST)
        self.adaptive = whole(adaptive, "adaptive", most=METRIC_MOST)
        self.normalized = whole(normalized, "normalized", most=METRIC_MOST)
        self.plain = whole(plain, "plain", most=METRIC_MOST)
        self.forgetting = tuple(forgetting)
        self.order = tuple([whole(c, "order") for c in order]) or tuple(range(n_columns))
        sizes = descents, adaptive, normalized, len(self.forgetting), plain
        self.kinds = sum([(kind,) * size for kind, size in zip(KINDS, sizes, strict=True)], ())
        if n_columns != len(self.kinds) or not 2 <= n_columns <= METRIC_MOST or average:
            raise ValueError(f"{n_columns} columns cannot be packed like this")
        if sorted(self.order) != list(range(n_columns)):
            raise ValueError(f"order must name each of {n_columns} columns once; got {self.order}")
        super().__init__(n_features, n_columns, dtype, sparse=True, bias=bias)
        self.sparse = sparse  # the weights lie the same way for dense rows
        self.scaling = normalized > 0
        cdef Py_ssize_t c, roots = descents + adaptive + normalized
        self.sizes = Kinds(roots, normalized, n_columns)
        self.metric[roots:] = self.metric_intercept[roots:] = 1
        self.scales = zeros(n_features, self.dtype)
        self.s = address(self.scales, "fd", n_features, writable=True) if normalized else NULL
        self.counts = np.zeros(2)
        self.n = <double*>address(self.counts, "d", 2, writable=True)
        # Pages beyond the longest row are never touched.
        size = n_features * metric_kept(&self.sizes)
        claim(16 * size)
        self.scratch = np.empty(size), np.empty(size, self.dtype), np.empty(METRIC_MOST)
        self.kept.rates = <double*>address(self.scratch[0], "d", size, writable=True)
        self.kept.roots = address(self.scratch[1], "fd", size, writable=True)
        self.q = <double*>address(self.scratch[2], "d", METRIC_MOST, writable=True)
        for c in range(n_columns):
            self.factors[c] = 1
            self.moves.growth[c] = 1 + self.forgetting[c - roots] if self.kinds[c] is Confidence else 1

    @property
    def guards(self):
        return False

    @property
    def separable(self):
        return True

    @property
    def summed_metrics(self):
        return self.descents + self.adaptive + self.normalized

    def members(self, Py_ssize_t width):
        return [(c, c) for c in self.order]

    def keep_members(self, stays):
        return [self.alone(c) for c, stay in zip(self.order, stays, strict=True) if stay]

    def recombine_members(self, Py_ssize_t width, column_map):
        return [self.alone(c).recombine(column_map) for c in self.order]

    @property
    def sleeps_by_model(self):
        """Whether models may sleep one by one."""
        return not self.sparse

    @staticmethod
    def fits(column):
        """Whether a geometry has one column that is better off as one of these.

        Plain columns of sparse rows need no metric, and long dense rows fill vectors by themselves.
        """
        if type(column) not in KINDS or column.n_columns != 1 or column.average:
            return False
        return type(column) is not Euclidean if column.sparse else column.n_features <= MOST_DENSE

    @staticmethod
    def of(columns):
        """Return one geometry with these columns, given as geometries of one column that fit; None if they stay apart.

        Columns of one kind stay apart on dense rows: they then learn, to the last bit, as if each were alone.
        """
        one, kinds = columns[0], [KINDS.index(type(column)) for column in columns]
        if not 2 <= len(kinds) <= METRIC_MOST or (not one.sparse and len(set(kinds)) == 1):
            return None
        order = np.argsort(np.argsort(kinds, kind="stable")).tolist()
        columns = sorted(columns, key=lambda column: KINDS.index(type(column)))
        sizes = dict(zip(("descents", "adaptive", "normalized"), map(kinds.count, range(3)), strict=True))
        forgetting = [column.forgetting for column in columns if isinstance(column, Confidence)]
        packed = PackedColumns(
            one.n_features, len(kinds), one.dtype, sparse=one.sparse, bias=one.bias, **sizes, forgetting=forgetting,
            plain=kinds.count(4), order=order,
        )
        clock = max([column.clock for column in columns])
        if clock > 0:
            learned = {
                name: np.concatenate([
                    getattr(column, name, np.ones_like(getattr(column, like))) for column in columns
                ])
                for name, like in (
                    ("weights", "weights"), ("intercept", "intercept"), ("metric", "weights"),
                    ("metric_intercept", "intercept"),
                )
            }
            scaled = [column for column in columns if isinstance(column, Normalized)] or [packed]
            packed.__setstate__({"clock": clock, **learned, "scales": scaled[0].scales, "counts": scaled[0].counts})
        return packed

    def settings(self):
        sizes = {"descents": self.descents, "adaptive": self.adaptive, "normalized": self.normalized}
        return {
            **super().settings(), **sizes, "forgetting": self.forgetting, "plain": self.plain, "order": self.order,
        }

    def by_feature(self):
        return {**super().by_feature(), "scales": self.scales}

    def others(self):
        return {**super().others(), "counts": self.counts}

    def alone(self, Py_ssize_t c):
        """Return a copy of one column as a geometry of its kind."""
        options = {"sparse": self.sparse, "bias": self.bias}
        if self.kinds[c] is Confidence:
            options["forgetting"] = self.forgetting[c - self.sizes.roots]
        copy = self.kinds[c](self.n_features, 1, self.dtype, **options)
        state = {
            name: array if name in {"scales", "counts"} else array[c:c + 1] for name, array in self.arrays().items()
        }
        copy.__setstate__({"clock": self.clock, **state})
        return copy

    cdef void scores(self, Round* r) noexcept nogil:
        Diagonal.scores(self, r)
        self.silence(r.s)

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        Diagonal.mean_scores(self, x, s, spare)
        self.silence(s)

    cdef void silence(self, double* s) noexcept nogil:
        """Set the scores of models that sleep."""
        cdef Py_ssize_t i
        for i in range(self.n_asleep):
            s[self.asleep[i]] = 0

    cdef void put_to_sleep(self, const uint8_t* asleep) noexcept nogil:
        cdef Py_ssize_t c
        self.n_asleep = 0
        self.scaling = False
        for c in range(self.n_columns):
            if not self.sparse and asleep != NULL and asleep[c]:
                self.asleep[self.n_asleep] = c
                self.n_asleep += 1
            elif self.is_scaled(c):
                self.scaling = True

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t c
        cdef double k
        Diagonal.measure(self, r)
        memset(self.slopes, 0, sizeof(self.slopes))
        if self.scaling:
            self.n[0] += 1
            self.n[1] += self.primitives.extend(r.x, self.s) + (self.squared_bias() > 0)
            k = sqrt(self.n[0] / self.n[1]) if self.n[1] > 0 else 0
            for c in range(self.sizes.roots - self.normalized, self.sizes.roots):
                self.factors[c] = k

    cdef void know(self, const Round* r) noexcept nogil:
        """The lengths of x in the metrics of the columns that half-spaces ask for, and what moves need."""
        cdef Py_ssize_t i
        memset(self.slopes, 0, sizeof(self.slopes))
        for i in range(r.n_halfspaces):
            self.slopes[column_of(&r.halfspaces[i])] = self.slope(r, &r.halfspaces[i])
        self.primitives.lengths(r.x, &self.sizes, self.slopes, &self.m, self.s, &self.kept, self.q)
        self.know_intercepts()

    cdef void know_intercepts(self) noexcept nogil:
        """The metrics of the intercepts, the weights of a coordinate of value `bias`, as in Diagonal."""
        cdef Py_ssize_t c, roots = self.sizes.roots
        cdef double bias = self.squared_bias(), g, reach
        for c in range(roots):
            g = self.slopes[c] if c < self.descents else 1
            reach = fabs(self.bias) if self.is_scaled(c) else 1
            self.roots[c] = sqrt(finite(self.mb[c] * self.mb[c] + g * g * bias))
            reach *= self.roots[c]
            self.rates[c] = 1 / (reach if reach > 1e-300 else INFINITY)
        for c in range(roots, self.n_columns):
            self.rates[c] = self.mb[c]

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i, c
        cdef HalfSpace* h
        cdef double bias = self.squared_bias()
        cdef bint measured = r.x.squared_norm < INFINITY  # otherwise a metric that learned from the row would be none
        self.know(r)
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            c = column_of(h)
            h.q = self.factors[c] * (self.q[c] + bias * self.rates[c]) if measured else INFINITY
            if c < self.descents:
                h.q = 0  # not asked for

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t i, c
        cdef const HalfSpace* h
        cdef double squares = 0
        cdef bint known = True
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            known &= self.slopes[column_of(h)] == self.slope(r, h)
        if not known:  # steps have asked for the lengths of some half-spaces only
            self.know(r)
        memset(self.moves.a, 0, sizeof(self.moves.a))
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            c = column_of(h)
            if h.tau > 0 and (c >= self.descents or in_range(self.slopes[c], r.x)):
                squares += h.tau * (h.tau * h.q)
                self.moves.a[c] = (h.tau if h.up >= 0 else -h.tau) * self.factors[c]
                self.moves.beta[c] = h.beta if c < self.n_columns - self.plain else 0
                self.move_intercept(c)
        self.primitives.moves(r.x, &self.sizes, &self.w, &self.m, &self.kept, &self.moves)
        memset(self.slopes, 0, sizeof(self.slopes))
        return squares

    cdef inline void move_intercept(self, Py_ssize_t c) noexcept nogil:
        """Move the intercept of a column as its weights."""
        cdef double bias = self.squared_bias(), metric = self.mb[c]
        self.b[c] += product(self.moves.a[c], bias, self.rates[c])
        if c < self.sizes.roots:
            self.mb[c] = self.roots[c]
        elif bias > 0:
            metric = self.moves.growth[c] * (metric - self.moves.beta[c] * bias * metric * metric)
            self.mb[c] = min(max(metric, METRIC_LEAST), 1)

    cdef inline double slope(self, const Round* r, const HalfSpace* h) noexcept nogil:
        """Return the factor of the row in the squares that a half-space adds to its metric."""
        return h.loss * r.weight if column_of(h) < self.descents else 1

    cdef inline bint is_scaled(self, Py_ssize_t c) noexcept nogil:
        """Whether the metric of a column has the factor k of Normalized."""
        return self.sizes.roots - self.normalized <= c < self.sizes.roots
