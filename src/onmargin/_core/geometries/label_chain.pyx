"""Markov chains of labels: scores depend on the labels that were learned last."""

import numpy as np

from onmargin._core.geometries.geometry import float_type
from onmargin._core.restore import fill, whole, whole_size, zeros

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.geometries.splitmix cimport mixed
from onmargin._core.round cimport Round
from onmargin._core.rows cimport Row, address

# Number of cells for counts, times the order; at most three quarters of them are used.
cdef enum:
    CELLS = 8192
# Largest order.
cdef enum:
    LONGEST = 8


cdef class LabelChain(Geometry):
    """The score of a class is its frequency after the last labels, whatever the rows are ([MARKOV]).

    The labels are the last `order` ones that were learned, in the order in which they were learned; if no label
    followed them so far, the last order - 1, and so on. With one column, the score is the difference of the frequencies
    of two classes. Counts are weighted, and are in a table of hashed labels. Deviation: where too many different labels
    followed each other for the table, all counts begin again at zero. Rows that were learned in an earlier pass are not
    counted again.
    """

    cdef readonly Py_ssize_t order
    cdef readonly Py_ssize_t clock   # labels that were learned
    cdef readonly Py_ssize_t used    # cells
    cdef readonly object names       # of the classes in the keys, one per column, or two for a single one
    cdef readonly object last        # names of the last labels, the newest first
    cdef readonly object keys
    cdef readonly object counts
    cdef int32_t* name
    cdef int32_t* recent
    cdef uint64_t* key
    cdef double* number
    cdef Py_ssize_t cells

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, Py_ssize_t order):
        self.n_features = whole_size(n_features, "n_features")
        self.n_columns = self.n_scores = whole_size(n_columns, "n_columns", least=1)
        self.order = whole(order, "order", 1, LONGEST)
        self.dtype = float_type(dtype)
        self.n_spare, self.cells = 1, CELLS << (self.order - 1)
        self.names, self.last = np.arange(max(n_columns, 2), dtype=np.int32), zeros(self.order, np.int32)
        self.keys, self.counts = zeros(self.cells, np.uint64), zeros(self.cells)
        self.name = <int32_t*>address(self.names, "i", len(self.names), writable=True)
        self.recent = <int32_t*>address(self.last, "i", self.order, writable=True)
        self.key = <uint64_t*>address(self.keys, "LQ", self.cells, writable=True)
        self.number = <double*>address(self.counts, "d", self.cells, writable=True)

    def __reduce__(self):
        return type(self), (self.n_features, self.n_columns, self.dtype.name, self.order), self.state()

    def state(self):
        """Return the learned numbers and arrays by name."""
        return {
            "clock": self.clock, "names": self.names, "last": self.last, "keys": self.keys.astype(np.int64),
            "counts": self.counts,
        }

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        for name in ("names", "last"):
            fill(getattr(self, name), state, name, least=0)
        keys = np.empty(self.cells, np.int64)
        fill(keys, state, "keys")
        fill(self.counts, state, "counts", least=0)
        self.keys[...] = keys.astype(np.uint64)
        self.used = np.count_nonzero(self.keys)
        if self.used > self.most_used():  # so that every search ends
            raise ValueError(f"keys must leave a quarter of the cells empty; {self.used} of {self.cells} are used")

    @property
    def bias(self):
        """There is no intercept."""
        return 0.0

    @property
    def forgot(self):
        """Whether early labels do not count, because the last ones decide."""
        return self.clock > self.order

    def recombine(self, column_map):
        """Return a copy with other columns, of which some are new. See `Euclidean.recombine`."""
        cdef Py_ssize_t n = len(column_map), c
        other = type(self)(self.n_features, n, self.dtype, self.order)
        names = np.empty(max(n, 2), np.int32)
        new = int(self.names.max()) + 1
        for c in range(len(names)):
            factor, source = column_map.factor[min(c, n - 1)], column_map.source[min(c, n - 1)]
            if n == 1:  # the sign of a single column tells which class is the second
                names[c] = self.names[c if factor >= 0 else 1 - c]
            elif factor == 0:
                names[c], new = new, new + 1
            else:
                names[c] = self.names[int(factor > 0) if self.n_columns == 1 else source]
        other.__setstate__(self.state() | {"names": names})
        return other

    def resize(self, Py_ssize_t n_features):
        """Return a copy for rows with other features."""
        other = type(self)(n_features, self.n_columns, self.dtype, self.order)
        other.__setstate__(self.state())
        return other

    def mean(self):
        """Return the weights, which are zero, and the scores after the last labels."""
        scores = np.zeros(self.n_columns)
        self.ask(<double*>address(scores, "d", self.n_columns, writable=True))
        return np.zeros((self.n_columns, self.n_features), self.dtype), scores

    cdef Py_ssize_t most_used(self) noexcept nogil:
        return self.cells // 4 * 3

    cdef uint64_t context(self, Py_ssize_t order) noexcept nogil:
        """Return the key of the last labels."""
        cdef uint64_t found = mixed(order + 1)
        cdef Py_ssize_t k
        for k in range(order):
            found = mixed(found + <uint64_t>self.recent[k] + 1)
        return found

    cdef Py_ssize_t cell_of(self, uint64_t key) noexcept nogil:
        """Return the cell of a key, or the empty one where it would be."""
        cdef Py_ssize_t k = <Py_ssize_t>(key & <uint64_t>(self.cells - 1))
        while self.key[k] != 0 and self.key[k] != key:
            k = (k + 1) & (self.cells - 1)
        return k

    cdef inline uint64_t key_of(self, uint64_t context, Py_ssize_t name) noexcept nogil:
        """Return the key of a label after others; of any label if its name is -1."""
        return mixed(context + <uint64_t>(name + 2) * <uint64_t>0x9E3779B97F4A7C15) | 1

    cdef inline double count_of(self, uint64_t context, Py_ssize_t name) noexcept nogil:
        return self.number[self.cell_of(self.key_of(context, name))]

    cdef void scores(self, Round* r) noexcept nogil:
        self.ask(r.s)
        r.n_scores = self.n_columns

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        self.ask(s)

    cdef void ask(self, double* s) noexcept nogil:
        """Set the scores."""
        cdef Py_ssize_t order = min(self.order, self.clock), c
        cdef uint64_t context = self.context(order)
        cdef double total = self.count_of(context, -1)
        memset(s, 0, self.n_columns * sizeof(double))
        while total == 0 and order > 0:
            order -= 1
            context = self.context(order)
            total = self.count_of(context, -1)
        if total == 0:
            return
        for c in range(self.n_columns):
            s[c] = self.count_of(context, self.name[c]) / total
        if self.n_columns == 1:
            s[0] = self.count_of(context, self.name[1]) / total - s[0]

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t order, k
        cdef int32_t name
        cdef uint64_t context
        if r.seen:
            return
        name = self.name[<Py_ssize_t>(r.y[0] > 0) if self.n_columns == 1 else <Py_ssize_t>r.y[0]]
        if self.used + 2 * (self.order + 1) > self.most_used():
            memset(self.key, 0, self.cells * sizeof(uint64_t))
            memset(self.number, 0, self.cells * sizeof(double))
            self.used = 0
        for order in range(min(self.order, self.clock) + 1):
            context = self.context(order)
            self.add(self.key_of(context, -1), r.weight)
            self.add(self.key_of(context, name), r.weight)
        for k in range(self.order - 1, 0, -1):
            self.recent[k] = self.recent[k - 1]
        self.recent[0] = name
        self.clock += 1

    cdef void add(self, uint64_t key, double weight) noexcept nogil:
        cdef Py_ssize_t k = self.cell_of(key)
        self.used += self.key[k] == 0
        self.key[k] = key
        self.number[k] += weight
