"""Rows without features."""

from onmargin._core.geometries.geometry import float_type
from onmargin._core.restore import whole

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Round, hand_up
from onmargin._core.rows cimport Row


cdef class Featureless(Geometry):
    """Another geometry, whose rows are empty: all it learns is an intercept, which is a level that targets have."""

    cdef readonly Geometry inner
    cdef Row row

    def __init__(self, Geometry inner, Py_ssize_t n_features, dtype):
        self.inner = inner
        self.n_features, self.dtype = whole(n_features, "n_features"), float_type(dtype)
        self.n_columns, self.n_scores, self.n_spare = inner.n_columns, inner.n_scores, inner.n_spare

    @property
    def bias(self):
        """The value of the intercept coordinate."""
        return self.inner.bias

    def __reduce__(self):
        return type(self), (self.inner, self.n_features, self.dtype.name)

    def alike(self, Geometry inner):
        """The same before another geometry."""
        return type(self)(inner, self.n_features, self.dtype)

    def resized(self, Py_ssize_t n_features):
        """The same for other rows."""
        return type(self)(self.inner, n_features, self.dtype)

    cdef void scores(self, Round* r) noexcept nogil:
        cdef Row* x = r.x
        r.x = &self.row
        self.row.squared_norm = 0
        self.inner.scores(r)
        r.x = x

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        self.inner.mean_scores(&self.row, s, spare)

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
