"""A geometry holds the weights and moves them."""

from libc.math cimport INFINITY, isnan, sqrt
from libc.stdint cimport uint8_t

from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.rows cimport Row, Vec, Weights


cdef double AUTO_BIAS


cdef inline int sides(const HalfSpace* h) noexcept nogil:
    """How many columns a half-space compares: one, if the other side is absent (-1), or two."""
    return 1 + ((h.up | h.down) >= 0)


cdef class Geometry:
    cdef readonly Py_ssize_t n_features, n_columns
    cdef readonly object dtype
    cdef readonly Py_ssize_t n_scores  # length of the scores of a row: columns and padding
    cdef readonly Py_ssize_t n_spare   # scratch numbers of mean_scores, besides the scores
    cdef bint plain                    # whether it is Euclidean itself, and not derived from it

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t values)
    cdef void scores(self, Round* r) noexcept nogil
    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil
    cdef bint averages(self) noexcept nogil
    cdef void measure(self, Round* r) noexcept nogil
    cdef void norms(self, Round* r) noexcept nogil
    cdef void curvatures(self, Round* r) noexcept nogil
    cdef void gram(self, const Round* r, double* G) noexcept nogil
    cdef double line_search(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil
    cdef double move(self, const Round* r) noexcept nogil
    cdef void put_to_sleep(self, const uint8_t* asleep) noexcept nogil


cdef class Columns(Geometry):
    cdef readonly double bias          # value of the intercept coordinate; 0: no intercept, nan: set by the first row

    cdef inline double squared_bias(self) noexcept nogil:
        return 0 if isnan(self.bias) else self.bias * self.bias

    cdef double combine(self, const Round* r) noexcept nogil


cdef class Euclidean(Columns):
    cdef readonly bint sparse          # whether rows are expected to be sparse
    cdef bint feature_major            # memory layout of the weights
    cdef readonly object weights       # vectors x n_features, a view of the memory below
    cdef readonly object intercept     # n_columns, in score units
    cdef readonly object lag           # averaged weights are weights - lag / rounds; None without averaging
    cdef readonly object lag_intercept
    cdef readonly Py_ssize_t average   # first averaged round; 0: no averaging
    cdef readonly Py_ssize_t clock     # rounds received
    cdef Py_ssize_t vectors            # number of weight vectors: one per column, or one for all
    cdef double found                  # squared norm of the row scored last, without intercept; -1: unknown
    cdef const Vec* vec
    cdef Weights w
    cdef Weights l
    cdef double* b
    cdef double* lb

    cdef Py_ssize_t count_vectors(self)
    cdef Py_ssize_t count_row(self)    # numbers that the weights of a feature take where those of features are together
    cdef Weights place(self, object memory, Py_ssize_t k=*)
    cdef void project(self, const Row* x, const Weights* w, const double* b, double* s) noexcept nogil
    cdef void measure_row(self, Row* x) noexcept nogil

    cdef inline void take_norm(self, Row* x, double squares) noexcept nogil:
        """Set the squared norm of a row from that of its values."""
        if isnan(self.bias) and 0 < squares < INFINITY:
            self.bias = AUTO_BIAS * sqrt(squares)
        x.squared_norm = squares + self.squared_bias()

    cdef inline void score(self, Round* r) noexcept nogil:
        self.found = self.vec.scores_and_norm(r.x, &self.w, self.b, r.s)
        r.n_scores = self.n_columns

    cdef inline void count(self, Round* r) noexcept nogil:
        self.take_norm(r.x, self.vec.squared_norm(r.x) if self.found < 0 else self.found)
        self.found = -1  # of this row alone
        self.clock += 1

    cdef inline double move_along(self, const Round* r, const HalfSpace* h) noexcept nogil:
        """Move along the only half-space of a round; answer the squared length of the move."""
        self.add_move(r.x, h, &self.w, self.b, 1)
        if self.average and self.clock > self.average:
            self.add_move(r.x, h, &self.l, self.lb, self.clock - self.average)
        return h.tau * h.tau * sides(h) * r.x.squared_norm

    cdef inline void add_move(
        self, const Row* x, const HalfSpace* h, const Weights* w, double* b, double scale
    ) noexcept nogil:
        """W += scale * (the move along a half-space)."""
        cdef double change = scale * h.tau * self.squared_bias()
        self.vec.add(x, w, h.up, h.down, scale * h.tau)
        if sides(h) == 1:  # there is no branch on which one, as in `vec.add`
            b[h.up + h.down + 1] += (1 - 2 * (h.up < 0)) * change
        else:
            b[h.up] += change
            b[h.down] -= change

    cdef void shift(self, const Round* r, const Weights* w, double* b, double scale) noexcept nogil


# The words of the round. Plain weights are called directly, not through the table of methods: with 30 columns those
# calls would take an eighth of the round.

cdef inline void scores(Geometry geometry, Round* r) noexcept nogil:
    if geometry.plain:
        (<Euclidean>geometry).score(r)
    else:
        geometry.scores(r)


cdef inline void measure(Geometry geometry, Round* r) noexcept nogil:
    if geometry.plain:
        (<Euclidean>geometry).count(r)
    else:
        geometry.measure(r)


cdef inline double move(Geometry geometry, Round* r) noexcept nogil:
    if geometry.plain and r.n_halfspaces == 1:
        return (<Euclidean>geometry).move_along(r, r.halfspaces)
    return geometry.move(r)
