"""Weights that are a link of a sum: entropic, balanced entropic and p-norm ([PD] sec. 4; [NIPS]; [SIMPROJ])."""

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Vec, Weights


cdef double FALL


cdef class Additive(Geometry):
    cdef readonly double threshold, level
    cdef readonly double bias       # always 0: there is no intercept
    cdef readonly Py_ssize_t clock
    cdef readonly object theta      # n_features x columns, and padding
    cdef object slopes              # n_features x columns, and padding
    cdef double* t
    cdef double* v
    cdef Weights w
    cdef const Vec* vec
    cdef double S
    cdef double highest             # largest S since it was last recomputed
    cdef Py_ssize_t touched         # entries of theta changed since then

    cdef void bend(self, const double* theta, double* slope, Py_ssize_t n, double level) noexcept nogil
    cdef double lift(self, const double* theta, const double* slope, Py_ssize_t n, double level) noexcept nogil
    cdef double factor(self, double S, double level) noexcept nogil
    cdef double potential(self, double S, double level) noexcept nogil
    cdef double size(self, double low, double high) noexcept nogil
    cdef double level_for(self, double size) noexcept nogil
    cdef double converted(self, double S, double level, double new_level) noexcept nogil
    cdef bint is_beyond(self, double size, double level) noexcept nogil
    cdef double curvature(self, const Row* x, bint both) noexcept nogil

    cdef void sum_anew(self) noexcept nogil
    cdef void find_range(self, const Row* x, Py_ssize_t column, double a, double* low, double* high) noexcept nogil
    cdef double rest(self, const Row* x, double S, double touched) noexcept nogil
    cdef void shift(self, const Row* x, Py_ssize_t column, double a) noexcept nogil

    cdef inline Py_ssize_t place(self, const Row* x, Py_ssize_t i, Py_ssize_t column) noexcept nogil:
        return (i if x.indices == NULL else x.indices[i]) * self.n_scores + column


cdef inline void extremes(const Row* x, double* low, double* high) noexcept nogil:
    """Widen [low, high] to hold the values of a row."""
    cdef Py_ssize_t i
    for i in range(x.n):
        low[0] = min(low[0], (<double*>x.values)[i])
        high[0] = max(high[0], (<double*>x.values)[i])


cdef class Searching(Additive):
    cdef double beside        # S without the part of the features of a half-space
    cdef double beside_level  # its level
    cdef bint exact           # whether it was summed from scratch

    cdef double left_at(self, const Round* r, const HalfSpace* h, double a) noexcept nogil
    cdef bint score_at(self, const Row* x, const HalfSpace* h, double a, double level, double* along) noexcept nogil
    cdef void set_apart(self, const Row* x, const HalfSpace* h) noexcept nogil
    cdef void sum_beside(self, const Row* x, const HalfSpace* h) noexcept nogil
    cdef double tally(self, const Row* x, Py_ssize_t column, double a, double level, double* S) noexcept nogil
