"""A geometry holds the weights and moves them."""

from functools import cached_property, partial

import numpy as np

from onmargin._core.restore import fill, whole, whole_size, zeros

from libc.math cimport INFINITY
from libc.string cimport memset

from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Weights, address, vec_for, vec_padded


# The "auto" intercept coordinate is this part of the norm of the first non-zero row: large enough to be learned
# quickly, too small to dominate the row as a plain 1 would for text of unit norm.
AUTO_BIAS = 0.3


def float_type(dtype):
    """Return the type of weights as a dtype, float32 or float64."""
    found = np.dtype(dtype)
    if found not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float32 or float64; got {found}")
    return found


class ColumnMap:
    """New columns, each a multiple of an old one: column c is factor[c] times column source[c]; new ones have factor 0.

    It takes memory for the columns only, where a matrix would make a new class cost the square of their number.
    """

    def __init__(self, source, factor):
        self.source = source
        self.factor = factor

    def __len__(self):
        return len(self.source)

    def behind(self, Py_ssize_t first):
        """Return the same map for old columns that begin at another one."""
        return ColumnMap(self.source + first, self.factor)

    def of(self, columns):
        """Return the new columns, where columns are the last axis."""
        # + 0 turns -0 into 0, as in a sum
        return columns[..., self.source] * self.factor.astype(columns.dtype) + 0

    @cached_property
    def runs(self):
        """Where columns only move, as pairs of slices of new and old columns; None if factors scale them."""
        new = np.flatnonzero(self.factor)
        old = self.source[new]
        if (self.factor[new] != 1).any():
            return None
        cuts = [0, *(np.flatnonzero((np.diff(new) != 1) | (np.diff(old) != 1)) + 1).tolist(), len(new)]
        ends = [(i, j - 1) for i, j in zip(cuts, cuts[1:], strict=False) if i < j]
        return [tuple([slice(int(part[i]), int(part[j]) + 1) for part in (new, old)]) for i, j in ends]

    def write(self, columns, out):
        """Write the new columns to `out`, which is all zero; those that only move are read and written once."""
        if self.runs is None:
            out[...] = self.of(columns)
            return
        for new, old in self.runs:
            np.add(columns[..., old], 0, out=out[..., new])


