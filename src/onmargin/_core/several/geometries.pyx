"""Several models that learn from the same rows: geometries side by side."""

import numpy as np

from onmargin._core.several.task_list import check_models

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from onmargin._core.geometries.chain cimport Paths
from onmargin._core.geometries.transformed cimport Transformed
from onmargin._core.geometries.geometry cimport Euclidean, Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, address


def is_whole(geometry):
    """Whether all models of a geometry, also behind changed rows, sleep together."""
    while isinstance(geometry, Transformed):
        geometry = geometry.inner
    return not getattr(geometry, "sleeps_by_model", False)


cdef inline bint is_left(const HalfSpace* h, Py_ssize_t n_scores) noexcept nogil:
    """Whether a half-space is one of the first scores."""
    return max(h.up, h.down) < n_scores


cdef inline void shift(Round* r, Py_ssize_t places) noexcept nogil:
    """Renumber the scores of all half-spaces; an absent side stays -1."""
    cdef Py_ssize_t i
    cdef HalfSpace* h
    for i in range(r.n_halfspaces):
        h = &r.halfspaces[i]
        h.up += <int32_t>places & ~(h.up >> 31)
        h.down += <int32_t>places & ~(h.down >> 31)


cdef class SideBySide(Geometry):
    """Two geometries side by side: the scores of the first, then those of the second, which may be a pair again.

    Half-spaces are in the order of the scores, and no half-space spans both geometries. Padding counts as columns.

    A geometry whose models sleep has scores of 0, and learns nothing.
    """

    cdef readonly Geometry left, right
    cdef bint left_whole, right_whole    # whether all models of one sleep together
    cdef bint left_asleep, right_asleep

    def __init__(self, Geometry left, Geometry right):
        if (left.n_features, left.dtype) != (right.n_features, right.dtype):
            raise ValueError(
                f"geometries side by side must have the same rows; got {left.n_features} features in {left.dtype} and "
                f"{right.n_features} in {right.dtype}"
            )
        self.left, self.right = left, right
        self.left_whole, self.right_whole = is_whole(left), is_whole(right)
        self.n_features, self.dtype = left.n_features, left.dtype
        self.n_columns = self.n_scores = left.n_scores + right.n_scores
        self.n_spare = max(left.n_spare, right.n_spare)

    def __reduce__(self):
        return type(self), (self.left, self.right)

    @property
    def bias(self):
        """The value of the intercept coordinate, which is the same for both."""
        return self.left.bias

    @property
    def sleeps_by_model(self):
        """Whether models may sleep one by one: it is up to the geometries of the pair."""
        return True

    def leaves(self):
        """Return the geometries side by side, in the order of their scores."""
        return [
            leaf for side in (self.left, self.right)
            for leaf in side.leaves()
        ]

    def restarted(self):
        left, right = self.left.restarted(), self.right.restarted()
        return self if left is self.left and right is self.right else type(self)(left, right)

    def for_prediction(self):
        return type(self)(self.left.for_prediction(), self.right.for_prediction())

    def resize(self, Py_ssize_t n_features):
        """Return a pair with the first features only, or with new ones."""
        return type(self)(self.left.resize(n_features), self.right.resize(n_features))

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        self.left.reserve(rows, values)
        self.right.reserve(rows, values)

    cdef void scores(self, Round* r) noexcept nogil:
        if self.left_asleep:
            memset(r.s, 0, self.left.n_scores * sizeof(double))
        else:
            self.left.scores(r)
        r.s += self.left.n_scores
        if self.right_asleep:
            memset(r.s, 0, self.right.n_scores * sizeof(double))
        else:
            self.right.scores(r)
        r.s -= self.left.n_scores
        r.n_scores = self.n_scores

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        if self.left_asleep:
            memset(s, 0, self.left.n_scores * sizeof(double))
        else:
            self.left.mean_scores(x, s, spare)
        if self.right_asleep:
            memset(s + self.left.n_scores, 0, self.right.n_scores * sizeof(double))
        else:
            self.right.mean_scores(x, s + self.left.n_scores, spare)

    cdef bint averages(self) noexcept nogil:
        return self.left.averages() or self.right.averages()

    cdef void measure(self, Round* r) noexcept nogil:
        if not self.left_asleep:
            self.left.measure(r)
        if not self.right_asleep:
            self.right.measure(r)

    cdef void norms(self, Round* r) noexcept nogil:
        self.left.norms(r)
        self.right.norms(r)

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t n = r.n_halfspaces, n_left = self.count_left(r)
        if n_left > 0:
            r.n_halfspaces = n_left
            self.left.curvatures(r)
        if n_left < n:
            r.halfspaces += n_left
            r.n_halfspaces = n - n_left
            shift(r, -self.left.n_scores)
            self.right.curvatures(r)
            shift(r, self.left.n_scores)
            r.halfspaces -= n_left
        r.n_halfspaces = n

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Round* own = <Round*>r  # changed for each side, and restored: a copy would take longer than short moves
        cdef Py_ssize_t n = r.n_halfspaces, n_scores = r.n_scores, n_left = self.count_left(r)
        cdef double squares = 0
        if n_left > 0:
            own.n_scores, own.n_halfspaces = self.left.n_scores, n_left
            squares += self.left.move(own)
        if n_left < n:
            own.halfspaces += n_left
            own.n_scores, own.n_halfspaces = self.right.n_scores, n - n_left
            shift(own, -self.left.n_scores)
            squares += self.right.move(own)
            shift(own, self.left.n_scores)
            own.halfspaces -= n_left
        own.n_scores, own.n_halfspaces = n_scores, n
        return squares

    cdef void put_to_sleep(self, const uint8_t* asleep) noexcept nogil:
        cdef const uint8_t* right = NULL if asleep == NULL else asleep + self.left.n_scores
        self.left_asleep = self.left_whole and asleep != NULL and asleep[0]
        self.right_asleep = self.right_whole and right != NULL and right[0]
        self.left.put_to_sleep(asleep)
        self.right.put_to_sleep(right)

    cdef Py_ssize_t count_left(self, const Round* r) noexcept nogil:
        """Return how many half-spaces belong to the left: none or all if a step handles one model."""
        cdef Py_ssize_t n = r.n_halfspaces
        if n == 0 or is_left(&r.halfspaces[n - 1], self.left.n_scores):
            return n
        n = 0
        while is_left(&r.halfspaces[n], self.left.n_scores):
            n += 1
        return n


