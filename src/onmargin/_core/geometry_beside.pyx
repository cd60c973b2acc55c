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
        cdef Round other = r[0]
        other.s += self.left.n_scores
        self.left.scores(r)
        self.right.scores(&other)
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
        cdef Round one = self.side(r, False), other = self.side(r, True)
        if one.n_halfspaces > 0:
            self.left.curvatures(&one)
        if other.n_halfspaces > 0:
            self.shift(&other, -self.left.n_scores)
            self.right.curvatures(&other)
            self.shift(&other, self.left.n_scores)

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Round one = self.side(r, False), other = self.side(r, True)
        cdef double squares = 0
        if one.n_halfspaces > 0:
            squares += self.left.move(&one)
        if other.n_halfspaces > 0:
            self.shift(&other, -self.left.n_scores)
            squares += self.right.move(&other)
        return squares

    cdef Round side(self, const Round* r, bint right) noexcept nogil:
        """The round with the half-spaces of one side alone."""
        cdef Round own = r[0]
        cdef Py_ssize_t n = 0
        while n < r.n_halfspaces and max(r.halfspaces[n].up, r.halfspaces[n].down) < self.left.n_scores:
            n += 1
        own.n_scores = self.right.n_scores if right else self.left.n_scores
        own.n_halfspaces = r.n_halfspaces - n if right else n
        own.halfspaces += n if right else 0
        return own

    cdef void shift(self, Round* r, Py_ssize_t places) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.up += <int>places if h.up >= 0 else 0
            h.down += <int>places if h.down >= 0 else 0