cdef class Geometry:
    """Base class of geometries.

    reserve      make room for trials of this many rows and stored values
    scores       scores of the rows of a round, s[c] = <W[:, c], x> for every column
    mean_scores  scores of one row with the weights that predict: the averaged ones, if any; writes to `s` and `spare`
                 only, so that several threads can score at once
    averages     whether those differ from the scores that learn
    measure      count a round that is being learned, and compute the norms of its rows
    norms        compute the norms of the rows, intercept coordinate included
    curvatures   compute the squared length of the direction of every half-space
    gram         compute the inner products of all those directions
    line_search  return the step along a half-space at which its loss is zero, at most `cap`
    move         move tau along every half-space; return the squared length of the move
    """

    @property
    def symmetric(self):
        """Whether weights with all signs changed learn the other class in the same way."""
        return True

    @property
    def half(self):
        """The factor of the column of two classes when it becomes two columns, which keeps the margin."""
        return 0.5

    @property
    def guards(self):
        """Whether rows need not be checked before they are scored: the scores of non-finite rows are not finite."""
        return False

    @property
    def linear(self):
        """Whether it has weights for the features of rows."""
        return True

    @property
    def sparsifiable(self):
        """Whether the weights can be stored in sparse form: they are sums of updates, most of them zero."""
        return False

    @property
    def summed_metrics(self):
        """The number of first columns whose metric grows by sums, the rest being variances; None without a metric."""
        return None

    @property
    def separable(self):
        """Whether `keep_members` can keep some of its models without the others."""
        return False

    @property
    def cannot_mix(self):
        """Why the mean of the weights of several shards is meaningless; empty if it is not."""
        return f"no mix is defined for {type(self).__name__} weights"

    def members(self, Py_ssize_t width):
        """Return the places of the models in it: the first score and the first of `width` columns of each."""
        return [(c, c) for c in range(0, self.n_columns, width)]

    def keep_members(self, stays):
        """Return the geometries of the kept models, given one flag per model; by default models stay together."""
        return [self] if any(stays) else []

    def recombine_members(self, Py_ssize_t width, column_map):
        """Return geometries of the same models, each with new columns."""
        return [self.recombine(column_map.behind(first)) for first in range(0, self.n_columns, width)]

    def size_beside_weights(self, Py_ssize_t n_features):
        """Return how many numbers it would keep besides the weights of this many features."""
        return 0

    def trace(self, rows):
        """Return the scores of traced rows (see io/_onnx_graph.py), with the weights that predict."""
        if not self.linear:
            raise TypeError(f"{type(self).__name__} cannot be exported")
        weights, intercepts = self.mean()
        return rows.times(weights.T, intercepts)

    def restarted(self):
        """Return a copy that continues from the averaged weights, with a new average; itself without an average."""
        return self

    def for_prediction(self):
        """Return a copy with the same scores that lacks what only learning needs, as far as that can be left out."""
        return self.restarted()

    def leaves(self):
        """Return the geometries that are side by side in this one, or itself if it does not combine others."""
        return [self]

    def holders(self):
        """Return the geometries in this one that hold weights, whose means over shards can be taken one by one."""
        leaves = self.leaves()
        return leaves if leaves[0] is self else [holder for leaf in leaves for holder in leaf.holders()]

    def room(self, Py_ssize_t n_features):
        """Return the number of features to grow to, if this many need weights and more may follow."""
        return max(2 * self.n_features, n_features)

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        pass

    cdef void scores(self, Round* r) noexcept nogil:
        pass

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        pass

    cdef bint averages(self) noexcept nogil:
        return False

    cdef void measure(self, Round* r) noexcept nogil:
        pass

    cdef void norms(self, Round* r) noexcept nogil:
        pass

    cdef void curvatures(self, Round* r) noexcept nogil:
        pass

    cdef void gram(self, const Round* r, double* G) noexcept nogil:
        pass

    cdef double line_search(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        return min(cap, h.loss / h.q) if 0 < h.q < INFINITY else 0

    cdef double move(self, const Round* r) noexcept nogil:
        return 0

    cdef void put_to_sleep(self, const uint8_t* asleep) noexcept nogil:
        """Set which models sleep, one flag per score; NULL if none does."""
        pass


cdef class Columns(Geometry):
    """Base of geometries with one row per round and one score per column: directions are multiples of the row."""

    @property
    def sparsifiable(self):
        return True

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.q = r.x.squared_norm * sides(h)

    cdef void gram(self, const Round* r, double* G) noexcept nogil:
        cdef Py_ssize_t i, j, n = r.n_halfspaces
        cdef HalfSpace* g
        cdef HalfSpace* h
        for i in range(n):
            for j in range(n):
                g, h = &r.halfspaces[i], &r.halfspaces[j]
                G[i * n + j] = r.x.squared_norm * (
                    (g.up == h.up and g.up >= 0) + (g.down == h.down and g.down >= 0)
                    - (g.up == h.down and g.up >= 0) - (g.down == h.up and g.down >= 0)
                )

    cdef double combine(self, const Round* r) noexcept nogil:
        """Set the change of each column in multiples of the row; return the sum of its squares.

        Nothing is written for a single half-space.
        """
        cdef Py_ssize_t i
        cdef HalfSpace* h = r.halfspaces
        cdef double squares = 0, rise = 0
        if r.n_halfspaces == 1:
            return h.tau * h.tau * sides(h)
        memset(r.change, 0, r.n_scores * sizeof(double))
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.down >= 0:
                r.change[h.down] -= h.tau
            # Several half-spaces may share a class: sum them first.
            if h.up >= 0:
                rise += h.tau
                if i + 1 == r.n_halfspaces or r.halfspaces[i + 1].up != h.up:
                    r.change[h.up] += rise
                    rise = 0
        for i in range(r.n_scores):
            squares += r.change[i] * r.change[i]
        return squares


def in_single(weights):
    """Return weights rounded to single precision, except those beyond its range."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = weights.astype(np.float32)
    return np.where((np.abs(rounded) > 1e-30) & np.isfinite(rounded), rounded, weights)


cdef class Euclidean(Columns):
    """Plain weights. `sparse` tells which rows to expect and selects the memory layout (see vec.h), not the result.

    The intercept is the weight of one more coordinate of value `bias`, inside the norm. It is kept in score units
    (bias times the weight), so that its meaning does not depend on the bias: a move of tau changes it by tau bias^2.

    With `average`, the mean of the weights after each round from that round on is maintained at the cost of the
    updates.
    A change d made at round s is missing from the first s - average of those T weights, so their mean is W - lag / T
    with lag = sum_s max(s - average, 0) d_s.
    """

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0):
        self.plain = type(self) is Euclidean
        self.n_features = whole_size(n_features, "n_features")
        self.n_columns = whole_size(n_columns, "n_columns", least=1)
        self.dtype = float_type(dtype)
        self.sparse = sparse
        self.vectors = self.count_vectors()
        self.feature_major = sparse and self.vectors > 1
        self.bias = bias
        self.average = whole(average, "average")
        self.found = -1
        self.vec = vec_for(self.dtype.itemsize)
        self.n_scores = vec_padded(n_columns, self.dtype.itemsize) if self.feature_major else n_columns
        self.intercept = zeros(n_columns)
        self.b = <double*>address(self.intercept, "d", n_columns, writable=True)
        memory = self.blank()
        self.w, self.weights = self.place(memory), self.view(memory)
        if average:
            memory = self.blank()
            self.l, self.lag = self.place(memory), self.view(memory)
            self.lag_intercept = zeros(n_columns)
            self.lb = <double*>address(self.lag_intercept, "d", n_columns, writable=True)

    @property
    def guards(self):
        return self.plain

    @property
    def cannot_mix(self):
        return ""

    cdef Py_ssize_t count_vectors(self):
        return self.n_columns

    cdef Py_ssize_t count_row(self):
        return self.n_scores

    def blank(self, Py_ssize_t sets=1):
        """Return zeroed memory for one or several sets of weights, aligned to a cache line."""
        shape = (sets * self.vectors, self.n_features)
        if self.feature_major:
            shape = (self.n_features, sets * self.count_row())
        size = shape[0] * shape[1] * self.dtype.itemsize
        raw = zeros(size + 64, np.uint8)
        first = -raw.ctypes.data % 64
        return raw[first:first + size].view(self.dtype).reshape(shape)

    def view(self, memory, Py_ssize_t k=0):
        """Return the weights of set k in that memory, columns by features."""
        first = k * (self.n_scores if self.feature_major else self.vectors)
        return (memory.T if self.feature_major else memory)[first:first + self.vectors]

    cdef Weights place(self, object memory, Py_ssize_t k=0):
        cdef Weights w
        cdef Py_ssize_t first = k * (self.n_scores if self.feature_major else self.vectors * self.n_features)
        cdef Py_ssize_t itemsize = self.dtype.itemsize
        w.W = <char*>address(memory, "fd", memory.size, writable=True) + first * itemsize
        w.columns = self.vectors
        w.stride = memory.shape[1] if self.feature_major else 1
        w.gap = 1 if self.feature_major else self.n_features
        return w

    def alike(self, Py_ssize_t n_features, Py_ssize_t n_columns):
        """Return a geometry of the same kind and clock, of another size, with weights zero."""
        cdef Euclidean other = type(self)(n_features, n_columns, self.dtype, **self.settings())
        other.clock = self.clock
        return other

    def settings(self):
        """Return the constructor arguments of a geometry of the same kind, by name."""
        return {"sparse": self.sparse, "bias": self.bias, "average": self.average}

    def arrays(self):
        """Return the learned arrays by name."""
        return self.columns()

    def columns(self):
        """Return the learned arrays per column, by name."""
        names = ("weights", "intercept", "lag", "lag_intercept") if self.average else ("weights", "intercept")
        return {name: getattr(self, name) for name in names}

    def __reduce__(self):
        sizes = {"n_features": self.n_features, "n_columns": self.n_columns, "dtype": self.dtype.name}
        return partial(type(self), **sizes, **self.settings()), (), {"clock": self.clock, **self.arrays()}

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        for name, array in self.arrays().items():
            fill(array, state, name)

    def mean(self):
        """Return the averaged weights (columns by features) and intercepts; the current ones until averaging has
        started.

        The current weights are not a copy: training changes them.
        """
        rounds = self.clock - self.average + 1
        if not self.average or rounds < 1:
            return self.weights, self.intercept.copy()
        return self.weights - self.lag / self.dtype.type(rounds), self.intercept - self.lag_intercept / rounds

    def assign(self, coef, intercept):
        """Replace the current weights and intercepts, and restart the average."""
        self.weights[:] = coef
        self.intercept[:] = intercept
        if self.average:
            self.lag[:] = 0
            self.lag_intercept[:] = 0

    def restarted(self):
        if not self.average or self.clock < self.average:
            return self
        copy = self.resize(self.n_features)
        copy.restart()
        return copy

    def restart(self):
        """Set the weights to their average, and begin a new average with the next round."""
        self.assign(*self.mean())
        self.average = self.clock + 1

    def for_prediction(self):
        """Return a copy with the averaged weights, rounded to single precision, and everything else as at the start."""
        cdef Euclidean copy = self.alike(self.n_features, self.n_columns)
        weights, intercept = self.mean()
        copy.assign(in_single(weights), intercept)
        if self.average:
            copy.average = copy.clock + 1
        return copy

    def with_features(self, places):
        """Return a copy with some of the features only."""
        copy = self.alike(len(places), self.n_columns)
        for name, array in self.columns().items():
            getattr(copy, name)[...] = array[..., places] if array.ndim == 2 else array
        return copy

    def recombine(self, column_map):
        """Return a copy with new columns, as a `ColumnMap` makes them of those of this geometry."""
        copy = self.alike(self.n_features, len(column_map))
        if self.clock > 0:  # all is zero before the first round
            for name, array in self.columns().items():
                # Transposed, the product is written in the memory order of feature-major weights.
                column_map.write(array.T, getattr(copy, name).T)
        return copy

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones of weight zero."""
        copy = self.alike(n_features, self.n_columns)
        shared = min(n_features, self.n_features)
        for name, array in self.columns().items():
            part = slice(shared) if array.ndim == 2 else slice(None)
            getattr(copy, name)[..., part] = array[..., part]
        return copy

    def restore(self, Euclidean copy):
        """Restore, in place, the state of a copy that was made before."""
        self.bias, self.clock = copy.bias, copy.clock
        for name, array in self.arrays().items():
            array[...] = getattr(copy, name)

    cdef void scores(self, Round* r) noexcept nogil:
        self.score(r)

    cdef void project(self, const Row* x, const Weights* w, const double* b, double* s) noexcept nogil:
        cdef Py_ssize_t c
        self.vec.scores(x, w, s)
        for c in range(self.n_columns):
            s[c] += b[c]

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Py_ssize_t c, rounds = self.clock - self.average + 1
        self.project(x, &self.w, self.b, s)
        if self.average and rounds > 0:
            self.project(x, &self.l, self.lb, spare)
            for c in range(self.n_columns):
                s[c] -= spare[c] / rounds

    cdef bint averages(self) noexcept nogil:
        return self.average > 0

    cdef void measure(self, Round* r) noexcept nogil:
        self.count(r)

    cdef void norms(self, Round* r) noexcept nogil:
        self.measure_row(r.x)

    cdef void measure_row(self, Row* x) noexcept nogil:
        self.take_norm(x, self.vec.squared_norm(x))

    cdef double move(self, const Round* r) noexcept nogil:
        cdef double squares
        if r.n_halfspaces == 1:
            return self.move_along(r, r.halfspaces)
        squares = self.combine(r)
        self.shift(r, &self.w, self.b, 1)
        if self.average and self.clock > self.average:
            self.shift(r, &self.l, self.lb, self.clock - self.average)
        return squares * r.x.squared_norm

    cdef void shift(self, const Round* r, const Weights* w, double* b, double scale) noexcept nogil:
        """W += scale * (the move of a round with several half-spaces, which `combine` has summed)."""
        cdef Py_ssize_t c, touched = 0
        cdef double* t = r.change
        cdef double squared_bias = self.squared_bias()
        memset(t + self.n_columns, 0, (self.n_scores - self.n_columns) * sizeof(double))  # padding does not change
        for c in range(self.n_columns):
            t[c] *= scale
            b[c] += t[c] * squared_bias
            touched += t[c] != 0
        if touched * 8 > self.n_scores:  # moving a vector of columns costs as much as moving one
            self.vec.add_all(r.x, w, t)
            return
        for c in range(self.n_columns):
            if t[c] != 0:
                self.vec.add(r.x, w, c, -1, t[c])
