"""Labelings of a sequence: weights that emit labels, and weights from one label to the next."""

import numpy as np

from onmargin._core.geometries.geometry import ColumnMap
from onmargin._core.restore import whole_size, zeros

from libc.math cimport isnan
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from onmargin._core.geometries.geometry cimport Euclidean
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Rows, Weights, address, vec_padded
from onmargin._core.tasks.sequence cimport RIVAL


cdef inline double square_and_clear(double* number) noexcept nogil:
    cdef double square = number[0] * number[0]
    number[0] = 0
    return square


cdef inline const int32_t* rival_of(const Round* r, const HalfSpace* h) noexcept nogil:
    """Return the labeling that the right one must beat."""
    return r.sequence.rivals + (h.down - RIVAL) * r.n_rows


cdef inline void step(
    const int32_t* up, const int32_t* down, Py_ssize_t rows, double* T, Py_ssize_t stride, double tau
) noexcept nogil:
    """T += tau * (transitions of one labeling - transitions of another)."""
    cdef Py_ssize_t i
    for i in range(1, rows):
        T[up[i - 1] * stride + up[i]] += tau
        T[down[i - 1] * stride + down[i]] -= tau


cdef inline void pair(const int32_t* path, Py_ssize_t rows, Py_ssize_t stride, int32_t* pairs) noexcept nogil:
    """Write the pair of labels that ends at each row of a labeling, except the first."""
    cdef Py_ssize_t i
    for i in range(1, rows):
        pairs[i] = <int32_t>(path[i - 1] * stride + path[i])


def between(tables, column_map):
    """Return the new labels in tables of label by next label, the last two axes."""
    return column_map.of(column_map.of(tables).swapaxes(-1, -2)).swapaxes(-1, -2)


