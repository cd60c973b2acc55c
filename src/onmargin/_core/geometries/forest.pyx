"""A random forest of the rows that were learned last."""

import numpy as np

from onmargin._core.geometries.recent_rows import KEPT
from onmargin._core.restore import fill, whole, zeros

from libc.float cimport FLT_MAX
from libc.math cimport ceil, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from onmargin._core.geometries.recent_rows cimport RecentRows, leaf_of
from onmargin._core.geometries.splitmix cimport mixed
from onmargin._core.round cimport HalfSpace, Round, finite
from onmargin._core.rows cimport Row, address

cdef enum:
    TREES = 24
    NODES = 4096        # of a tree, at most
    DEEPEST = 24        # tests of a row in a tree, at most
    CUTS = 5            # thresholds that are tried per feature of a node
    BUDGET = 1000        # values that may be examined per learned row, on average, to grow trees
# Gains that differ by less are a tie, so that rounding does not decide.
cdef double TIE = 1 + 1e-9


cdef struct Tree:
    # Node k tests whether feature[k] is above threshold[k]: if not, child[k] follows, otherwise the node after that. A
    # leaf has child[k] = 0. sums has the weights of the rows in each node, and their targets times their weights.
    int32_t* feature
    float* threshold
    int32_t* child
    double* sums


cdef struct Split:
    int32_t feature
    float threshold
    double gain


