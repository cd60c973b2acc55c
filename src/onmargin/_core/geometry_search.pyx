"""The optimal step of geometries whose weights are a link of what was added up ([PD] sec. 6)."""

from libc.math cimport INFINITY

from onmargin._core.geometry_additive cimport FALL, Additive
from onmargin._core.row cimport Row
from onmargin._core.task cimport HalfSpace, Round


cdef class Searching(Additive):
    """Where along a half-space its loss is made up for, by a search that touches the non-zeros of its row.

    The sum is what the row touches and what is beside it. The row's part is summed up at every step of the search;
    what is beside is the old sum less the row's old part. If the row holds nearly all of the sum, nothing but rounding
    is left of that difference, which does no harm as long as the new sum is of the size of the old one. Where it falls
    far below, what is beside is summed up once, over all features.
    """

    cdef double reach(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        """argmax_{0 <= a <= cap} of the dual along a half-space: where its loss is made up for ([PD] eq. 32).

        What is left of the loss falls as a grows, and is not made up for before loss / curvature: a bracket from
        there, and in it false position.
        """
        cdef double low = 0, at_low = h.loss, high = min(cap, h.loss / h.q), at_high, a, at_a
        cdef Py_ssize_t step
        self.set_apart(r.x, h)
        at_high = self.left_at(r, h, high)
        while at_high > 0 and high < cap:
            if high > 1e300:
                return 0  # nothing makes up for it
            low, at_low, high = high, at_high, min(cap, 4 * high)
            at_high = self.left_at(r, h, high)
        if at_high >= 0:
            return high
        for step in range(400):
            # Every third step halves the bracket, whatever the others do.
            a = low + (high - low) * (0.5 if step % 3 == 2 else at_low / (at_low - at_high))
            at_a = self.left_at(r, h, a)
            if at_a >= 0:
                low, at_low = a, at_a
            else:
                high, at_high = a, at_a
            if high - low <= 1e-15 * high or at_a == 0:
                break
        return low

    cdef double left_at(self, const Round* r, const HalfSpace* h, double a) noexcept nogil:
        """What is left of a half-space's loss at theta + a z."""
        cdef double low = INFINITY, high = -INFINITY, size, along
        self.look(r.x, h.up, a, &low, &high)
        self.look(r.x, h.down, -a, &low, &high)
        size = self.size(low, high)
        if not (
            not self.is_beyond(size, self.level) and self.score_at(r.x, h, a, self.level, &along)
            or self.score_at(r.x, h, a, max(self.level_for(size), self.beside_level), &along)
        ):
            along = 0  # nothing is left of theta, nor of the weights
        if h.up >= 0:
            along -= r.s[h.up] + self.threshold
        if h.down >= 0:
            along += r.s[h.down] + self.threshold
        return h.loss - along

    cdef bint score_at(self, const Row* x, const HalfSpace* h, double a, double level, double* along) noexcept nogil:
        """<z, w> at theta + a z, reckoned at a level; answers whether that is in range."""
        cdef double S, touched = 0
        along[0] = self.tally(x, h.up, a, level, &touched) - self.tally(x, h.down, -a, level, &touched)
        S = touched + self.converted(self.beside, self.beside_level, level)
        if not self.exact and S <= max(FALL * self.converted(self.highest, self.level, level), 1e-250):
            self.sum_beside(x, h)
            S = touched + self.converted(self.beside, self.beside_level, level)
        along[0] *= self.factor(S, level)
        return 1e-250 < S < INFINITY

    cdef void set_apart(self, const Row* x, const HalfSpace* h) noexcept nogil:
        """What the sum has beside the part that a half-space touches: a difference, as long as that is exact enough."""
        cdef double touched = 0
        self.tally(x, h.up, 0, self.level, &touched)
        self.tally(x, h.down, 0, self.level, &touched)
        self.beside, self.beside_level, self.exact = self.S - touched, self.level, False

    cdef void sum_beside(self, const Row* x, const HalfSpace* h) noexcept nogil:
        """The same, summed up, at the level of its largest theta: where the row's part falls, it is what counts."""
        cdef Py_ssize_t j, c, i, k, turn
        cdef double low = INFINITY, high = -INFINITY, slope
        self.beside, self.exact = 0, True
        for turn in range(2):  # the level first
            i = 0
            for j in range(self.n_features):
                while x.indices != NULL and i < x.n and x.indices[i] < j:
                    i += 1
                for c in range(self.n_columns):
                    if (c == h.up or c == h.down) and (x.indices == NULL or i < x.n and x.indices[i] == j):
                        continue
                    k = j * self.n_scores + c
                    if turn == 0:
                        low, high = min(low, self.t[k]), max(high, self.t[k])
                    else:
                        self.bend(&self.t[k], &slope, 1, self.beside_level)
                        self.beside += self.lift(&self.t[k], &slope, 1, self.beside_level)
            self.beside_level = self.level_for(self.size(low, high))
        if self.beside == 0:
            self.beside_level = -INFINITY  # any other will do

    cdef double tally(self, const Row* x, Py_ssize_t column, double a, double level, double* S) noexcept nogil:
        """<x, slopes> after a move by a x in one column; adds to S what the column's part of the sum becomes."""
        cdef double[64] theta, slope
        cdef Py_ssize_t first, i, n, stop = x.n if column >= 0 else 0
        cdef double total = 0
        for first in range(0, stop, 64):
            n = min(<Py_ssize_t>64, x.n - first)
            for i in range(n):
                theta[i] = self.t[self.place(x, first + i, column)] + a * (<double*>x.values)[first + i]
            self.bend(theta, slope, n, level)
            S[0] += self.lift(theta, slope, n, level)
            for i in range(n):
                total += (<double*>x.values)[first + i] * slope[i]
        return total
