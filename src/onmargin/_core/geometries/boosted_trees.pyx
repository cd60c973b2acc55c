"""Boosted trees of the rows that were learned last."""

import numpy as np

from onmargin._core.geometries.recent_rows import KEPT
from onmargin._core.restore import fill, whole, zeros

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, ceil, sqrt
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from onmargin._core.geometries.recent_rows cimport RecentRows
from onmargin._core.geometries.splitmix cimport mixed
from onmargin._core.round cimport Round, finite
from onmargin._core.rows cimport Row, address

cdef enum:
    TREES = 64
    LEAVES = 24         # of a tree, at most
    NODES = 47          # 2 LEAVES - 1
    BINS = 32           # of a feature, at most
    AT_ONCE = 4         # TREES is a multiple of it
    SAMPLE = 512        # rows that the bins are made from, at most
    FEWEST = 3          # rows of mean weight, which a leaf has at least
    TRIED = 8           # features that a tree tries, besides the root of their number
    BUDGET = 5000       # values that may be examined per learned row, on average
# The part of the residuals that a tree removes.
cdef double RATE = 0.1
# Gains that differ by less are a tie, so that rounding does not decide.
cdef double TIE = 1 + 1e-9
# Smaller gains, compared with the square of the sum of residuals, are those of rounding.
cdef double SMALLEST = 1e-10


cdef struct Own:
    # A row of the tree that is grown: its weight, and the residual times its weight.
    double w
    double g


cdef struct Node:
    Py_ssize_t start, end  # its rows are order[start:end]
    Py_ssize_t slot        # of its sums per bin
    int32_t feature        # of the best split
    int32_t cut
    double gain            # negative if there is none


cdef int compared(const void* one, const void* other) noexcept nogil:
    cdef float a = (<const float*>one)[0], b = (<const float*>other)[0]
    return (a > b) - (a < b)


