"""Rows in double precision."""

import numpy as np

from onmargin._core.restore import zeros

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Round, hand_up
from onmargin._core.rows cimport Row, address


cdef class Widened(Geometry):
    """Another geometry, in double precision, for rows in single precision."""

    cdef readonly Geometry inner
    cdef object owner
    cdef Row row

    def __init__(self, Geometry inner):
        if inner.dtype != np.float64:
            raise ValueError(f"rows become float64, and weights for them are {inner.dtype}")
        self.inner = inner
        self.n_features, self.dtype = inner.n_features, np.dtype(np.float32)
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        self.n_spare = inner.n_spare + self.n_features
        self.owner = zeros(self.n_features)
        self.row.values = address(self.owner, "d", self.n_features, writable=True)

    @property
    def bias(self):
        """The value of the intercept coordinate."""
        return self.inner.bias

    def __reduce__(self):
        return type(self), (self.inner,)

    def alike(self, Geometry inner):
        """The same before another geometry."""
        return type(self)(inner)

    def resized(self, Py_ssize_t n_features):
        """A copy with the first features only, or with new ones."""
        return type(self)(self.inner.resized(n_features))

    cdef void widen(self, const Row* x, Row* out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(x.n):
            (<double*>out.values)[k] = (<const float*>x.values)[k]
        out.n, out.indices = x.n, x.indices

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Row* x = r.x
        self.widen(x, &self.row)
        r.x = &self.row
        self.row.squared_norm = 0
        self.inner.scores(r)
        r.x = x

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Row row = self.row
        row.values = spare + self.n_scores + self.inner.n_spare
        self.widen(x, &row)
        self.inner.mean_scores(&row, s, spare)

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Row* x = r.x
        r.x = &self.row
        self.inner.measure(r)
        r.x = x
        hand_up(&self.row, x)

    cdef void norms(self, Round* r) noexcept nogil:
        cdef Row* x = r.x
        r.x = &self.row
        self.inner.norms(r)
        r.x = x
        hand_up(&self.row, x)

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Row* x = r.x
        r.x = &self.row
        self.inner.curvatures(r)
        r.x = x

    cdef double move(self, const Round* r) noexcept nogil:
        cdef Round own = r[0]
        own.x = &self.row
        return self.inner.move(&own)
