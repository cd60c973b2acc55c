"""Targets of an ordered stream: what an inner geometry learns is the change since the last target."""

from functools import partial

import numpy as np

from onmargin._core.geometries.geometry import float_type
from onmargin._core.restore import fill, whole_size, zeros

from libc.float cimport FLT_MAX
from libc.stdint cimport int32_t

from onmargin._core.geometries.transformed cimport Transformed
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round, finite
from onmargin._core.rows cimport Row, address

# Earlier changes that are features.
cdef enum:
    LAGS = 3


cdef class Lagged(Transformed):
    """An inner geometry whose score is the change since the last target that was learned: an autoregression.

    The LAGS changes before that one are its first features; the features of the row follow, unless it is made for rows
    without features. Targets are moved as those of `Neighbors`: the loss of a half-space is the distance of its target
    from its score. Without a half-space, the score was the target. Rows that were learned in an earlier pass leave the
    last target as it is.
    """

    n_lags = LAGS
    cdef readonly bint with_rows     # whether the features of rows are features of the inner geometry
    cdef readonly object targets     # the last LAGS + 1 targets, the newest first
    cdef tuple owners
    cdef double* y
    cdef double score                # of the round
    cdef Py_ssize_t itemsize

    def __init__(self, Geometry inner, Py_ssize_t n_features, dtype, *, bint with_rows=True):
        self.inner, self.n_features, self.dtype = inner, whole_size(n_features, "n_features"), float_type(dtype)
        self.with_rows = with_rows
        wanted = LAGS + with_rows * self.n_features
        if inner.n_columns != 1 or inner.dtype != self.dtype or inner.n_features != wanted:
            raise ValueError(
                f"the inner geometry must have one column, {self.dtype} and {wanted} features; got "
                f"{inner.n_columns}, {inner.dtype} and {inner.n_features}"
            )
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        self.itemsize = self.dtype.itemsize
        # Room for the values and the indices of a row.
        self.n_spare = inner.n_spare + 2 * (inner.n_features + 1)
        self.targets = zeros(LAGS + 1)
        self.owners = zeros(inner.n_features, self.dtype), zeros(inner.n_features, np.int32)
        self.y = <double*>address(self.targets, "d", LAGS + 1, writable=True)
        self.row.values = address(self.owners[0], "fd", inner.n_features, writable=True)
        self.row.indices = <int32_t*>address(self.owners[1], "i", inner.n_features, writable=True)

    def __reduce__(self):
        made = partial(type(self), with_rows=self.with_rows)
        return made, (self.inner, self.n_features, self.dtype.name), {"targets": self.targets}

    def __setstate__(self, state):
        fill(self.targets, state, "targets")

    def alike(self, Geometry inner):
        """Return the same in front of another geometry."""
        return self.made(inner, self.n_features)

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones, which were zero so far."""
        return self.made(self.inner.resize(LAGS + n_features) if self.with_rows else self.inner, n_features)

    def made(self, Geometry inner, Py_ssize_t n_features):
        other = type(self)(inner, n_features, self.dtype, with_rows=self.with_rows)
        other.__setstate__({"targets": self.targets})
        return other

    @property
    def level(self):
        return not self.with_rows

    def filling(self):
        """Return the values of missing features."""
        values = self.inner.filling() if isinstance(self.inner, Transformed) else None
        return np.zeros(self.n_features) if values is None or not self.with_rows else values[LAGS:]

    def plain(self, weights, intercept):
        """Return the weights and intercepts for rows as they are, after the targets so far; overflow is clipped."""
        lags, rest = weights[:, :LAGS], weights[:, LAGS:]
        with np.errstate(all="ignore"):
            intercept = intercept + self.targets[0] + lags @ (self.targets[:LAGS] - self.targets[1:])
            intercept = np.nan_to_num(intercept)
        return rest if self.with_rows else np.zeros((len(weights), self.n_features), self.dtype), intercept

    def trace_rows(self, rows):
        changes = (self.targets[:LAGS] - self.targets[1:]).clip(-FLT_MAX, FLT_MAX).astype(self.dtype)
        lags = rows.times(np.zeros((self.n_features, LAGS)), changes)
        return lags.beside(rows) if self.with_rows else lags

    def trace_scores(self, scores):
        return scores + self.targets[0]

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        cdef Py_ssize_t k
        cdef int32_t* indices = <int32_t*>out.indices
        out.n = LAGS + (x.n if self.with_rows else 0)
        for k in range(out.n):
            indices[k] = <int32_t>(k if k < LAGS or x.indices == NULL else LAGS + x.indices[k - LAGS])
        if self.itemsize == 4:
            write(<const float*>x.values, self.y, out.n, <float*>out.values)
        else:
            write(<const double*>x.values, self.y, out.n, <double*>out.values)

    cdef void scores(self, Round* r) noexcept nogil:
        Transformed.scores(self, r)
        r.s[0] = self.score = finite(r.s[0] + self.y[0])

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        cdef Row row = self.row
        cdef double* room = spare + self.n_scores + self.inner.n_spare
        row.values, row.indices = room, <int32_t*>(room + self.inner.n_features)
        self.change(x, &row)
        self.inner.mean_scores(&row, s, spare)
        s[0] = finite(s[0] + self.y[0])

    cdef void measure(self, Round* r) noexcept nogil:
        cdef Py_ssize_t k
        Transformed.measure(self, r)
        if not r.seen:
            for k in range(LAGS, 0, -1):
                self.y[k] = self.y[k - 1]
            self.y[0] = self.score

    cdef double move(self, const Round* r) noexcept nogil:
        cdef const HalfSpace* h = r.halfspaces
        if not r.seen:
            self.y[0] = finite(self.score + (h.loss if h.up >= 0 else -h.loss))
        return Transformed.move(self, r)


ctypedef fused real:
    float
    double


cdef void write(const real* x, const double* y, Py_ssize_t n, real* out) noexcept nogil:
    """Write the changes of the last targets, and the values of the row."""
    cdef Py_ssize_t k
    for k in range(LAGS):
        out[k] = <real>max(min(y[k] - y[k + 1], FLT_MAX), -FLT_MAX)
    for k in range(LAGS, n):
        out[k] = x[k - LAGS]
