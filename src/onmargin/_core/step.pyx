"""A step says how far to go along each violated half-space."""

from libc.math cimport INFINITY

from onmargin._core.geometry cimport Geometry
from onmargin._core.row cimport Row
from onmargin._core.task cimport HalfSpace, Round


cdef class Step:
    """The interface: fill in each tau, and answer sum_j tau_j loss_j, less what a damped step pays for its slack.

    That sum less half the squared length of the move is what the dual value gains. The example's weight scales C.
    """

    cdef double solve(self, Round* r, const Row* x, Geometry geometry, double weight) noexcept nogil:
        return 0


cdef inline double projection(const HalfSpace* h, double q, double cap, double damping) noexcept nogil:
    """tau = min(cap, loss / (q + damping)), the maximiser of tau loss - tau^2 (q + damping) / 2 over 0 <= tau <= cap.

    A zero row, or one whose squares have no number, cannot be projected onto anything: 0.
    """
    cdef double tau = min(cap, h.loss / (q + damping)) if 0 < q < INFINITY else 0
    return tau if tau < INFINITY else 0


cdef class Projection(Step):
    """The passive-aggressive step, for each half-space by itself ([JMLR] sec. 3); they must not share columns.

    The pair (cap, damping) is (inf, 0) for PA, (C, 0) for PA-I and (inf, 1 / (2 C)) for PA-II.
    """

    cdef readonly double cap, damping

    def __init__(self, double cap=INFINITY, double damping=0.0):
        self.cap = cap
        self.damping = damping

    def __reduce__(self):
        return type(self), (self.cap, self.damping)

    cdef double solve(self, Round* r, const Row* x, Geometry geometry, double weight) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef double damping = self.damping / weight, gain = 0
        for i in range(r.n_violated):
            h = &r.violated[i]
            h.tau = projection(h, geometry.curvature(x, h), self.cap * weight, damping)
            if h.tau > 0:
                gain += h.tau * (h.loss - h.tau * damping / 2)
        return gain


cdef inline Py_ssize_t keep_above(HalfSpace* h, Py_ssize_t n, double level, double* total) noexcept nogil:
    """Of the first n numbers kept in the taus, keep those above the level, in front; answer how many and their total.

    Without branches, which could not be foreseen.
    """
    cdef Py_ssize_t i, kept = 0
    cdef double number
    for i in range(n):
        number = h[i].tau
        h[kept].tau = number
        kept += number > level
    total[0] = 0
    for i in range(kept):
        total[0] += h[i].tau
    return kept


cdef class Scheme(Step):
    """Simultaneous projections onto the half-spaces of one row, all of one length: sum_j tau_j <= C ([SIMPROJ]).

    With `mistaken` only those that make the prediction wrong take part.
    """

    cdef readonly double C
    cdef readonly bint mistaken

    def __init__(self, double C, bint mistaken):
        self.C = C
        self.mistaken = mistaken

    def __reduce__(self):
        return type(self), (self.C, self.mistaken)

    cdef inline bint takes(self, const HalfSpace* h) noexcept nogil:
        return h.mistaken or not self.mistaken

    cdef double solve(self, Round* r, const Row* x, Geometry geometry, double weight) noexcept nogil:
        cdef double q = geometry.curvature(x, r.violated)
        return self.share(r, q, self.C * weight) if 0 < q < INFINITY and 1 / q < INFINITY else 0

    cdef double share(self, Round* r, double q, double C) noexcept nogil:
        """Fill in each tau and answer sum_j tau_j loss_j."""
        return 0


cdef class Even(Scheme):
    """Each half-space by itself, evenly mixed: tau_j = min(C, loss_j / q) / n, or with `fixed` C / n.

    SimPerc is fixed on mistakes, ConProj on mistakes, SimProj on all that are violated ([SIMPROJ] sec. 5). SimProj has
    no mistake bound.
    """

    cdef readonly bint fixed

    def __init__(self, double C, bint mistaken, bint fixed=False):
        super().__init__(C, mistaken)
        self.fixed = fixed

    def __reduce__(self):
        return type(self), (self.C, self.mistaken, self.fixed)

    cdef double share(self, Round* r, double q, double C) noexcept nogil:
        cdef Py_ssize_t i, n = 0
        cdef HalfSpace* h
        cdef double rate = 1 / q, part, gain = 0
        for i in range(r.n_violated):
            n += self.takes(&r.violated[i])
        if n == 0:
            return 0
        part = 1 / <double>n
        for i in range(r.n_violated):
            h = &r.violated[i]
            h.tau = (C if self.fixed else min(C, h.loss * rate)) * part if self.takes(h) else 0
            gain += h.tau * h.loss
        return gain


cdef class Separable(Scheme):
    """max sum_j tau_j loss_j - tau_j^2 q / 2, tau >= 0, sum tau <= C: the dual without its cross terms.

    SimOpt on all that are violated, ConOpt on mistakes ([SIMPROJ] sec. 5.4). SimOpt has no mistake bound, whatever the
    paper says (E9); ConOpt has. tau_j = [loss_j - theta]_+ / q with theta = 0, or so large that they sum to C.
    """

    cdef double share(self, Round* r, double q, double C) noexcept nogil:
        cdef Py_ssize_t i, n = r.n_violated
        cdef HalfSpace* h
        cdef double theta = max(r.loss - C * q, 0), rate = 1 / q, step, total, gain = 0
        for i in range(n):
            h = &r.violated[i]
            h.tau = h.loss if self.takes(h) else -1
        # Newton's method from the left on a sum that is convex and piecewise linear in theta: it ends on its piece. It
        # starts where the largest loss alone would end.
        while True:
            n = keep_above(r.violated, n, theta, &total)
            step = (total - n * theta - C * q) / n if n > 0 else 0
            if step <= 1e-15 * theta:
                break
            theta += step
        for i in range(r.n_violated):
            h = &r.violated[i]
            h.tau = (h.loss - theta) * rate if h.loss > theta and self.takes(h) else 0
            gain += h.tau * h.loss
        return gain


cdef class Exact(Scheme):
    """min |W' - W|^2 / 2 + C xi, the right prototype beating each rival by the margin less xi: Sopopo.

    Rival r moves by [loss_r - rho]_+ / A with A = |x|^2, and the right one by their sum, which must be min(rho / A, C).
    """

    def __init__(self, double C):
        super().__init__(C, mistaken=False)

    def __reduce__(self):
        return type(self), (self.C,)

    cdef double share(self, Round* r, double q, double C) noexcept nogil:
        cdef Py_ssize_t i, n = r.n_violated
        cdef HalfSpace* h = r.violated
        cdef double A = q / 2, rho = max(min(r.loss / 2, C * A), r.loss - C * A)
        cdef double rate = 1 / A, step, total, gain = 0
        if r.n_violated == 1:
            h.tau = projection(h, q, C, 0)
            return h.tau * h.loss
        # Newton's method from the left, on a sum that is convex and piecewise linear in rho up to C A and again beyond;
        # from where the largest loss alone would end.
        for i in range(n):
            h[i].tau = h[i].loss
        while True:
            n = keep_above(h, n, rho, &total)
            total -= n * rho
            step = (total - rho) / (n + 1) if rho < C * A else (total - C * A) / n if n > 0 else 0
            if rho < C * A < rho + step:
                step = C * A - rho
            if step <= 1e-15 * rho:
                break
            rho += step
        for i in range(r.n_violated):
            h = &r.violated[i]
            h.tau = max(h.loss - rho, 0) * rate
            gain += h.tau * h.loss
        return gain
