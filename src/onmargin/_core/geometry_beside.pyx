"""Geometries side by side, for models that learn from the same rows and share nothing else."""

from onmargin._core.geometry cimport Geometry
from onmargin._core.row cimport Row
from onmargin._core.task cimport HalfSpace, Round


cdef class Beside(Geometry):
    """The scores of one geometry, and after them those of the other, which may be such a pair again.

    Half-spaces are in the order of the scores, and none has a side in each. Padding counts as columns.
    """

    cdef readonly Geometry left, right

    def __init__(self, Geometry left, Geometry right):
        self.left, self.right = left, right
        self.n_features, self.dtype = left.n_features, left.dtype
        self.n_columns = self.n_scores = left.n_scores + right.n_scores
        self.n_spare = max(left.n_spare, right.n_spare)

    def __reduce__(self):
        return type(self), (self.left, self.right)

    @property
    def bias(self):
        """The value of the intercept coordinate, which is the same for both."""
        return self.left.bias

    def leaves(self):
        """The geometries side by side, in the order of their scores."""
        return [
            leaf for side in (self.left, self.right)
            for leaf in (side.leaves() if isinstance(side, Beside) else [side])
        ]

    def resized(self, Py_ssize_t n_features):
        """A pair with the first features only, or with new ones."""
        return type(self)(self.left.resized(n_features), self.right.resized(n_features))

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values):
        self.left.reserve(rows, values)
        self.right.reserve(rows, values)

    cdef void scores(self, Round* r) noexcept nogil:
        self.left.scores(r)
        r.s += self.left.n_scores
        self.right.scores(r)
        r.s -= self.left.n_scores
        r.n_scores = self.n_scores

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        self.left.mean_scores(x, s, spare)
        self.right.mean_scores(x, s + self.left.n_scores, spare)

    cdef void measure(self, Round* r) noexcept nogil:
        self.left.measure(r)
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
            self.shift(r, -self.left.n_scores)
            self.right.curvatures(r)
            self.shift(r, self.left.n_scores)
            r.halfspaces -= n_left
        r.n_halfspaces = n

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Round own = r[0]
        cdef Py_ssize_t n_left = self.count_left(r)
        cdef double squares = 0
        if n_left > 0:
            own.n_scores, own.n_halfspaces = self.left.n_scores, n_left
            squares += self.left.move(&own)
        if n_left < r.n_halfspaces:
            own.n_scores, own.n_halfspaces = self.right.n_scores, r.n_halfspaces - n_left
            own.halfspaces += n_left
            self.shift(&own, -self.left.n_scores)
            squares += self.right.move(&own)
        return squares

    cdef Py_ssize_t count_left(self, const Round* r) noexcept nogil:
        """How many half-spaces are of the left: none or all, where a step asks for those of one model."""
        cdef Py_ssize_t n = r.n_halfspaces
        if n == 0 or self.is_left(&r.halfspaces[n - 1]):
            return n
        n = 0
        while self.is_left(&r.halfspaces[n]):
            n += 1
        return n

    cdef bint is_left(self, const HalfSpace* h) noexcept nogil:
        return max(h.up, h.down) < self.left.n_scores

    cdef void shift(self, Round* r, Py_ssize_t places) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.up += <int>places if h.up >= 0 else 0
            h.down += <int>places if h.down >= 0 else 0
