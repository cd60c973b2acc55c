"""Weights and their averages, as two models of which one learns."""

import numpy as np

from onmargin._core.geometry cimport Euclidean, Geometry
from onmargin._core.row cimport Row
from onmargin._core.task cimport Round


cdef class Twofold(Geometry):
    """The scores of weights that are being averaged, and after them those of their averages.

    Half-spaces are of the first scores alone: what is asked of the second moves nothing. Padding counts as columns.
    """

    cdef readonly Euclidean inner

    def __init__(self, Euclidean inner):
        if not inner.average:
            raise ValueError("weights that are not averaged have no second scores")
        self.inner = inner
        self.n_features, self.dtype = inner.n_features, inner.dtype
        self.n_columns = self.n_scores = 2 * inner.n_scores

    def __reduce__(self):
        return type(self), (self.inner,)

    @property
    def bias(self):
        """The value of the intercept coordinate."""
        return self.inner.bias

    def mean(self):
        """The weights (columns by features) and intercepts, and after them their averages."""
        weights, intercept = self.inner.mean()
        return np.vstack([self.inner.weights, weights]), np.hstack([self.inner.intercept, intercept])

    def recombined(self, mixing):
        """A copy whose columns, and their averages, are combinations of these."""
        return type(self)(self.inner.recombined(mixing))

    def resized(self, Py_ssize_t n_features):
        """A copy with the first features only, or with new ones of weight zero."""
        return type(self)(self.inner.resized(n_features))

    cdef void both(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Py_ssize_t c, rounds = self.inner.clock - self.inner.average + 1
        cdef double* mean = s + self.inner.n_scores
        self.inner.project(x, &self.inner.w, self.inner.b, s)
        if rounds > 0:
            self.inner.project(x, &self.inner.l, self.inner.lb, spare)
        for c in range(self.inner.n_columns):
            mean[c] = s[c] - spare[c] / rounds if rounds > 0 else s[c]

    cdef void scores(self, Round* r) noexcept nogil:
        self.both(r.x, r.s, r.change)
        r.n_scores = self.n_scores

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        self.both(x, s, spare)

    cdef void measure(self, Round* r) noexcept nogil:
        self.inner.measure(r)

    cdef void norms(self, Round* r) noexcept nogil:
        self.inner.norms(r)

    cdef void curvatures(self, Round* r) noexcept nogil:
        self.inner.curvatures(r)

    cdef void gram(self, const Round* r, double* G) noexcept nogil:
        self.inner.gram(r, G)

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Round own = r[0]
        own.n_scores = self.inner.n_columns
        return self.inner.move(&own)
