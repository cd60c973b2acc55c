"""Simultaneous projections onto the pairs of two rows of a trial, one to raise and one to lower.

A round has the sides of the pairs (see Ranking), and the direction of a pair is the difference of its rows. The pairs
are enumerated where they are needed, and are not stored as half-spaces of the round.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round
from onmargin._core.steps.simultaneous cimport Program, Scheme, choose_pivots, climb, price, set_free
from onmargin._core.steps.step cimport projection


cdef class RowPairScheme(Scheme):
    """A scheme for the pairs of a round; `margin` is that of the task."""

    cdef readonly double margin

    def __init__(self, double C, bint mistaken, double margin=1.0):
        super().__init__(C, mistaken)
        self.margin = margin

    def __reduce__(self):
        return type(self), (self.C, self.mistaken, self.margin)

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return 0

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(r.n_halfspaces):
            r.halfspaces[i].tau = 0
        return self.share_pairs(r, geometry, self.C * r.weight)

    cdef double share_pairs(self, Round* r, Geometry geometry, double C) noexcept nogil:
        """Add the step of each pair to tau of its two sides, and return the sum over the pairs of tau times loss."""
        return 0

    cdef bint pair(self, const Round* r, Py_ssize_t i, Py_ssize_t j, HalfSpace* h) noexcept nogil:
        """Return whether sides i and j form a violated pair (a mistaken one if required); its q is not set."""
        cdef Py_ssize_t up = r.halfspaces[i].up, down = r.halfspaces[j].down
        if up < 0 or down < 0:
            return False
        h[0] = r.halfspaces[i]
        h.down, h.tau = <int>down, 0
        h.loss, h.mistaken = self.margin - (r.s[up] - r.s[down]), r.s[up] <= r.s[down]
        return h.loss > 0 and (h.mistaken or not self.mistaken)


cdef bint has_direction(const Round* r, Geometry geometry, HalfSpace* h) noexcept nogil:
    """Compute the q of a half-space, and return whether it can be projected onto."""
    cdef Round one = r[0]
    one.halfspaces, one.n_halfspaces = h, 1
    geometry.curvatures(&one)
    return 1e-300 < h.q < INFINITY


cdef class LargestRowPair(RowPairScheme):
    """The passive-aggressive step onto the pair of largest loss, the first of equal ones: PA-I, or `squared` PA-II.

    With `search`, its length comes from a line search: MaxPA on the simplex.
    """

    cdef readonly bint squared, search

    def __init__(self, double C, bint squared=False, bint search=False, double margin=1.0):
        super().__init__(C, False, margin)
        self.squared = squared
        self.search = search

    def __reduce__(self):
        return type(self), (self.C, self.squared, self.search, self.margin)

    cdef double share_pairs(self, Round* r, Geometry geometry, double C) noexcept nogil:
        cdef Py_ssize_t i, j, up = -1, down = -1
        cdef HalfSpace h, worst
        cdef double damping = 1 / (2 * C) if self.squared else 0, tau
        worst.loss = 0
        for i in range(r.n_halfspaces):
            for j in range(r.n_halfspaces):
                if self.pair(r, i, j, &h) and h.loss > worst.loss and has_direction(r, geometry, &h):
                    up, down, worst = i, j, h
        if up < 0:
            return 0
        if self.search:
            tau = geometry.line_search(r, &worst, C)
        else:
            tau = projection(&worst, INFINITY if self.squared else C, damping)
        r.halfspaces[up].tau = r.halfspaces[down].tau = tau
        return tau * (worst.loss - tau * damping / 2)


cdef class EvenRowPairs(RowPairScheme):
    """Every pair by itself, evenly mixed: SimPerc (`fixed`) and ConProj on mistakes, SimProj on all (no bound).

    Each pair moves to the maximum of the dual along it: for plain weights min(C, loss / q).
    """

    cdef readonly bint fixed

    def __init__(self, double C, bint mistaken, bint fixed=False, double margin=1.0):
        super().__init__(C, mistaken, margin)
        self.fixed = fixed

    def __reduce__(self):
        return type(self), (self.C, self.mistaken, self.fixed, self.margin)

    cdef double share_pairs(self, Round* r, Geometry geometry, double C) noexcept nogil:
        cdef Py_ssize_t i, j, n = 0
        cdef HalfSpace h
        cdef double tau, gain = 0
        for i in range(r.n_halfspaces):
            for j in range(r.n_halfspaces):
                if self.pair(r, i, j, &h) and has_direction(r, geometry, &h):
                    tau = C if self.fixed else geometry.line_search(r, &h, C)
                    r.halfspaces[i].tau += tau
                    r.halfspaces[j].tau += tau
                    gain += tau * h.loss
                    n += 1
        for i in range(r.n_halfspaces):
            r.halfspaces[i].tau /= max(n, 1)
        return gain / max(n, 1)


cdef class SeparableRowPairs(RowPairScheme):
    """The dual without its cross terms: SimOpt (no mistake bound, E9) on all pairs, ConOpt on mistakes.

    tau = [loss - theta]_+ / q of each pair, as in Separable.
    """

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return n * n

    cdef double share_pairs(self, Round* r, Geometry geometry, double C) noexcept nogil:
        cdef Py_ssize_t i, j, n = r.n_halfspaces
        cdef HalfSpace h
        cdef double theta = 0, step, total, rates, tau, gain = 0
        for i in range(n):
            for j in range(n):
                r.work[i * n + j] = 0  # 1 / q of the pairs that take part, otherwise 0
                if self.pair(r, i, j, &h) and has_direction(r, geometry, &h):
                    r.work[i * n + j] = 1 / h.q
                    theta = max(theta, h.loss - C * h.q)  # the level if it were the only pair
        # Newton's method from the left, as in Separable.
        while True:
            total = rates = 0
            for i in range(n):
                for j in range(n):
                    if r.work[i * n + j] > 0 and self.pair(r, i, j, &h) and h.loss > theta:
                        total += (h.loss - theta) * r.work[i * n + j]
                        rates += r.work[i * n + j]
            step = (total - C) / rates if rates > 0 else 0
            if not step > 1e-15 * theta:  # also stops at NaN
                break
            theta += step
        for i in range(n):
            for j in range(n):
                if r.work[i * n + j] > 0 and self.pair(r, i, j, &h) and h.loss > theta:
                    tau = (h.loss - theta) * r.work[i * n + j]
                    r.halfspaces[i].tau += tau
                    r.halfspaces[j].tau += tau
                    gain += tau * h.loss
        return gain


cdef struct Columns:
    # The pairs in the quadratic program so far, by their sides, and quantities of all sides.
    Program program
    double* products        # inner products of the directions of all sides
    double* dead            # whether sides i, j form a pair of equal rows
    double* pull            # per side: the reduction of the gradient of its pairs by the taus so far
    Py_ssize_t* up          # the sides of each pair of the program
    Py_ssize_t* down
    double* G               # Gram matrix of the program
    Py_ssize_t n_sides


cdef class JointRowPairs(RowPairScheme):
    """max tau' loss - tau' G tau / 2 over the pairs, tau >= 0, sum tau <= C: the dual itself.

    By the active-set method of Joint, with column generation: when no pair in the program improves the dual, the pair
    that improves it most is added. The active pairs form no cycle, so there are fewer of them than sides.
    """

    def __init__(self, double C, double margin=1.0):
        super().__init__(C, False, margin)

    def __reduce__(self):
        return type(self), (self.C, self.margin)

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return 4 * n * n + n * (7 + sizeof(HalfSpace) // sizeof(double)) + 4

    cdef double share_pairs(self, Round* r, Geometry geometry, double C) noexcept nogil:
        cdef Py_ssize_t i, _round
        cdef double gain = 0
        cdef Columns c
        cdef Program* p = &c.program
        lay_out_columns(&c, r)
        geometry.gram(r, c.products)
        p.left[0], p.slack[0] = C, True
        for _round in range(100 + 40 * c.n_sides):
            choose_pivots(p)
            if not (climb(p) or set_free(p) or self.add_pair(&c, r, geometry)):
                break
        for i in range(p.n):
            r.halfspaces[c.up[i]].tau += p.h[i].tau
            r.halfspaces[c.down[i]].tau += p.h[i].tau
            gain += p.h[i].tau * p.h[i].loss
        return gain

    cdef bint add_pair(self, Columns* c, const Round* r, Geometry geometry) noexcept nogil:
        """Add the pair with the largest gain, the pivot giving way; return whether any pair gains."""
        cdef Py_ssize_t i, j, k, n = c.n_sides, up = -1, down = -1
        cdef Program* p = &c.program
        cdef HalfSpace h
        cdef double most, level
        drop_idle(c)
        if p.n == n:
            return False
        memset(c.pull, 0, n * sizeof(double))
        for k in range(p.n):
            for i in range(n):
                c.pull[i] += p.h[k].tau * (c.products[c.up[k] * n + i] + c.products[c.down[k] * n + i])
        choose_pivots(p)
        level = price(p, 0)
        while True:
            up, most = -1, level + 1e-12 * r.loss
            for i in range(n):
                for j in range(n):
                    if c.dead[i * n + j] == 0 and r.halfspaces[i].up >= 0 and r.halfspaces[j].down >= 0:
                        self.pair(r, i, j, &h)
                        h.loss -= c.pull[i] + c.pull[j]
                        if h.loss > most:
                            up, down, most = i, j, h.loss
            if up < 0:
                return False
            self.pair(r, up, down, &h)
            if has_direction(r, geometry, &h) and not is_known(c, up, down):
                break
            c.dead[up * n + down] = 1
        k, p.n = p.n, p.n + 1
        h.tau = h.part = 0
        c.up[k], c.down[k], p.h[k], p.free[k] = up, down, h, True
        find_products(c)
        p.gradient[k] = most
        return True


cdef void lay_out_columns(Columns* c, const Round* r) noexcept nogil:
    """Set the pointers into the scratch memory of a round."""
    cdef Py_ssize_t n = r.n_halfspaces
    cdef Program* p = &c.program
    cdef double* work = r.work
    c.n_sides, c.products, c.dead, c.G = n, work, work + n * n, work + 2 * n * n
    p.H = work + 3 * n * n
    p.h = <HalfSpace*>(p.H + n * n)
    c.pull = <double*>(p.h + n)
    p.gradient, p.d = c.pull + n, c.pull + 2 * n
    p.free, p.moving = <Py_ssize_t*>(p.d + n), <Py_ssize_t*>(p.d + 2 * n)
    c.up, c.down = p.moving + n, p.moving + 2 * n
    p.left = <double*>(c.down + n)
    p.given = p.left + 1
    p.slack, p.pivot = <Py_ssize_t*>(p.left + 2), <Py_ssize_t*>(p.left + 3)
    p.n, p.n_parts, p.G = 0, 1, c.G
    memset(c.dead, 0, n * n * sizeof(double))


cdef bint is_known(const Columns* c, Py_ssize_t up, Py_ssize_t down) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(c.program.n):
        if c.up[k] == up and c.down[k] == down:
            return True
    return False


cdef void drop_idle(Columns* c) noexcept nogil:
    """Remove the pairs that do not move."""
    cdef Program* p = &c.program
    cdef Py_ssize_t k, kept = 0
    for k in range(p.n):
        if p.free[k]:
            c.up[kept], c.down[kept], p.h[kept] = c.up[k], c.down[k], p.h[k]
            p.gradient[kept], p.free[kept] = p.gradient[k], True
            kept += 1
    p.n = kept
    find_products(c)


cdef void find_products(Columns* c) noexcept nogil:
    """Compute the inner products of the directions of the pairs, from those of their sides."""
    cdef Py_ssize_t i, j, n = c.n_sides, m = c.program.n
    for i in range(m):
        for j in range(m):
            c.G[i * m + j] = (
                c.products[c.up[i] * n + c.up[j]] + c.products[c.up[i] * n + c.down[j]]
                + c.products[c.down[i] * n + c.up[j]] + c.products[c.down[i] * n + c.down[j]]
            )