cdef class Paths(Euclidean):
    """Labelings z of the rows of a trial: s(z) = sum_i <W[:, z_i], x_i> + sum_{i > 0} T[z_{i-1}, z_i] ([JMLR] sec. 9).

    That is <w, Phi(x, z)> with w = (W, T). The one half-space of a round is {w : <w, v> >= ...}, v = Phi(x, y) -
    Phi(x, q) being the difference of the right labeling and its rival: only rows that they label differently take
    part, and only transitions that one has and the other does not.

    There is memory for `spare` more labels. Labels that `grown` adds take the next columns of the weights,
    in any order: `order` has the column of each label. Everything else is in the order of the labels.
    """

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0, Py_ssize_t spare=0):
        self.capacity = whole_size(n_columns, "n_columns") + whole_size(spare, "spare")
        self.blocks, self.taken = [], [n_columns]
        super().__init__(n_features, n_columns, dtype, sparse=sparse, bias=bias, average=average)
        self.padded = zeros((n_columns, self.n_scores))
        self.padded[:] = -np.inf
        self.transitions = self.padded[:, :n_columns]
        self.transitions[:] = 0
        self.t = <double*>address(self.padded, "d", self.padded.size, writable=True)
        self.counts = zeros((n_columns, n_columns))
        self.n = <double*>address(self.counts, "d", self.counts.size, writable=True)
        if average:
            self.lag_transitions = zeros((n_columns, n_columns))
            self.lt = <double*>address(self.lag_transitions, "d", self.lag_transitions.size, writable=True)

    def arrays(self):
        """Return the learned arrays by name."""
        return self.columns() | {name: getattr(self, name) for name in self.tables()}

    def tables(self):
        """Return the names of the learned transition arrays."""
        return ("transitions", "lag_transitions") if self.average else ("transitions",)

    def alike(self, Py_ssize_t n_features, Py_ssize_t n_columns):
        """A geometry of the same kind, age and room, of another size, with weights zero."""
        cdef Paths other = type(self)(
            n_features, n_columns, self.dtype, spare=max(self.capacity - n_columns, 0), **self.settings()
        )
        other.clock = self.clock
        return other

    cdef Py_ssize_t count_row(self):
        return vec_padded(self.capacity, self.dtype.itemsize)

    def blank(self, Py_ssize_t sets=1):
        """Memory for weights, all zero, with room for spare labels."""
        memory = super().blank(sets)
        self.blocks.append(memory)
        return memory

    def columns(self):
        """What is learned for each label, by name."""
        found = super().columns()
        if self.order is not None:
            found |= {name: found[name][self.order] for name in ("weights", "lag") if name in found}
        return found

    def mean(self):
        """The averaged weights (labels by features) and intercepts; the current ones until averaging has started."""
        weights, intercept = super().mean()
        return weights if self.order is None else weights[self.order], intercept

    def recombine(self, column_map):
        """Return a copy with new labels, as a `ColumnMap` makes them of those of this geometry."""
        copy = super().recombine(column_map)
        self.hand_over(copy, column_map)
        return copy

    def grown(self, column_map):
        """These labels, where `column_map` moves them, and new ones of weight zero.

        The weights are shared with this geometry while it has room for more labels; otherwise they are copied, with
        room for half as many again. For labels that come one by one the number of copies grows as their logarithm.
        Before the first feature a copy costs nothing, and spare room would spread the weights over more memory.
        """
        cdef Paths other
        cdef Py_ssize_t n = len(column_map), known = self.n_columns
        is_new = column_map.factor == 0
        # Where labels were taken back, the columns after the known ones are not zero.
        if self.feature_major and n <= self.capacity and self.taken[0] == known == n - is_new.sum():
            order = (np.arange(known, dtype=np.int32) if self.order is None else self.order)[column_map.source]
            order[is_new] = np.arange(known, n)
            other = self.alike(self.n_features, n)
            other.share(self, order)
            learned = {"intercept": self.intercept}
            if self.average:
                learned["lag_intercept"] = self.lag_intercept
        else:
            spare = n // 2 if self.n_features > 0 else 0
            other = type(self)(self.n_features, n, self.dtype, spare=spare, **self.settings())
            other.clock = self.clock
            learned = self.columns()
        for name, array in learned.items():
            getattr(other, name).T[:] = column_map.of(array.T)
        self.hand_over(other, column_map)
        return other

    cdef share(self, Paths other, order):
        """Have the weights of another geometry; those of label c are in column order[c]."""
        self.blocks, self.taken, self.capacity = other.blocks, other.taken, other.capacity
        self.taken[0] = self.n_columns
        self.w, self.weights = self.place(self.blocks[0]), self.view(self.blocks[0])
        if self.average:
            self.l, self.lag = self.place(self.blocks[1]), self.view(self.blocks[1])
        self.order, self.loose = order, np.empty(self.n_scores)
        self.column = <const int32_t*>address(self.order, "i", self.n_columns)
        self.by_column = <double*>address(self.loose, "d", self.n_scores, writable=True)

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones of weight zero."""
        copy = super().resize(n_features)
        self.hand_over(copy, ColumnMap(np.arange(self.n_columns), np.ones(self.n_columns)))
        return copy

    def hand_over(self, copy, column_map):
        """Set the combined transitions of a copy."""
        for name in self.tables():
            getattr(copy, name)[:] = between(getattr(self, name), column_map)

    def restart(self):
        """Set the weights to their average, and begin a new average with the next round."""
        means = self.mean_transitions()[:, :self.n_columns]
        super().restart()
        self.transitions[:] = means
        self.lag_transitions[:] = 0

    def for_prediction(self):
        copy = super().for_prediction()
        copy.transitions[:] = self.mean_transitions()[:, :self.n_columns]
        return copy

    def with_features(self, places):
        copy = super().with_features(places)
        self.hand_over(copy, ColumnMap(np.arange(self.n_columns), np.ones(self.n_columns)))
        return copy

    def mean_transitions(self):
        """Return the averaged transitions, padded like the scores; the current ones until averaging has started."""
        mean = self.padded.copy()
        rounds = self.clock - self.average + 1
        if self.average and rounds > 0:
            mean[:, :self.n_columns] -= self.lag_transitions / rounds
        return mean

    def mean_transitions_to(self, Rows X):
        """Return the averaged transitions, padded like the scores: the same into every row."""
        return self.mean_transitions()

    @property
    def by_row(self):
        """Whether transitions into rows differ, by their features."""
        return False

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        self.labels = np.empty(rows, np.int32)
        self.right = <int32_t*>address(self.labels, "i", rows, writable=True)

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(r.n_rows):
            if self.column == NULL:
                Euclidean.project(self, &r.x[i], &self.w, self.b, r.s + i * self.n_scores)
            else:
                self.project_columns(&r.x[i], &self.w, self.b, self.by_column, r.s + i * self.n_scores)
        r.n_scores = r.n_rows * self.n_scores
        r.sequence.n_labels = self.n_columns
        r.sequence.stride = self.n_scores
        r.sequence.transitions = self.t
        r.sequence.transition_stride = 0

    cdef void project_columns(
        self, const Row* x, const Weights* w, const double* b, double* by_column, double* s
    ) noexcept nogil:
        """The scores of labels, from those of the columns that they have."""
        cdef Py_ssize_t c
        self.vec.scores(x, w, by_column)
        for c in range(self.n_columns):
            s[c] = by_column[self.column[c]] + b[c]
        for c in range(self.n_columns, self.n_scores):
            s[c] = 0

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Py_ssize_t c, rounds = self.clock - self.average + 1
        if self.column == NULL:
            Euclidean.mean_scores(self, x, s, spare)
            return
        self.project_columns(x, &self.w, self.b, spare, s)
        if self.average and rounds > 0:
            self.vec.scores(x, &self.l, spare)
            for c in range(self.n_columns):
                s[c] -= (spare[self.column[c]] + self.lb[c]) / rounds

    cdef void measure(self, Round* r) noexcept nogil:
        """A round of labelings has no norm before there is a rival: `curvatures` gives it to the first row."""
        cdef Py_ssize_t i
        for i in range(r.n_rows):
            if isnan(self.bias):
                self.measure_row(&r.x[i])
            r.x[i].squared_norm = 0
        self.clock += 1

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        for i in range(r.n_rows):
            self.right[i] = <int32_t>r.y[i]
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.q = self.squared_distance(r, self.right, rival_of(r, h))
            r.x.squared_norm = max(r.x.squared_norm, h.q)

    cdef void gram(self, const Round* r, double* G) noexcept nogil:
        """<v_i, v_j> = (|v_i|^2 + |v_j|^2 - |v_i - v_j|^2) / 2, and v_i - v_j is the difference of two rivals."""
        cdef Py_ssize_t i, j, n = r.n_halfspaces
        cdef const HalfSpace* h = r.halfspaces
        cdef double apart
        for i in range(n):
            G[i * n + i] = h[i].q
            for j in range(i):
                apart = self.squared_distance(r, rival_of(r, &h[i]), rival_of(r, &h[j]))
                G[i * n + j] = G[j * n + i] = (h[i].q + h[j].q - apart) / 2

    cdef double squared_distance(self, const Round* r, const int32_t* a, const int32_t* b) noexcept nogil:
        """Return |Phi(x, a) - Phi(x, b)|^2."""
        return self.stepped(a, b, r.n_rows) + crossed(self.vec, r.x, a, b, r.n_rows, self.squared_bias())

    cdef double stepped(self, const int32_t* a, const int32_t* b, Py_ssize_t rows) noexcept nogil:
        """Return the squared length of the difference in transitions."""
        cdef Py_ssize_t i, k = self.n_columns
        cdef double total = 0
        step(a, b, rows, self.n, k, 1)
        for i in range(1, rows):
            total += square_and_clear(&self.n[a[i - 1] * k + a[i]])
            total += square_and_clear(&self.n[b[i - 1] * k + b[i]])
        return total

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t i, j
        cdef const HalfSpace* h = r.halfspaces
        cdef const int32_t* rival
        cdef double squares = 0, apart
        for i in range(r.n_halfspaces):
            if h[i].tau > 0:
                rival = rival_of(r, &h[i])
                self.advance(r, rival, h[i].tau)
                squares += h[i].tau * h[i].tau * h[i].q
                for j in range(i):
                    if h[j].tau > 0:
                        apart = self.squared_distance(r, rival, rival_of(r, &h[j]))
                        squares += h[i].tau * h[j].tau * (h[i].q + h[j].q - apart)
        return squares

    cdef void advance(self, const Round* r, const int32_t* rival, double tau) noexcept nogil:
        """w += tau * (Phi(x, y) - Phi(x, rival)), and its lag."""
        cdef double late = self.clock - self.average
        self.relabel(r, rival, &self.w, self.b, tau)
        step(self.right, rival, r.n_rows, self.t, self.n_scores, tau)
        if self.average and late > 0:
            self.relabel(r, rival, &self.l, self.lb, late * tau)
            step(self.right, rival, r.n_rows, self.lt, self.n_columns, late * tau)

    cdef void relabel(
        self, const Round* r, const int32_t* rival, const Weights* w, double* b, double tau
    ) noexcept nogil:
        cdef Py_ssize_t i, up, down
        cdef double change = tau * self.squared_bias()
        for i in range(r.n_rows):
            up, down = self.right[i], rival[i]
            if up != down:
                b[up] += change
                b[down] -= change
                if self.column != NULL:
                    up, down = self.column[up], self.column[down]
                self.vec.add(&r.x[i], w, up, down, tau)


cdef class EdgePaths(Paths):
    """Labelings whose transitions have features, too: s(z) gains sum_{i > 0} <E[:, z_{i-1}, z_i], g_i>.

    g_i is the row x_i restricted to the features that were chosen for transitions, in the order of choice. The pairs of
    labels are the labels of a second emission: a pair (a, b) is its column a * n_scores + b, as in the transitions.
    """

    cdef readonly object places   # index of each feature among the chosen ones, or -1
    cdef const int32_t* place
    cdef readonly Euclidean edges
    cdef Py_ssize_t itemsize      # bytes per value
    cdef tuple scratch            # room for the largest trial
    cdef Row* g
    cdef int32_t* g_indices
    cdef char* g_values
    cdef double* steps            # transition scores into each row, with the stride of the scores of `edges`
    cdef int32_t* one_pair        # the pairs of labels of two labelings
    cdef int32_t* other_pair

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, bint sparse=False, double bias=0.0,
                 Py_ssize_t average=0, Py_ssize_t n_edges=0):
        super().__init__(n_features, n_columns, dtype, sparse=sparse, bias=bias, average=average)
        self.places = zeros(n_features, np.int32) - 1
        self.place = <const int32_t*>address(self.places, "i", n_features)
        self.itemsize = self.dtype.itemsize
        self.edges = Euclidean(n_edges, n_columns * self.n_scores, dtype, sparse=True, average=average)

    def alike(self, Py_ssize_t n_features, Py_ssize_t n_columns):
        """Return a geometry of the same kind and clock, of another size, with weights zero."""
        cdef EdgePaths other = type(self)(
            n_features, n_columns, self.dtype, sparse=self.sparse, bias=self.bias, average=self.average,
            n_edges=self.edges.n_features,
        )
        other.clock = other.edges.clock = self.clock
        return other

    def __reduce__(self):
        make, arguments, state = super().__reduce__()
        make.keywords["n_edges"] = self.edges.n_features
        return make, arguments, state

    def __setstate__(self, state):
        super().__setstate__(state)
        if not -1 <= self.places.min(initial=-1) <= self.places.max(initial=-1) < self.edges.n_features:
            raise ValueError(f"places must be from -1 to {self.edges.n_features - 1}, those of the weights")
        self.edges.clock = self.clock

    def arrays(self):
        """Return the learned arrays by name."""
        learned = {f"edge_{name}": array for name, array in self.edges.arrays().items() if "intercept" not in name}
        return super().arrays() | {"places": self.places} | learned

    def for_prediction(self):
        return self.restarted()

    def grown(self, column_map):
        """A copy with new labels, as of `recombine`: the weights of pairs of labels lie as far apart as labels do."""
        return self.recombine(column_map)

    def choose(self, Py_ssize_t start, chosen):
        """Set which features from `start` on have transition weights; those before do not change."""
        n = int(self.places[:start].max(initial=-1)) + 1
        self.places[start:start + len(chosen)] = np.where(chosen, n - 1 + np.cumsum(chosen), -1)
        n += np.count_nonzero(chosen)
        if n > self.edges.n_features:
            self.edges = self.edges.resize(max(n, 2 * self.edges.n_features))

    def hand_over(self, copy, column_map):
        """Set the combined transition arrays of a copy."""
        super().hand_over(copy, column_map)
        shared = min(self.n_features, copy.n_features)
        copy.places[:shared] = self.places[:shared]
        for mine, other in zip(self.by_pair(), copy.by_pair(), strict=True):
            other[:] = between(mine, column_map)

    def restart(self):
        """Set the weights to their average, and begin a new average with the next round."""
        super().restart()
        self.edges.restart()

    def by_pair(self):
        """Return the transition weights of the chosen features and their lag: feature by label by next label."""
        tables = (self.edges.weights, self.edges.lag) if self.average else (self.edges.weights,)
        return [
            table.T.reshape(len(table.T), self.n_columns, self.n_scores)[..., :self.n_columns] for table in tables
        ]

    def mean_by_pair(self):
        """Return the averaged transition weights of the chosen features: feature by label by next label."""
        mean = self.edges.mean()[0].T
        return mean.reshape(len(mean), self.n_columns, self.n_scores)[..., :self.n_columns]

    @property
    def by_row(self):
        return True

    def mean_transitions_to(self, Rows X):
        """Return the averaged transitions into each row, by label and next label, padded like the scores."""
        cdef Py_ssize_t i, n = X.n_rows, width = self.edges.n_scores
        if X.n_features != self.n_features:
            raise ValueError(f"rows of {X.n_features} features do not fit weights for {self.n_features}")
        stored = X.most_stored(np.arange(n + 1))
        indices, values, steps = np.empty(stored, np.int32), np.empty(stored, self.dtype), np.empty((n + 1, width))
        cdef int32_t* g_indices = <int32_t*>address(indices, "i", stored, writable=True)
        cdef char* g_values = <char*>address(values, "fd", stored, writable=True)
        cdef double* s = <double*>address(steps, "d", (n + 1) * width, writable=True)
        cdef Row x, g
        with nogil:
            for i in range(n):
                X.row(i, &x)
                self.pick(&x, &g, g_indices, g_values)
                self.edges.mean_scores(&g, s + i * width, s + n * width)
        columns = self.n_columns * self.n_scores
        return self.mean_transitions() + steps[:n, :columns].reshape(n, self.n_columns, self.n_scores)

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        Paths.reserve(self, rows, values)
        self.scratch = (
            np.zeros(rows * sizeof(Row), np.uint8), np.empty(values, np.int32), np.empty(values, self.dtype),
            np.empty(rows * self.edges.n_scores), np.empty(2 * rows, np.int32),
        )
        self.g = <Row*>address(self.scratch[0], "B", rows * sizeof(Row), writable=True)
        self.g_indices = <int32_t*>address(self.scratch[1], "i", values, writable=True)
        self.g_values = <char*>address(self.scratch[2], "fd", values, writable=True)
        self.steps = <double*>address(self.scratch[3], "d", rows * self.edges.n_scores, writable=True)
        self.one_pair = <int32_t*>address(self.scratch[4], "i", 2 * rows, writable=True)
        self.other_pair = self.one_pair + rows

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i, c
        cdef double* to_row = self.steps
        Paths.scores(self, r)
        self.gather(r)
        for i in range(1, r.n_rows):
            to_row += self.edges.n_scores
            self.edges.vec.scores(&self.g[i], &self.edges.w, to_row)
            for c in range(self.n_columns * self.n_scores):
                to_row[c] += self.t[c]
        r.sequence.transitions = self.steps
        r.sequence.transition_stride = self.edges.n_scores

    cdef void gather(self, const Round* r) noexcept nogil:
        """Gather the chosen features of each row except the first."""
        cdef Py_ssize_t i, n = 0
        for i in range(1, r.n_rows):
            self.pick(&r.x[i], &self.g[i], self.g_indices + n, self.g_values + n * self.itemsize)
            n += self.g[i].n

    cdef void pick(self, const Row* x, Row* g, int32_t* indices, char* values) noexcept nogil:
        """Write the chosen features of one row to `indices` and `values`, and point g to them."""
        cdef Py_ssize_t k, n = 0
        cdef int32_t place
        for k in range(x.n):
            place = self.place[k if x.indices == NULL else x.indices[k]]
            if place >= 0:
                indices[n] = place
                memcpy(values + n * self.itemsize, <const char*>x.values + k * self.itemsize, self.itemsize)
                n += 1
        g.values, g.indices, g.n, g.ahead = values, indices, n, n

    cdef void measure(self, Round* r) noexcept nogil:
        Paths.measure(self, r)
        self.edges.clock += 1

    cdef double squared_distance(self, const Round* r, const int32_t* a, const int32_t* b) noexcept nogil:
        cdef double emitted = Paths.squared_distance(self, r, a, b)
        if r.n_rows < 2:
            return emitted
        pair(a, r.n_rows, self.n_scores, self.one_pair)
        pair(b, r.n_rows, self.n_scores, self.other_pair)
        return emitted + crossed(self.edges.vec, self.g + 1, self.one_pair + 1, self.other_pair + 1, r.n_rows - 1, 0)

    cdef void advance(self, const Round* r, const int32_t* rival, double tau) noexcept nogil:
        cdef double late = self.clock - self.average
        pair(self.right, r.n_rows, self.n_scores, self.one_pair)
        pair(rival, r.n_rows, self.n_scores, self.other_pair)
        self.link(r, &self.edges.w, tau)
        if self.average and late > 0:
            self.link(r, &self.edges.l, late * tau)
        Paths.advance(self, r, rival, tau)

    cdef void link(self, const Round* r, const Weights* w, double tau) noexcept nogil:
        """E += tau * (g_i at the right pairs of labels - g_i at those of the rival)."""
        cdef Py_ssize_t i
        for i in range(1, r.n_rows):
            if self.one_pair[i] != self.other_pair[i]:
                self.edges.vec.add(&self.g[i], w, self.one_pair[i], self.other_pair[i], tau)