cdef class WithAverage(Geometry):
    """Weights with their averages as a second model: the scores of the weights, then those of the averages.

    Only half-spaces of the first scores move the weights. Padding counts as columns.
    """

    cdef readonly Euclidean inner

    def __init__(self, Euclidean inner):
        if not inner.average:
            raise ValueError("the inner geometry must have averaged weights")
        self.inner = inner
        self.n_features, self.dtype = inner.n_features, inner.dtype
        self.n_columns = self.n_scores = 2 * inner.n_scores

    def __reduce__(self):
        return type(self), (self.inner,)

    @property
    def bias(self):
        """The value of the intercept coordinate."""
        return self.inner.bias

    def holders(self):
        return [self.inner]

    def members(self, Py_ssize_t width):
        return [(0, 0), (self.inner.n_scores, width)]

    def recombine_members(self, Py_ssize_t width, column_map):
        return [self.recombine(column_map)]

    def mean(self):
        """Return the weights (columns by features) and intercepts, followed by their averages."""
        weights, intercept = self.inner.mean()
        return np.vstack([self.inner.weights, weights]), np.hstack([self.inner.intercept, intercept])

    def recombine(self, column_map):
        """Return a copy with combined columns and averages."""
        return type(self)(self.inner.recombine(column_map))

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones of weight zero."""
        return type(self)(self.inner.resize(n_features))

    cdef void add_averages(self, const Row* x, double* s, double* spare) noexcept nogil:
        """Write the scores of the averages behind those of the weights."""
        cdef Py_ssize_t c, rounds = self.inner.clock - self.inner.average + 1
        cdef double* mean = s + self.inner.n_scores
        if rounds > 0:
            self.inner.project(x, &self.inner.l, self.inner.lb, spare)
        for c in range(self.inner.n_columns):
            mean[c] = s[c] - spare[c] / rounds if rounds > 0 else s[c]

    cdef void scores(self, Round* r) noexcept nogil:
        self.inner.score(r)  # which sums the squares of the row in the same order as a model of its own
        self.add_averages(r.x, r.s, r.change)
        r.n_scores = self.n_scores

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        self.inner.project(x, &self.inner.w, self.inner.b, s)
        self.add_averages(x, s, spare)

    cdef void measure(self, Round* r) noexcept nogil:
        self.inner.measure(r)

    cdef void norms(self, Round* r) noexcept nogil:
        self.inner.norms(r)

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t n = r.n_halfspaces
        r.n_halfspaces = 0
        while r.n_halfspaces < n and self.is_first(&r.halfspaces[r.n_halfspaces]):
            r.n_halfspaces += 1
        self.inner.curvatures(r)
        r.n_halfspaces = n

    cdef bint is_first(self, const HalfSpace* h) noexcept nogil:
        return max(h.up, h.down) < self.inner.n_scores

    cdef void gram(self, const Round* r, double* G) noexcept nogil:
        self.inner.gram(r, G)

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Round own = r[0]
        own.n_scores = self.inner.n_columns
        return self.inner.move(&own)


cdef class GeometryList:
    """A linked list of the chains of several models, because the loop over rounds has no Python lists.

    `own` is the round of the model; those of the other models follow it in memory.
    """

    cdef Paths paths
    cdef GeometryList rest

    def __init__(self, models):
        self.paths = models[0]
        self.rest = GeometryList(models[1:]) if len(models) > 1 else None

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        self.paths.reserve(rows, values)
        if self.rest is not None:
            self.rest.reserve(rows, values)

    cdef void scores(self, Round* own) noexcept nogil:
        self.paths.scores(own)
        if self.rest is not None:
            self.rest.scores(own + 1)

    cdef void measure(self, Round* own) noexcept nogil:
        self.paths.measure(own)
        if self.rest is not None:
            self.rest.measure(own + 1)

    cdef double curvatures(self, Round* own) noexcept nogil:
        """Return the largest squared length of a move."""
        cdef double largest = 0 if self.rest is None else self.rest.curvatures(own + 1)
        if own.n_halfspaces > 0:
            self.paths.curvatures(own)
            largest = max(largest, own.halfspaces.q)
        return largest

    cdef double move(self, const Round* own) noexcept nogil:
        cdef double squares = 0
        if own.n_halfspaces > 0 and own.halfspaces.tau > 0:
            squares = self.paths.move(own)
        return squares if self.rest is None else squares + self.rest.move(own + 1)


cdef class ExpertPaths(Geometry):
    """Chains of several models over the same rows and labels, each with its own weights and rivals.

    The scores of a trial are those of the first model, row by row, then those of the next. A task finds the round of
    each model, with its scores and transitions, in `Round.sequence.models`, and leaves its half-space there.
    """

    cdef tuple models
    cdef GeometryList first
    cdef Py_ssize_t n, width  # number of models, and length of the scores of a row in each
    cdef tuple owners
    cdef Round* rounds
    cdef int32_t* rivals

    def __init__(self, models):
        self.models = check_models(models)
        sizes = {(model.n_features, model.n_columns, model.n_scores, model.dtype) for model in self.models}
        if len(sizes) != 1:
            raise ValueError(f"models side by side must have the same features and labels; got {sizes}")
        self.first = GeometryList(self.models)
        cdef Geometry one = self.first.paths
        self.n = len(self.models)
        self.n_features, self.n_columns, self.dtype = one.n_features, one.n_columns, one.dtype
        self.width = one.n_scores
        self.n_scores = self.n * self.width

    def __reduce__(self):
        return type(self), (self.models,)

    def leaves(self):
        """Return the geometries of the models, in their order."""
        return list(self.models)

    def resize(self, Py_ssize_t n_features):
        """Return the models with the first features only, or with new ones of weight zero."""
        return type(self)([model.resize(n_features) for model in self.models])

    def recombine(self, column_map):
        """Return the models with combined labels: see `Paths`."""
        return type(self)([model.recombine(column_map) for model in self.models])

    def restarted(self):
        return type(self)([model.restarted() for model in self.models])

    def for_prediction(self):
        return type(self)([model.for_prediction() for model in self.models])

    def grown(self, column_map):
        """Return the models with new labels: see `Paths`."""
        return type(self)([model.grown(column_map) for model in self.models])

    def choose(self, Py_ssize_t start, chosen):
        """Set which features from `start` on have transition weights: see `EdgePaths`."""
        for model in self.models:
            model.choose(start, chosen)

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        self.first.reserve(rows, values)
        self.owners = np.zeros(self.n * sizeof(Round), np.uint8), np.empty(self.n * rows, np.int32)
        self.rounds = <Round*>address(self.owners[0], "B", self.n * sizeof(Round), writable=True)
        self.rivals = <int32_t*>address(self.owners[1], "i", self.n * rows, writable=True)

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Py_ssize_t m
        for m in range(self.n):
            self.rounds[m] = r[0]
            self.rounds[m].s = r.s + m * r.n_rows * self.width
            self.rounds[m].sequence.rivals = self.rivals + m * r.n_rows
        self.first.scores(self.rounds)
        r.sequence.models = self.rounds

    cdef void measure(self, Round* r) noexcept nogil:
        self.first.measure(self.rounds)

    cdef void curvatures(self, Round* r) noexcept nogil:
        if r.n_halfspaces > 0:
            r.x.squared_norm = self.first.curvatures(self.rounds)

    cdef double move(self, const Round* r) noexcept nogil:
        return self.first.move(self.rounds)
