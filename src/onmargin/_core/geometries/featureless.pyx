"""Rows without features."""

import numpy as np

from onmargin._core.geometries.geometry import float_type
from onmargin._core.restore import whole_size

from onmargin._core.geometries.transformed cimport Transformed
from onmargin._core.geometries.geometry cimport Geometry


cdef class Featureless(Transformed):
    """An inner geometry whose rows are empty: it learns only an intercept, the level of the targets."""

    def __init__(self, Geometry inner, Py_ssize_t n_features, dtype):
        self.inner = inner
        self.n_features, self.dtype = whole_size(n_features, "n_features"), float_type(dtype)
        self.n_columns, self.n_scores, self.n_spare = inner.n_columns, inner.n_scores, inner.n_spare

    def __reduce__(self):
        return type(self), (self.inner, self.n_features, self.dtype.name)

    @property
    def level(self):
        return True

    def holders(self):
        return [self.inner]

    def plain(self, weights, intercepts):
        return np.zeros((len(weights), self.n_features), self.dtype), intercepts

    def trace_rows(self, rows):
        return rows.times(np.zeros((self.n_features, self.inner.n_features)), np.zeros(self.inner.n_features))

    def alike(self, Geometry inner):
        """Return the same in front of another geometry."""
        return type(self)(inner, self.n_features, self.dtype)

    def resize(self, Py_ssize_t n_features):
        """Return the same for rows with other features."""
        return type(self)(self.inner, n_features, self.dtype)
