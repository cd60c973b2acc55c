"""Tasks whose rounds are trials of several half-spaces: they emit all of them, and the step selects."""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t

from onmargin._core.round cimport HalfSpace, Round, demand, suffer
from onmargin._core.tasks.task cimport Task


cdef class Ordinal(Task):
    """Ordinal regression: y a rank from 0, one score per threshold, positive below y and negative above ([SIMPROJ] sec.
    3).

    Loss max_j [margin - y_j s_j]_+. The rank predicted is the number of the first negative score; its distance from y
    is the cost of the round.
    """

    cdef readonly double margin

    def __init__(self, double margin=1.0):
        self.margin = margin

    def __reduce__(self):
        return type(self), (self.margin,)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef Py_ssize_t j, rank = <Py_ssize_t>r.y[0], predicted = r.n_scores
        cdef double margin, least = INFINITY
        for j in range(r.n_scores):
            margin = r.s[j] if j < rank else -r.s[j]
            demand(r, j if j < rank else -1, -1 if j < rank else j, self.margin - margin, not margin > 0)
            least = min(least, margin)
            if r.s[j] < 0 and j < predicted:
                predicted = j
        r.mistake = not least > 0
        r.cost = fabs(<double>(predicted - rank))
        if least < self.margin:
            suffer(r, self.margin - least)

    def decode(self, scores):
        negative = np.column_stack([scores < 0, np.ones(len(scores), bool)])
        return negative.argmax(axis=1)


cdef class Block(Task):
    """Blocks: a score and a target per row of the trial; sign(y_j) is the row's label, |y_j| the number of its set,
    from 1.

    The loss is the mean over the sets of max_j [margin - sign(y_j) s_j]_+ over their rows ([SIMPROJ] Cor. 5).
    One wrong row makes the trial imperfect, a mistake; the cost is the fraction of imperfect sets.
    The targets of a trial may be followed by as many prices, the shares of C that the steps along its rows take
    ([SIMPROJ] sec. 10).
    """

    cdef readonly double margin

    def __init__(self, double margin=1.0):
        self.margin = margin

    def __reduce__(self):
        return type(self), (self.margin,)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef Py_ssize_t j, part
        cdef HalfSpace* h = r.halfspaces
        cdef double margin, largest, loss = 0, imperfect = 0
        cdef bint mistaken
        r.prices = r.y + r.n_scores if r.n_y == 2 * r.n_scores else NULL
        for j in range(r.n_scores):
            margin = r.s[j] if r.y[j] > 0 else -r.s[j]
            demand(r, j if r.y[j] > 0 else -1, -1 if r.y[j] > 0 else j, self.margin - margin, not margin > 0)
            h[j].part = <int32_t>fabs(r.y[j]) - 1
            r.n_parts = max(r.n_parts, h[j].part + 1)
        for part in range(r.n_parts):
            largest, mistaken = 0, False
            for j in range(r.n_halfspaces):
                if h[j].part == part:
                    largest = max(largest, h[j].loss)
                    mistaken |= h[j].mistaken
            loss += largest
            imperfect += mistaken
        r.mistake = imperfect > 0
        r.cost = imperfect / r.n_parts
        suffer(r, loss / r.n_parts)

    def decode(self, scores):
        return (scores[:, 0] >= 0).astype(np.intp)


cdef inline void worse(
    const double* s, Py_ssize_t raised, Py_ssize_t lowered, Py_ssize_t* up, Py_ssize_t* down
) noexcept nogil:
    """Replace (up, down) by another pair of labels if that is violated more."""
    if raised >= 0 and lowered >= 0 and (up[0] < 0 or s[raised] - s[lowered] < s[up[0]] - s[down[0]]):
        up[0], down[0] = raised, lowered


cdef class Ranking(Task):
    """Label ranking: y the relevant labels, ascending, one score per label; relevant ones must beat all others ([JMLR]
    sec. 7).

    Loss [margin - (s_r - s_q)]_+ of the lowest relevant label r and the highest other label q; none if either is
    missing. With `calibrated` the last score is that of a label between them, which the relevant ones must beat and
    which must beat the others.

    The half-space of the worst pair only, or with `every` the sides of all pairs: label r to raise has the loss
    margin - s_r and label q to lower s_q, so that the loss of a pair is their sum. Pairs are never listed. With
    `met`, the sides of satisfied pairs are emitted, too: if labels share weights, a move may violate those.
    """

    cdef readonly double margin
    cdef readonly bint every, calibrated, met

    def __init__(self, double margin=1.0, bint every=False, bint calibrated=False, bint met=False):
        self.margin = margin
        self.every = every
        self.calibrated = calibrated
        self.met = met

    def __reduce__(self):
        return type(self), (self.margin, self.every, self.calibrated, self.met)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef const double* s = r.s
        cdef Py_ssize_t c, i = 0, low = -1, high = -1, middle = r.n_scores - 1 if self.calibrated else -1
        cdef Py_ssize_t up = -1, down = -1
        for c in range(r.n_scores - self.calibrated):
            if i < r.n_y and r.y[i] == c:
                i += 1
                if low < 0 or s[c] < s[low]:
                    low = c
            elif high < 0 or s[c] > s[high]:
                high = c
        worse(s, low, high, &up, &down)
        worse(s, low, middle, &up, &down)
        worse(s, middle, high, &up, &down)
        if up < 0:
            return
        cdef double loss = self.margin - (s[up] - s[down])
        r.mistake = not s[up] > s[down]
        if loss <= 0:
            return
        suffer(r, loss)
        if self.every:
            self.demand_sides(r, low, high, middle)
        else:
            demand(r, up, down, loss, r.mistake)

    cdef void demand_sides(self, Round* r, Py_ssize_t low, Py_ssize_t high, Py_ssize_t middle) noexcept nogil:
        """Emit the sides of the violated pairs, and possibly a few more."""
        cdef const double* s = r.s
        cdef Py_ssize_t c, i = 0
        cdef double bottom = s[low] if low >= 0 else INFINITY, top = s[high] if high >= 0 else -INFINITY
        if middle >= 0:
            if self.margin - (s[middle] - top) > 0:
                demand(r, middle, -1, self.margin - s[middle], False)
            if self.margin - (bottom - s[middle]) > 0:
                demand(r, -1, middle, s[middle], False)
            bottom, top = min(bottom, s[middle]), max(top, s[middle])
        for c in range(r.n_scores - self.calibrated):
            if i < r.n_y and r.y[i] == c:
                i += 1
                if self.met or self.margin - (s[c] - top) > 0:
                    demand(r, c, -1, self.margin - s[c], False)
            elif self.met or self.margin - (bottom - s[c]) > 0:
                demand(r, -1, c, s[c], False)

    def decode(self, scores):
        return scores[:, :-1] > scores[:, -1:] if self.calibrated else scores