cdef class Forest(RecentRows):
    """The score of a column is the mean, over all trees, of the mean of its targets in the leaf of the row ([FOREST]).

    A tree is grown from the last `n_kept` rows, one after the other in place of the oldest. A node is split where
    the sum of squares of the targets about their means, summed over columns, becomes smallest: for classes that is
    the Gini index. As in [EXTRA], all rows are used, and trees differ by chance: a node with v features that vary
    among the rows tries sqrt(v) + 1 of them, and for each of these the values of CUTS of its rows as thresholds. The
    threshold is then halfway to the next larger value. Nodes are split, breadth first, until all targets are equal.
    Between two growths of a tree, its leaves count the rows that are learned.

    Trees are grown often at first, then whenever the rows since the last one have paid for it: growing examines at
    most BUDGET values per row on average. If the concept changes (see `RecentRows`), all trees are dropped.
    """

    n_leaves = 1  # the number of a leaf is that of its node
    cdef readonly Py_ssize_t grown   # trees that were grown
    cdef readonly Py_ssize_t dropped  # trees that were grown before the last change of the concept
    cdef readonly Py_ssize_t due     # the row before which the next tree is grown
    cdef readonly object tested      # TREES x NODES
    cdef readonly object thresholds  # TREES x NODES
    cdef readonly object children    # TREES x NODES
    cdef readonly object sums        # TREES x NODES x (1 + n_columns)
    cdef tuple owners
    cdef Py_ssize_t width            # 1 + n_columns
    cdef Tree trees
    cdef int32_t* leaf               # of the row of the round in each tree
    cdef Py_ssize_t examined         # values examined for it
    cdef int32_t* varied             # features that vary
    cdef int32_t* order              # the rows of each node are consecutive: order[start[k]:end[k]]
    cdef int32_t* other_order
    cdef double* carried             # their weights, and their targets times their weights
    cdef double* other_carried
    cdef int32_t* start
    cdef int32_t* end
    cdef int32_t* depth
    cdef float* values               # of one feature in the rows of a node
    cdef int32_t* parts              # and between which thresholds they lie
    cdef double* histogram

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, Py_ssize_t n_kept=KEPT):
        RecentRows.__init__(self, n_features, n_columns, dtype, n_kept)
        self.width = self.n_columns + 1
        self.tested, self.children = zeros((TREES, NODES), np.int32), zeros((TREES, NODES), np.int32)
        self.thresholds, self.sums = zeros((TREES, NODES), np.float32), zeros((TREES, NODES, self.width))
        self.trees.feature = <int32_t*>address(self.tested, "i", TREES * NODES, writable=True)
        self.trees.threshold = <float*>address(self.thresholds, "f", TREES * NODES, writable=True)
        self.trees.child = <int32_t*>address(self.children, "i", TREES * NODES, writable=True)
        self.trees.sums = <double*>address(self.sums, "d", TREES * NODES * self.width, writable=True)
        singles = zeros(n_kept, np.float32)
        numbers = zeros(2 * n_kept * self.width + (CUTS + 1) * self.width)
        indices = zeros(TREES + self.n_features + 3 * n_kept + 3 * NODES, np.int32)
        self.owners = singles, numbers, indices
        self.values = <float*>address(singles, "f", len(singles), writable=True)
        self.carried = <double*>address(numbers, "d", len(numbers), writable=True)
        self.other_carried = self.carried + n_kept * self.width
        self.histogram = self.other_carried + n_kept * self.width
        self.leaf = <int32_t*>address(indices, "i", len(indices), writable=True)
        self.varied = self.leaf + TREES
        self.order = self.varied + self.n_features
        self.other_order = self.order + n_kept
        self.parts = self.other_order + n_kept
        self.start = self.parts + n_kept
        self.end = self.start + NODES
        self.depth = self.end + NODES

    def state(self):
        """Return the learned numbers and arrays by name."""
        return RecentRows.state(self) | {
            "grown": self.grown, "dropped": self.dropped, "due": self.due,
            "tested": self.tested, "thresholds": self.thresholds, "children": self.children, "sums": self.sums,
        }

    def __setstate__(self, state):
        RecentRows.__setstate__(self, state)
        self.grown = whole(state["grown"], "grown")
        self.dropped = whole(state["dropped"], "dropped", most=self.grown)
        self.due = whole(state["due"], "due")
        self.restore_tests(state)
        fill(self.sums, state, "sums")

    def trace(self, rows):
        cdef Py_ssize_t n = self.n_trees()
        if n == 0:
            return rows.times(np.zeros((self.n_features, self.n_columns)), np.zeros(self.n_columns))
        weights = self.sums[:n, :, :1]
        means = np.divide(self.sums[:n, :, 1:], weights, out=np.zeros((n, NODES, self.n_columns)), where=weights > 0)
        singles = rows.clip(-FLT_MAX, FLT_MAX)
        return singles.tree_sums(self.tested[:n], self.thresholds[:n], self.children[:n], means) / n

    def recombine(self, column_map):
        """Return a copy with the targets of new columns: see `Euclidean.recombine`."""
        cdef Forest other = type(self)(self.n_features, len(column_map), self.dtype, self.n_kept)
        cdef Py_ssize_t trees = self.n_trees(), nodes = self.children.max() + 2, rows = min(self.clock, self.n_kept)
        other.clock, other.first, other.due = self.clock, self.first, self.due
        other.grown, other.dropped = self.grown, self.dropped
        for name in ("rows", "weights", "losses", "tested", "thresholds", "children"):
            getattr(other, name)[...] = getattr(self, name)
        column_map.write(self.targets[:rows], other.targets[:rows])
        other.sums[:trees, :nodes, 0] = self.sums[:trees, :nodes, 0]
        column_map.write(self.sums[:trees, :nodes, 1:], other.sums[:trees, :nodes, 1:])  # others are not in use
        return other

    cdef inline Tree tree(self, Py_ssize_t k) noexcept nogil:
        cdef Tree found
        found.feature, found.threshold = self.trees.feature + k * NODES, self.trees.threshold + k * NODES
        found.child, found.sums = self.trees.child + k * NODES, self.trees.sums + k * NODES * self.width
        return found

    cdef inline Py_ssize_t n_trees(self) noexcept nogil:
        return min(self.grown - self.dropped, TREES)

    cdef void scores(self, Round* r) noexcept nogil:
        cdef double squares = self.lay_out(r.x, self.x)
        if r.x.squared_norm == 0:
            r.x.squared_norm = squares
        self.ask(self.x, self.leaf, self.last)
        memcpy(r.s, self.last, self.n_columns * sizeof(double))
        r.n_scores = self.n_columns

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef int32_t[TREES] leaf
        self.lay_out(x, <float*>spare)
        self.ask(<float*>spare, leaf, s)

    cdef void ask(self, const float* x, int32_t* leaf, double* s) noexcept nogil:
        """Set the leaves and the scores of a row."""
        cdef Py_ssize_t k, c, n = self.n_trees()
        cdef const double* sums
        cdef Tree tree
        memset(s, 0, self.n_columns * sizeof(double))
        for k in range(n):
            tree = self.tree(k)
            leaf[k] = <int32_t>leaf_of(tree.feature, tree.threshold, tree.child, x, 1)
            sums = tree.sums + leaf[k] * self.width
            for c in range(self.n_columns):
                s[c] += sums[1 + c] / sums[0] if sums[0] > 0 else 0
        for c in range(self.n_columns):
            s[c] = finite(s[c] / max(n, 1))

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t j, c
        if r.seen:
            return
        if self.drop_earlier():
            self.due, self.dropped = self.clock, self.grown
        if self.clock >= max(self.due, 2):
            self.grow()
        self.keep(r)
        for j in range(self.n_trees()):
            self.count(j, 0, r.weight)
            for c in range(self.n_columns):
                self.count(j, 1 + c, r.weight * self.last[c])

    cdef inline void count(self, Py_ssize_t k, Py_ssize_t c, double change) noexcept nogil:
        """Add to a sum of the leaf of the row in tree k."""
        cdef double* sums = self.trees.sums + (k * NODES + self.leaf[k]) * self.width
        sums[c] = finite(sums[c] + change)

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t k, n
        cdef const HalfSpace* h
        if r.seen:
            return 0
        self.correct(r)
        for n in range(r.n_halfspaces):
            h = &r.halfspaces[n]
            for k in range(self.n_trees()):
                self.count(k, 1 + max(h.up, h.down), h.tau if h.up >= 0 else -h.tau)
        return 0

    cdef void grow(self) noexcept nogil:
        """Grow a tree in place of the oldest, and find the leaf of the row of this round in it."""
        cdef Py_ssize_t k = (self.grown - self.dropped) % TREES, node = 0, n_nodes = 1, n_left
        cdef Py_ssize_t n_varied = self.find_varied()
        cdef Tree tree = self.tree(k)
        cdef Split split
        self.grown += 1
        self.random, self.examined = mixed(self.grown), 0
        self.start[0], self.end[0], self.depth[0] = 0, <int32_t>self.take_rows(), 0
        while node < n_nodes:
            self.add_up(node, tree.sums + node * self.width)
            split.gain = -1
            if n_nodes + 2 <= NODES and self.depth[node] < DEEPEST and not self.is_pure(node):
                self.search(node, n_varied, tree.sums + node * self.width, &split)
            tree.child[node] = <int32_t>n_nodes if split.gain >= 0 else 0
            if split.gain >= 0:
                n_left = self.part(node, &split)
                tree.feature[node], tree.threshold[node] = split.feature, split.threshold
                self.start[n_nodes], self.end[n_nodes] = self.start[node], self.start[node] + <int32_t>n_left
                self.start[n_nodes + 1], self.end[n_nodes + 1] = self.end[n_nodes], self.end[node]
                self.depth[n_nodes] = self.depth[n_nodes + 1] = self.depth[node] + 1
                n_nodes += 2
            node += 1
        self.leaf[k] = <int32_t>leaf_of(tree.feature, tree.threshold, tree.child, self.x, 1)
        self.due = self.clock + max(1, self.n_rows() // 32, self.examined // BUDGET)

    cdef Py_ssize_t take_rows(self) noexcept nogil:
        """Put all rows that are used into the root; return their number."""
        cdef Py_ssize_t n = self.n_rows(), p, i, c
        for p in range(n):
            i = (self.clock - n + p) % self.n_kept
            self.order[p] = <int32_t>i
            self.carried[p * self.width] = self.w[i]
            for c in range(self.n_columns):
                self.carried[p * self.width + 1 + c] = self.w[i] * self.y[i * self.n_columns + c]
        return n

    cdef Py_ssize_t find_varied(self) noexcept nogil:
        """Find the features with several values in the kept rows; return their number."""
        cdef Py_ssize_t i, j, found = 0, n = min(self.clock, self.n_kept)
        cdef const float* column
        for j in range(self.n_features):
            column = self.Z + j * self.n_kept
            i = 1
            while i < n and column[i] == column[0]:
                i += 1
            if i < n:
                self.varied[found] = <int32_t>j
                found += 1
        return found

    cdef void add_up(self, Py_ssize_t node, double* sums) noexcept nogil:
        cdef Py_ssize_t p, c
        memset(sums, 0, self.width * sizeof(double))
        for p in range(self.start[node], self.end[node]):
            for c in range(self.width):
                sums[c] = finite(sums[c] + self.carried[p * self.width + c])

    cdef bint is_pure(self, Py_ssize_t node) noexcept nogil:
        """Whether all rows of a node have the same targets."""
        cdef const float* one = self.y + self.order[self.start[node]] * self.n_columns
        cdef const float* other
        cdef Py_ssize_t p, c
        for p in range(self.start[node] + 1, self.end[node]):
            other = self.y + self.order[p] * self.n_columns
            for c in range(self.n_columns):
                if one[c] != other[c]:
                    return False
        return True

    cdef void search(self, Py_ssize_t node, Py_ssize_t n_varied, const double* total, Split* best) noexcept nogil:
        """Find the best split of a node among random ones; the gain of `best` stays negative if there is none."""
        cdef Py_ssize_t drawn = 0, n = self.end[node] - self.start[node], k, n_cuts
        cdef Py_ssize_t tried = <Py_ssize_t>ceil(sqrt(<double>n_varied)) + 1
        cdef float[CUTS] cuts
        cdef int32_t j
        while drawn < n_varied and (drawn < tried or (best.gain < 0 and drawn < 4 * tried)):
            k = drawn + self.below(n_varied - drawn)
            j = self.varied[k]
            self.varied[k], self.varied[drawn] = self.varied[drawn], j
            drawn += 1
            self.examined += n
            n_cuts = self.draw_cuts(node, j, cuts)
            if n_cuts > 0:
                self.fill_histogram(node, cuts, n_cuts)
                self.try_cuts(j, cuts, n_cuts, total, best)

    cdef Py_ssize_t draw_cuts(self, Py_ssize_t node, Py_ssize_t j, float* cuts) noexcept nogil:
        """Set thresholds of feature j, in increasing order and below its largest value; return their number."""
        cdef const float* column = self.Z + j * self.n_kept
        cdef const int32_t* order = self.order + self.start[node]
        cdef float* values = self.values
        cdef Py_ssize_t p, k, n = self.end[node] - self.start[node], n_cuts = 0
        cdef float low, high, value
        for p in range(n):
            values[p] = column[order[p]]
        low = high = values[0]
        for p in range(1, n):
            low = min(low, values[p])
            high = max(high, values[p])
        if not low < high:
            return 0
        for k in range(min(n, CUTS)):
            value = values[k if n <= CUTS else self.below(n)]
            if value < high:
                p = n_cuts
                while p > 0 and cuts[p - 1] > value:
                    cuts[p] = cuts[p - 1]
                    p -= 1
                cuts[p] = value
                n_cuts += 1
        return n_cuts

    cdef void fill_histogram(self, Py_ssize_t node, const float* cuts, Py_ssize_t n_cuts) noexcept nogil:
        """Add up the rows of a node between consecutive thresholds."""
        cdef const double* carried = self.carried + self.start[node] * self.width
        cdef const float* values = self.values
        cdef int32_t* parts = self.parts
        cdef Py_ssize_t p, k, c, n = self.end[node] - self.start[node], width = self.width
        cdef double* own
        cdef float cut
        memset(parts, 0, n * sizeof(int32_t))
        for k in range(n_cuts):
            cut = cuts[k]
            for p in range(n):
                parts[p] += values[p] > cut
        memset(self.histogram, 0, (n_cuts + 1) * width * sizeof(double))
        for p in range(n):
            own = self.histogram + parts[p] * width
            own[0] += carried[p * width]
            own[1] += carried[p * width + 1]
            for c in range(2, width):
                own[c] += carried[p * width + c]

    cdef void try_cuts(self, int32_t j, const float* cuts, Py_ssize_t n_cuts, const double* total,
                       Split* best) noexcept nogil:
        """Replace the best split by one of feature j, if that is better.

        The sum of squares falls by sum_c (L_c^2 / l + R_c^2 / r) minus a constant, with l and L_c the sums of weights
        and of weighted targets at or below the threshold, and r and R_c those above.
        """
        cdef double* own = self.histogram
        cdef double gain, above, rest
        cdef Py_ssize_t k, c
        for k in range(n_cuts):
            if k > 0:
                for c in range(self.width):
                    own[self.width + c] += own[c]
                own += self.width
            rest, gain = total[0] - own[0], 0
            if not (own[0] > 0 and rest > 0):
                continue
            for c in range(1, self.width):
                above = total[c] - own[c]
                gain += own[c] * own[c] / own[0] + above * above / rest
            if best.gain < 0 or gain > best.gain * TIE:
                best.feature, best.threshold, best.gain = j, cuts[k], gain

    cdef Py_ssize_t part(self, Py_ssize_t node, Split* split) noexcept nogil:
        """Put the rows at or below the threshold first; return their number. Move the threshold halfway upward."""
        cdef const float* column = self.Z + split.feature * self.n_kept
        cdef int32_t* order = self.order + self.start[node]
        cdef double* carried = self.carried + self.start[node] * self.width
        cdef Py_ssize_t p, c, n_left = 0, n_right = 0, width = self.width
        cdef float value, above = FLT_MAX
        cdef int32_t i
        cdef bint right
        for p in range(self.end[node] - self.start[node]):  # without branches, which no CPU could predict
            i = order[p]
            value = column[i]
            right = value > split.threshold
            above = min(above, value) if right else above
            order[n_left] = self.other_order[n_right] = i
            for c in range(width):
                carried[n_left * width + c] = self.other_carried[n_right * width + c] = carried[p * width + c]
            n_left += 1 - right
            n_right += right
        memcpy(order + n_left, self.other_order, n_right * sizeof(int32_t))
        memcpy(carried + n_left * width, self.other_carried, n_right * width * sizeof(double))
        value = <float>((<double>split.threshold + above) / 2)
        split.threshold = value if value < above else split.threshold
        return n_left
