"""Simultaneous projections onto the pairs of a label to raise and a label to lower, without listing the pairs.

A round has the sides of the pairs (see Ranking). In sorted order, the sides that form a violated pair with a label
come first, so that a sum over them is a difference of two prefix sums, and all sums cost two passes.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport qsort

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.steps.simultaneous cimport Scheme


cdef struct Side:
    double height  # the score of a label to lower, or minus the score of a label to raise
    double before  # prefix sum of the heights
    HalfSpace* of


cdef struct Pairs:
    # The loss of pair (i, j) is margin + (up[i].height + down[j].height). Both are sorted, highest first.
    Side* up
    Side* down
    Py_ssize_t n_up
    Py_ssize_t n_down
    double margin
    double q       # squared length of every pair's direction
    HalfSpace* twin  # the first of two consecutive sides of the same label, which do not form a pair; or NULL


cdef struct Rule:
    # Pair (i, j) moves min(cap, (loss - theta) * rate) if its loss is above theta.
    double theta
    double rate
    double cap
    bint mistaken  # and if it makes the prediction wrong


cdef int by_height(const void* a, const void* b) noexcept nogil:
    cdef double left = (<const Side*>a).height, right = (<const Side*>b).height
    return (left < right) - (left > right)


cdef void sort_sides(Side* side, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0
    qsort(side, n, sizeof(Side), by_height)
    for i in range(n):
        side[i].before = total
        total += side[i].height
    side[n].before = total


cdef inline bint takes(const Pairs* p, const Rule* rule, const Side* a, const Side* b) noexcept nogil:
    cdef double apart = a.height + b.height
    return p.margin + apart > rule.theta and (apart >= 0 or not rule.mistaken)


cdef inline double go(const Rule* rule, double loss) noexcept nogil:
    return min(rule.cap, (loss - rule.theta) * rule.rate) if loss > rule.theta else 0


cdef double sum_losses(const Pairs* p, const Rule* rule, Py_ssize_t* n) noexcept nogil:
    """Sum the losses of all pairs that the rule moves, and count them."""
    cdef Py_ssize_t i, reach = p.n_down
    cdef double total = 0
    n[0] = 0
    for i in range(p.n_up):
        while reach > 0 and not takes(p, rule, &p.up[i], &p.down[reach - 1]):
            reach -= 1
        n[0] += reach
        total += reach * (p.margin + p.up[i].height) + p.down[reach].before
    if p.twin != NULL and p.margin > rule.theta:
        n[0] -= 1
        total -= p.margin
    return total


cdef void tally(
    const Pairs* p, const Rule* rule, Side* own, Py_ssize_t n_own, const Side* other, Py_ssize_t n_other
) noexcept nogil:
    """Sum for each side of one kind how far its pairs move."""
    cdef Py_ssize_t i, reach = n_other, capped = n_other
    cdef double linear
    for i in range(n_own):
        while reach > 0 and not takes(p, rule, &own[i], &other[reach - 1]):
            reach -= 1
        while capped > 0 and (
            capped > reach or go(rule, p.margin + (own[i].height + other[capped - 1].height)) < rule.cap
        ):
            capped -= 1
        own[i].of.tau = capped * rule.cap if capped > 0 else 0
        if reach > capped:
            linear = (reach - capped) * (p.margin - rule.theta + own[i].height)
            own[i].of.tau += rule.rate * (linear + (other[reach].before - other[capped].before))


cdef class PairScheme(Scheme):
    """A scheme for the pairs of a round; `margin` is that of the task."""

    cdef readonly double margin

    def __init__(self, double C, bint mistaken, double margin=1.0):
        super().__init__(C, mistaken)
        self.margin = margin

    def __reduce__(self):
        return type(self), (self.C, self.mistaken, self.margin)

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return (n + 2) * sizeof(Side) // sizeof(double)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h = r.halfspaces
        cdef Pairs p
        cdef double gain = 0
        geometry.curvatures(r)
        p.q, p.margin = 2 * h.q, self.margin
        if not 1e-300 < p.q < INFINITY:
            return 0
        p.n_up = p.n_down = 0
        for i in range(r.n_halfspaces):
            p.n_up += h[i].up >= 0
        p.up = <Side*>r.work
        p.down = p.up + p.n_up + 1
        p.n_up = 0
        for i in range(r.n_halfspaces):
            if h[i].up >= 0:
                p.up[p.n_up].height, p.up[p.n_up].of = -r.s[h[i].up], &h[i]
                p.n_up += 1
            else:
                p.down[p.n_down].height, p.down[p.n_down].of = r.s[h[i].down], &h[i]
                p.n_down += 1
        p.twin = h if r.n_halfspaces > 1 and h.up >= 0 and h.up == h[1].down else NULL
        sort_sides(p.up, p.n_up)
        sort_sides(p.down, p.n_down)
        if not self.share_out(&p, self.C * r.weight, r.loss):
            return 0
        for i in range(r.n_halfspaces):
            gain += h[i].tau * h[i].loss
        return gain

    cdef bint share_out(self, const Pairs* p, double C, double loss) noexcept nogil:
        """Set tau of every side; return whether anything moves. `loss` is the largest loss of a pair."""
        return False

    cdef void apply(self, const Pairs* p, const Rule* rule, double scale) noexcept nogil:
        """Set tau of each side to `scale` times the sum over its pairs."""
        cdef Py_ssize_t i
        cdef double own = go(rule, p.margin) if p.twin != NULL else 0
        tally(p, rule, p.up, p.n_up, p.down, p.n_down)
        tally(p, rule, p.down, p.n_down, p.up, p.n_up)
        for i in range(p.n_up):
            p.up[i].of.tau = (p.up[i].of.tau - (own if p.up[i].of == p.twin else 0)) * scale
        for i in range(p.n_down):
            p.down[i].of.tau = (p.down[i].of.tau - (own if p.down[i].of == p.twin + 1 else 0)) * scale


cdef class EvenPairs(PairScheme):
    """Every pair by itself, evenly mixed: SimPerc (`fixed`) and ConProj on mistakes, SimProj on all (no bound)."""

    cdef readonly bint fixed

    def __init__(self, double C, bint mistaken, bint fixed=False, double margin=1.0):
        super().__init__(C, mistaken, margin)
        self.fixed = fixed

    def __reduce__(self):
        return type(self), (self.C, self.mistaken, self.fixed, self.margin)

    cdef bint share_out(self, const Pairs* p, double C, double loss) noexcept nogil:
        cdef Py_ssize_t n
        cdef Rule rule
        rule.theta, rule.rate, rule.cap, rule.mistaken = 0, INFINITY if self.fixed else 1 / p.q, C, self.mistaken
        sum_losses(p, &rule, &n)
        if n > 0:
            self.apply(p, &rule, 1 / <double>n)
        return n > 0


cdef class SeparablePairs(PairScheme):
    """The dual without its cross terms: SimOpt (no mistake bound, E9) on all pairs, ConOpt on mistakes."""

    cdef bint share_out(self, const Pairs* p, double C, double loss) noexcept nogil:
        cdef Py_ssize_t n
        cdef Rule rule
        cdef double total, step
        rule.theta, rule.rate, rule.cap, rule.mistaken = max(loss - C * p.q, 0), 1 / p.q, INFINITY, self.mistaken
        # Newton's method from the left, as in Separable.
        while True:
            total = sum_losses(p, &rule, &n)
            step = (total - n * rule.theta - C * p.q) / n if n > 0 else 0
            if not step > 1e-15 * rule.theta:  # also stops at NaN
                break
            rule.theta += step
        if n > 0:
            self.apply(p, &rule, 1)
        return n > 0


cdef double level(const Side* side, Py_ssize_t n, double offset, double size) noexcept nogil:
    """Return the level above which offset + height sums to `size`: the projection onto a simplex."""
    cdef Py_ssize_t k
    cdef double highest = -INFINITY
    for k in range(1, n + 1):
        highest = max(highest, offset + (side[k].before - size) / k)
    return highest


cdef class SopopoPairs(PairScheme):
    """min |W' - W|^2 / 2 + C xi, every pair apart by the margin less xi: the dual itself (Sopopo).

    Label i rises by [margin - s_i - theta]_+ / A with A = |x|^2, label j falls by [s_j + theta]_+ / A, as much in all;
    if that is more than C, each kind is projected onto the simplex of that size by itself. Not for repeated labels.
    """

    def __init__(self, double C, double margin=1.0):
        super().__init__(C, False, margin)

    def __reduce__(self):
        return type(self), (self.C, self.margin)

    cdef bint share_out(self, const Pairs* p, double C, double loss) noexcept nogil:
        cdef Py_ssize_t i, n = 1, m = 1
        cdef double A = p.q / 2, theta, fall
        # From the highest of each kind: another one, once below theta, stays there, and none that joined leaves.
        while True:
            theta = (n * p.margin + p.up[n].before - p.down[m].before) / (n + m)
            if n < p.n_up and p.margin + p.up[n].height > theta:
                n += 1
            elif m < p.n_down and p.down[m].height > -theta:
                m += 1
            else:
                break
        fall = -theta
        if n * (p.margin - theta) + p.up[n].before > C * A:
            theta, fall = level(p.up, p.n_up, p.margin, C * A), level(p.down, p.n_down, 0, C * A)
        for i in range(p.n_up):
            p.up[i].of.tau = max(p.margin + p.up[i].height - theta, 0) / A
        for i in range(p.n_down):
            p.down[i].of.tau = max(p.down[i].height - fall, 0) / A
        return True