cdef class BoostedTrees(RecentRows):
    """The score of a column is the sum of its values in the leaves of the row, by boosting with squares ([BOOSTING]).

    A round of boosting starts with the mean target of the last `n_kept` rows and adds TREES trees, one after another
    while rows arrive, each of which removes about RATE of the residuals of the sum before. Meanwhile the sum of the
    round before predicts, or of the first the sum so far. A tree is grown from all rows that are kept by
    then. The leaf whose best split removes most is split, until there are LEAVES: the sum of squares of the
    residuals about their means, in a random direction of all columns ([SKETCH]), becomes smallest. A tree tries
    TRIED + sqrt(v) of the v features that vary, each with at most BINS - 1 thresholds, between quantiles of SAMPLE rows
    at the start of the round. The value of a leaf is the mean residual of its rows in all columns, times RATE.

    A tree is grown before a row if the rows since the last one have paid for that: growing examines at most BUDGET
    values per row on average. If the concept changes (see `RecentRows`), boosting starts again.
    """

    n_leaves = LEAVES
    cdef readonly Py_ssize_t grown   # trees that were grown
    cdef readonly Py_ssize_t n_built  # of the sum that is built
    cdef readonly Py_ssize_t owed    # values that were examined and that no row has paid for yet
    cdef readonly bint complete      # whether another sum predicts than the one that is built
    cdef readonly bint side          # which of the two arrays has the sum that is built
    cdef readonly object tested      # 2 x TREES x NODES
    cdef readonly object thresholds  # 2 x TREES x NODES
    cdef readonly object children    # 2 x TREES x NODES; -k for leaf k
    cdef readonly object values      # 2 x TREES x LEAVES x n_columns
    cdef readonly object means       # 2 x n_columns, which the sums start with
    cdef readonly object sums        # n_kept x n_columns, of the sum that is built
    cdef readonly object cuts        # n_features x (BINS - 1); infinite behind the last one
    cdef tuple owners
    cdef int32_t* feature
    cdef float* threshold
    cdef int32_t* child
    cdef double* value
    cdef double* mean
    cdef double* F
    cdef float* cut
    cdef uint8_t* bins               # n_kept x n_features: how many thresholds are below
    cdef int32_t* varied             # features with thresholds; the tree that is grown tries the first
    cdef uint8_t* own_bins           # of the features that the tree tries, row by row
    cdef int32_t* order              # the rows of a node are consecutive: order[start:end]
    cdef int32_t* other_order
    cdef Own* own                    # of the rows in this order
    cdef Own* other_own
    cdef Own* slots                  # LEAVES x tried features x BINS: sums of nodes per bin
    cdef double* direction
    cdef float* sample
    cdef Py_ssize_t n_tried, examined

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, Py_ssize_t n_kept=KEPT):
        RecentRows.__init__(self, n_features, n_columns, dtype, n_kept)
        self.tested, self.children = zeros((2, TREES, NODES), np.int32), zeros((2, TREES, NODES), np.int32)
        self.thresholds = zeros((2, TREES, NODES), np.float32)
        self.values, self.means = zeros((2, TREES, LEAVES, n_columns)), zeros((2, n_columns))
        self.sums, self.cuts = zeros((n_kept, n_columns)), zeros((n_features, BINS - 1), np.float32)
        self.cuts[...] = np.inf
        self.feature = <int32_t*>address(self.tested, "i", self.tested.size, writable=True)
        self.threshold = <float*>address(self.thresholds, "f", self.thresholds.size, writable=True)
        self.child = <int32_t*>address(self.children, "i", self.children.size, writable=True)
        self.value = <double*>address(self.values, "d", self.values.size, writable=True)
        self.mean = <double*>address(self.means, "d", self.means.size, writable=True)
        self.F = <double*>address(self.sums, "d", self.sums.size, writable=True)
        self.cut = <float*>address(self.cuts, "f", self.cuts.size, writable=True)
        cdef Py_ssize_t most = min(n_features, TRIED + <Py_ssize_t>ceil(sqrt(<double>n_features)))
        bins, indices = zeros(n_kept * (n_features + most), np.uint8), zeros(n_features + 2 * n_kept, np.int32)
        numbers = zeros(4 * n_kept + n_columns + 2 * LEAVES * BINS * most)
        singles = zeros(SAMPLE, np.float32)
        self.owners = bins, indices, numbers, singles
        self.bins = <uint8_t*>address(bins, "B", len(bins), writable=True)
        self.own_bins = self.bins + n_kept * n_features
        self.varied = <int32_t*>address(indices, "i", len(indices), writable=True)
        self.order = self.varied + n_features
        self.other_order = self.order + n_kept
        self.direction = <double*>address(numbers, "d", len(numbers), writable=True)
        self.own = <Own*>(self.direction + n_columns)
        self.other_own = self.own + n_kept
        self.slots = self.other_own + n_kept
        self.sample = <float*>address(singles, "f", SAMPLE, writable=True)

    def state(self):
        """Return the learned numbers and arrays by name."""
        return RecentRows.state(self) | {
            "grown": self.grown, "n_built": self.n_built, "owed": self.owed, "complete": int(self.complete),
            "side": int(self.side), "tested": self.tested, "thresholds": self.thresholds, "children": self.children,
            "values": self.values, "means": self.means, "sums": self.sums, "cuts": self.cuts,
        }

    def __setstate__(self, state):
        RecentRows.__setstate__(self, state)
        self.grown, self.owed = whole(state["grown"], "grown"), whole(state["owed"], "owed")
        self.n_built = whole(state["n_built"], "n_built", most=TREES)
        self.complete, self.side = whole(state["complete"], "complete", most=1), whole(state["side"], "side", most=1)
        self.restore_tests(state)
        for name in ("values", "means", "sums"):
            fill(getattr(self, name), state, name)
        fill(self.cuts, state, "cuts", infinite=True)
        # NaN would not be in order.
        if not (self.cuts[:, 1:] >= self.cuts[:, :-1]).all():
            raise ValueError("cuts must increase")
        for i in range(min(self.clock, self.n_kept)):
            self.place(i)

    def recombine(self, column_map):
        """Return a copy with the targets and sums of new columns: see `Euclidean.recombine`."""
        return self.made(self.n_features, {
            name: column_map.of(getattr(self, name)) for name in ("targets", "values", "means", "sums")
        })

    def trace(self, rows):
        side = int(not self.side if self.complete else self.side)
        n = TREES if self.complete else self.n_built
        if n == 0:
            return rows.times(np.zeros((self.n_features, self.n_columns)), self.means[side])
        trees = np.arange(n)[:, None]
        values = self.values[side][trees, np.maximum(-self.children[side, :n], 0)]
        singles = rows.clip(-FLT_MAX, FLT_MAX)
        sums = singles.tree_sums(self.tested[side, :n], self.thresholds[side, :n], self.children[side, :n], values)
        return sums + self.means[side]

    def resized_arrays(self, Py_ssize_t n_features):
        """Return the arrays that depend on the number of features."""
        cuts = np.full((n_features, BINS - 1), np.inf, np.float32)
        shared = min(n_features, self.n_features)
        cuts[:shared] = self.cuts[:shared]
        return RecentRows.resized_arrays(self, n_features) | {"cuts": cuts}

    cdef void scores(self, Round* r) noexcept nogil:
        cdef double squares = self.lay_out(r.x, self.x)
        if r.x.squared_norm == 0:
            r.x.squared_norm = squares
        self.ask(self.x, self.last)
        memcpy(r.s, self.last, self.n_columns * sizeof(double))
        r.n_scores = self.n_columns

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        self.lay_out(x, <float*>spare)
        self.ask(<float*>spare, s)

    cdef void ask(self, const float* x, double* s) noexcept nogil:
        """Set the scores of a row."""
        if self.complete:
            self.add(x, not self.side, TREES, s)
        else:
            self.add(x, self.side, self.n_built, s)

    cdef void add(self, const float* x, bint side, Py_ssize_t n_trees, double* s) noexcept nogil:
        """Set the sums of a row: those of this side, with some of its trees.

        It follows AT_ONCE trees at a time, as each step waits for memory.
        """
        cdef Py_ssize_t first = side * TREES, last = first + n_trees, tree, k, c, moved
        cdef Py_ssize_t[AT_ONCE] at
        cdef const double* values
        memcpy(s, self.mean + side * self.n_columns, self.n_columns * sizeof(double))
        tree = first
        while tree < last:
            for k in range(AT_ONCE):
                at[k] = (tree + k) * NODES
            moved = 1
            while moved > 0:
                moved = 0
                for k in range(AT_ONCE):
                    c = self.child[at[k]]
                    if c > 0:
                        moved = c
                        at[k] = (tree + k) * NODES + c + (x[self.feature[at[k]]] > self.threshold[at[k]])
            for k in range(min(AT_ONCE, last - tree)):
                values = self.value + ((tree + k) * LEAVES - self.child[at[k]]) * self.n_columns
                for c in range(self.n_columns):
                    s[c] += values[c]
            tree += AT_ONCE
        for c in range(self.n_columns):
            s[c] = finite(s[c])

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t i = self.clock % self.n_kept
        if r.seen:
            return
        if self.drop_earlier():
            self.complete = False
            self.n_built = self.owed = 0
        self.owed = max(self.owed - BUDGET, 0)
        if self.owed == 0 and self.n_rows() >= 2 * FEWEST:
            self.grow()
        self.keep(r)
        self.place(i)
        self.add(self.x, self.side, self.n_built, self.F + i * self.n_columns)

    cdef double move(self, const Round* r) noexcept nogil:
        if not r.seen:
            self.correct(r)
        return 0

    cdef void place(self, Py_ssize_t i) noexcept nogil:
        """Set the bins of a kept row."""
        cdef Py_ssize_t j, low, high, middle
        cdef const float* cuts
        cdef float value
        for j in range(self.n_features):
            value, cuts, low, high = self.Z[j * self.n_kept + i], self.cut + j * (BINS - 1), 0, BINS - 1
            while low < high:
                middle = (low + high) // 2
                if value > cuts[middle]:
                    low = middle + 1
                else:
                    high = middle
            self.bins[i * self.n_features + j] = <uint8_t>low

    cdef void begin(self) noexcept nogil:
        """Start a round of boosting, from the mean of the targets."""
        cdef Py_ssize_t n = self.n_rows(), t, i, j, c
        cdef double* mean
        cdef double weight = 0
        self.complete = self.complete or self.n_built == TREES
        self.side ^= self.n_built == TREES
        self.n_built = 0
        mean = self.mean + self.side * self.n_columns
        memset(mean, 0, self.n_columns * sizeof(double))
        for j in range(self.n_features):
            self.set_cuts(j, n)
        for t in range(self.clock - n, self.clock):
            i = t % self.n_kept
            self.place(i)
            weight += self.w[i]
            for c in range(self.n_columns):
                mean[c] += self.w[i] * self.y[i * self.n_columns + c]
        for c in range(self.n_columns):
            mean[c] = finite(mean[c] / weight) if weight > 0 else 0
        for t in range(self.clock - n, self.clock):
            memcpy(self.F + t % self.n_kept * self.n_columns, mean, self.n_columns * sizeof(double))

    cdef void set_cuts(self, Py_ssize_t j, Py_ssize_t n) noexcept nogil:
        """Set the thresholds of a feature, each halfway between two consecutive values of a sample of rows."""
        cdef Py_ssize_t taken = min(n, SAMPLE), p, k, above, found = 0
        cdef float* cuts = self.cut + j * (BINS - 1)
        cdef float value
        for p in range(taken):
            self.sample[p] = self.Z[j * self.n_kept + (self.clock - n + p * n // taken) % self.n_kept]
        qsort(self.sample, taken, sizeof(float), compared)
        for k in range(1, BINS):
            p = k * taken // BINS
            value = self.sample[p]
            above = p + 1
            while above < taken and self.sample[above] == value:
                above += 1
            if above == taken:
                break
            value = <float>((<double>value + self.sample[above]) / 2)
            if value >= self.sample[above]:
                value = self.sample[p]
            if found == 0 or value > cuts[found - 1]:
                cuts[found] = value
                found += 1
        for k in range(found, BINS - 1):
            cuts[k] = INFINITY

    cdef void grow(self) noexcept nogil:
        """Add a tree to the sum that is built."""
        cdef Py_ssize_t n = self.n_rows(), k, n_nodes = 1, best, n_left
        cdef Py_ssize_t first
        cdef int32_t* feature
        cdef float* threshold
        cdef int32_t* child
        cdef Node[NODES] nodes
        if self.n_built in (0, TREES):
            self.begin()
        self.grown += 1
        self.random, self.examined = mixed(self.grown), n * self.n_columns
        first = (self.side * TREES + self.n_built) * NODES
        feature, threshold, child = self.feature + first, self.threshold + first, self.child + first
        memset(child, 0, NODES * sizeof(int32_t))
        self.choose_features()
        self.take_rows(n)
        nodes[0].start, nodes[0].end, nodes[0].slot = 0, n, 0
        self.add_up(&nodes[0])
        self.search(&nodes[0])
        while n_nodes < NODES:
            best = 0
            for k in range(1, n_nodes):
                if nodes[k].gain > nodes[best].gain * TIE:
                    best = k
            if not nodes[best].gain > 0:
                break
            feature[best] = self.varied[nodes[best].feature]
            threshold[best] = self.cut[feature[best] * (BINS - 1) + nodes[best].cut]
            child[best] = <int32_t>n_nodes
            n_left = self.part(&nodes[best])
            nodes[n_nodes].start, nodes[n_nodes].end = nodes[best].start, nodes[best].start + n_left
            nodes[n_nodes + 1].start, nodes[n_nodes + 1].end = nodes[best].start + n_left, nodes[best].end
            nodes[best].gain = nodes[n_nodes].gain = nodes[n_nodes + 1].gain = 0
            if n_nodes + 2 < NODES:
                self.divide(&nodes[best], &nodes[n_nodes], (n_nodes + 1) // 2)
            n_nodes += 2
        self.set_values(n_nodes, nodes, child)
        self.n_built += 1
        self.owed = self.examined

    cdef void choose_features(self) noexcept nogil:
        """Choose some of the features with thresholds for a tree."""
        cdef Py_ssize_t j, k, n = 0
        for j in range(self.n_features):
            if self.cut[j * (BINS - 1)] < INFINITY:
                self.varied[n] = <int32_t>j
                n += 1
        self.n_tried = min(n, TRIED + <Py_ssize_t>ceil(sqrt(<double>n)))
        for k in range(self.n_tried if self.n_tried < n else 0):
            j = k + self.below(n - k)
            self.varied[k], self.varied[j] = self.varied[j], self.varied[k]

    cdef void take_rows(self, Py_ssize_t n) noexcept nogil:
        """Put all rows that are used into the root."""
        cdef Py_ssize_t p, c, i, k, width = self.n_columns
        cdef const uint8_t* bins
        cdef uint8_t* own_bins
        cdef double sum
        sum = 0
        for c in range(width):
            self.direction[c] = 1 if width == 1 else 2 * self.below(2) - 1
            sum += self.direction[c]
        if width > 1 and (sum == width or sum == -width):  # the residuals of indicators add up to 0
            self.direction[0] = -self.direction[0]
        for p in range(n):
            i = (self.clock - n + p) % self.n_kept
            sum = 0
            for c in range(width):
                sum += self.direction[c] * (self.y[i * width + c] - self.F[i * width + c])
            bins, own_bins = self.bins + i * self.n_features, self.own_bins + i * self.n_tried
            for k in range(self.n_tried):
                own_bins[k] = bins[self.varied[k]]
            self.order[p], self.own[p].w, self.own[p].g = <int32_t>i, self.w[i], self.w[i] * sum

    cdef void add_up(self, const Node* node) noexcept nogil:
        """Add up the rows of a node by the bins of each feature."""
        cdef Own* sums = self.slots + node.slot * self.n_tried * BINS
        cdef Own* sum
        cdef Own own
        cdef const uint8_t* bins
        cdef Py_ssize_t p, k, n = self.n_tried
        memset(sums, 0, n * BINS * sizeof(Own))
        self.examined += n * (node.end - node.start)
        for p in range(node.start, node.end):
            own, bins = self.own[p], self.own_bins + self.order[p] * n
            for k in range(n):
                sum = sums + k * BINS + bins[k]
                sum.w += own.w
                sum.g += own.g

    cdef void divide(self, const Node* parent, Node* children, Py_ssize_t slot) noexcept nogil:
        """Search the best splits of two children. The sums of the larger one replace those of the parent."""
        cdef Py_ssize_t smaller = children[0].end - children[0].start > children[1].end - children[1].start, k
        cdef Own* all = self.slots + parent.slot * self.n_tried * BINS
        cdef const Own* some = self.slots + slot * self.n_tried * BINS
        children[smaller].slot, children[1 - smaller].slot = slot, parent.slot
        self.add_up(&children[smaller])
        for k in range(self.n_tried * BINS):
            all[k].w -= some[k].w
            all[k].g -= some[k].g
        self.search(&children[0])
        self.search(&children[1])

    cdef void search(self, Node* node) noexcept nogil:
        """Find the best split of a node.

        The sum of squares falls by L^2 / l + R^2 / r - T^2 / t = (L t - T l)^2 / (l r t), with l and L the sums of
        weights and of weighted residuals at or below the threshold, r and R those above, and t and T the totals.
        """
        cdef const Own* sums = self.slots + node.slot * self.n_tried * BINS
        cdef Own total, own
        cdef Py_ssize_t b, k, n = node.end - node.start
        cdef double gain, least, rest, difference, smallest
        node.gain = 0
        if n < 2 * FEWEST or self.n_tried == 0:
            return
        total.w = total.g = 0
        for b in range(BINS):
            total.w += sums[b].w
            total.g += sums[b].g
        self.examined += self.n_tried * BINS
        least, smallest = FEWEST * total.w / n * (1 - 1e-9), SMALLEST * total.g * total.g / total.w
        for k in range(self.n_tried):
            own.w = own.g = 0
            for b in range(BINS - 1):
                own.w += sums[b].w
                own.g += sums[b].g
                rest = total.w - own.w
                if own.w < least:
                    continue
                if rest < least:
                    break
                difference = own.g * total.w - total.g * own.w
                gain = difference * difference / (own.w * rest * total.w)
                if gain > node.gain * TIE and gain > smallest:
                    node.feature, node.cut, node.gain = <int32_t>k, <int32_t>b, gain
            sums += BINS

    cdef Py_ssize_t part(self, const Node* node) noexcept nogil:
        """Put the rows of a node at or below the threshold first; return their number."""
        cdef const uint8_t* bins = self.own_bins + node.feature
        cdef int32_t* order = self.order + node.start
        cdef Own* own = self.own + node.start
        cdef Py_ssize_t p, n_left = 0, n_right = 0
        cdef Own one
        cdef int32_t i
        cdef bint above
        for p in range(node.end - node.start):  # without branches, which no CPU could predict
            i, one = order[p], own[p]
            above = bins[i * self.n_tried] > node.cut
            order[n_left], own[n_left] = i, one
            self.other_order[n_right], self.other_own[n_right] = i, one
            n_left += 1 - above
            n_right += above
        memcpy(order + n_left, self.other_order, n_right * sizeof(int32_t))
        memcpy(own + n_left, self.other_own, n_right * sizeof(Own))
        return n_left

    cdef void set_values(self, Py_ssize_t n_nodes, const Node* nodes, int32_t* child) noexcept nogil:
        """Number the leaves, set their values, and add these to the sums of all rows."""
        cdef Py_ssize_t tree = self.side * TREES + self.n_built, k, c, p, leaf = 0, i, width = self.n_columns
        cdef double* values
        cdef double weight
        for k in range(n_nodes):
            if child[k] > 0:
                continue
            child[k] = -<int32_t>leaf
            values = self.value + (tree * LEAVES + leaf) * width
            leaf += 1
            memset(values, 0, width * sizeof(double))
            weight = 0
            for p in range(nodes[k].start, nodes[k].end):
                i = self.order[p]
                weight += self.w[i]
                for c in range(width):
                    values[c] += self.w[i] * (self.y[i * width + c] - self.F[i * width + c])
            for c in range(width):
                values[c] = finite(RATE * values[c] / weight) if weight > 0 else 0
            for p in range(nodes[k].start, nodes[k].end):
                self.add_values(self.order[p], values)

    cdef inline void add_values(self, Py_ssize_t i, const double* values) noexcept nogil:
        """Add the values of a leaf to the sums of a kept row."""
        cdef Py_ssize_t c
        for c in range(self.n_columns):
            self.F[i * self.n_columns + c] = finite(self.F[i * self.n_columns + c] + values[c])
