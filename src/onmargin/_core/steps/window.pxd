"""Dual ascent over the last examples of a stream."""

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Rows
from onmargin._core.steps.step cimport Step


cdef double ACCURACY, FLAT
cdef Py_ssize_t MOST_SWEEPS


cdef class Window(Step):
    cdef readonly double C, margin
    cdef readonly Py_ssize_t window, sweeps, now, n_columns
    cdef tuple owners
    cdef Rows X
    cdef double* y
    cdef double* weight
    cdef double* alpha
    cdef Py_ssize_t held  # number of examples that alpha has room for
    cdef Row x
    cdef Round r          # the round of the example that is being revisited
    cdef Py_ssize_t origin  # round number of row 0 of X

    cdef void receive(self, const Round* r) noexcept nogil
    cdef double improve(self, Py_ssize_t i, Geometry geometry) noexcept nogil
    cdef double improve_one(self, Py_ssize_t i, Geometry geometry, double cap) noexcept nogil
    cdef double improve_rivals(self, Py_ssize_t i, Geometry geometry, double cap) noexcept nogil
    cdef double go(self, Geometry geometry, double cap) noexcept nogil
    cdef double choose(self, Py_ssize_t i, const double* s, double cap, HalfSpace* h) noexcept nogil

    cdef inline Py_ssize_t first(self) noexcept nogil:
        return max(self.now - self.window + 1, 0)

    cdef inline void take(self, Py_ssize_t i) noexcept nogil:
        """Set up the round of example i."""
        self.X.row(i, &self.x)
        self.r.t = self.origin + i

    cdef inline double* variables(self, Py_ssize_t i) noexcept nogil:
        return self.alpha + i % self.held * self.n_columns
