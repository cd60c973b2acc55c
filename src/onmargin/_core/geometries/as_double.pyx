"""Rows in double precision."""

import numpy as np

from onmargin._core.restore import zeros

from onmargin._core.geometries.transformed cimport Transformed
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.rows cimport Row, address


cdef class AsDouble(Transformed):
    """An inner geometry in double precision for rows in single precision."""

    cdef object owner

    def __init__(self, Geometry inner):
        if inner.dtype != np.float64:
            raise ValueError(f"the inner geometry must be float64; got {inner.dtype}")
        self.inner = inner
        self.n_features, self.dtype = inner.n_features, np.dtype(np.float32)
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        self.n_spare = inner.n_spare + self.n_features
        self.owner = zeros(self.n_features)
        self.row.values = address(self.owner, "d", self.n_features, writable=True)

    def __reduce__(self):
        return type(self), (self.inner,)

    def trace_rows(self, rows):
        return rows

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones."""
        return type(self)(self.inner.resize(n_features))

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(x.n):
            (<double*>out.values)[k] = (<const float*>x.values)[k]
        out.n, out.indices = x.n, x.indices
