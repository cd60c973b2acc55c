"""A step says how far to go along each violated half-space."""

from libc.math cimport INFINITY
from libc.string cimport memmove

from onmargin._core.geometry cimport Geometry
from onmargin._core.task cimport HalfSpace, Round


cdef class Step:
    """The interface.

    solve  fill in each tau, and answer sum_j tau_j loss_j, less what a damped step pays for its slack. That sum less
           half the squared length of the move is what the dual value gains. The example's weight scales C
    room   how many numbers of scratch a round of n half-spaces takes
    """

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        return 0

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return 0

    def __reduce__(self):
        return type(self), ()


cdef class Projection(Step):
    """The passive-aggressive step, for each half-space by itself ([JMLR] sec. 3); they must not share columns.

    The pair (cap, damping) is (inf, 0) for PA, (C, 0) for PA-I and (inf, 1 / (2 C)) for PA-II.
    """

    def __init__(self, double cap=INFINITY, double damping=0.0):
        self.cap = cap
        self.damping = damping

    def __reduce__(self):
        return type(self), (self.cap, self.damping)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* h
        cdef double damping = self.damping / r.weight, gain = 0
        geometry.curvatures(r)
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            h.tau = projection(h, self.cap * r.weight, damping)
            if h.tau > 0:
                gain += h.tau * (h.loss - h.tau * damping / 2)
        return gain


cdef class Reach(Projection):
    """Plain PA onto losses above `target`, as often as there are updates `left`: batch conversion ([NIPS], E5)."""

    def __init__(self, double target, Py_ssize_t left):
        super().__init__()
        self.target = target
        self.left = left

    def __reduce__(self):
        return type(self), (self.target, self.left)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef double gain = 0
        if r.loss > self.target and self.left > 0:
            gain = Projection.solve(self, r, geometry)
            self.left -= gain > 0
        return gain


cdef class Scheme(Step):
    """Simultaneous projections onto the half-spaces of a trial: sum_j tau_j <= C ([SIMPROJ]).

    With `mistaken` only those that make the prediction wrong take part. Each part of the trial, if it falls into
    several, has an equal share of C.
    """

    def __init__(self, double C, bint mistaken):
        self.C = C
        self.mistaken = mistaken

    def __reduce__(self):
        return type(self), (self.C, self.mistaken)

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, part, n, first
        cdef HalfSpace h
        cdef double gain = 0
        geometry.curvatures(r)
        self.select(r)
        if r.n_parts == 1:
            return self.share(r, geometry, r.halfspaces, r.n_halfspaces, self.C * r.weight) if r.n_halfspaces > 0 else 0
        n = 0
        for part in range(r.n_parts):
            first = n
            for i in range(first, r.n_halfspaces):  # those of this part come next, in their order
                if r.halfspaces[i].part == part:
                    h = r.halfspaces[i]
                    memmove(&r.halfspaces[n + 1], &r.halfspaces[n], (i - n) * sizeof(HalfSpace))
                    r.halfspaces[n] = h
                    n += 1
            if n > first:
                gain += self.share(r, geometry, r.halfspaces + first, n - first, self.C * r.weight / r.n_parts)
        return gain

    cdef void select(self, Round* r) noexcept nogil:
        """Keep the half-spaces that are violated and can be projected onto: 1 / q must have a number."""
        cdef Py_ssize_t i, n = 0
        cdef HalfSpace* h
        for i in range(r.n_halfspaces):
            h = &r.halfspaces[i]
            if h.loss > 0 and (h.mistaken or not self.mistaken) and 1e-300 < h.q < INFINITY:
                if n < i:
                    r.halfspaces[n] = h[0]
                n += 1
        r.n_halfspaces = n

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return 2 * n

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        """Fill in the taus of n half-spaces of the round, all violated, and answer sum_j tau_j loss_j."""
        return 0


cdef class Largest(Scheme):
    """The passive-aggressive step onto the half-space of largest loss, of equal ones the first ([SIMPROJ]: MaxPA).

    PA-I, or with `squared` PA-II.
    """

    def __init__(self, double C, bint squared=False):
        super().__init__(C, mistaken=False)
        self.squared = squared

    def __reduce__(self):
        return type(self), (self.C, self.squared)

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* worst = h
        cdef double damping = 1 / (2 * C) if self.squared else 0
        for i in range(n):
            h[i].tau = 0
            if h[i].loss > worst.loss:
                worst = &h[i]
        worst.tau = projection(worst, INFINITY if self.squared else C, damping)
        return worst.tau * (worst.loss - worst.tau * damping / 2)


cdef class Even(Scheme):
    """Each half-space by itself, evenly mixed: tau_j = min(C, loss_j / q) / n, or with `fixed` C / n.

    SimPerc is fixed on mistakes, ConProj on mistakes, SimProj on all that are violated ([SIMPROJ] sec. 5). SimProj has
    no mistake bound.
    """

    def __init__(self, double C, bint mistaken, bint fixed=False):
        super().__init__(C, mistaken)
        self.fixed = fixed

    def __reduce__(self):
        return type(self), (self.C, self.mistaken, self.fixed)

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double part = 1 / <double>n, gain = 0
        for i in range(n):
            h[i].tau = (C if self.fixed else min(C, h[i].loss / h[i].q)) * part
            gain += h[i].tau * h[i].loss
        return gain


cdef inline Py_ssize_t keep_above(double* loss, double* rate, Py_ssize_t n, double level) noexcept nogil:
    """Of n losses and their rates keep those above the level, in front; answer how many.

    Without branches, which could not be foreseen.
    """
    cdef Py_ssize_t i, kept = 0
    cdef double number
    for i in range(n):
        number = loss[i]
        loss[kept], rate[kept] = number, rate[i]
        kept += number > level
    return kept


cdef inline double excess(
    const double* loss, const double* rate, Py_ssize_t n, double level, double* rates
) noexcept nogil:
    """sum_j (loss_j - level) rate_j, and the sum of the rates."""
    cdef Py_ssize_t i
    cdef double total = 0
    rates[0] = 0
    for i in range(n):
        total += (loss[i] - level) * rate[i]
        rates[0] += rate[i]
    return total


cdef class Separable(Scheme):
    """max sum_j tau_j loss_j - tau_j^2 q_j / 2, tau >= 0, sum tau <= C: the dual without its cross terms.

    tau_j = [loss_j - theta]_+ / q_j with theta = 0, or so large that they sum to C. SimOpt on all that are violated,
    ConOpt on mistakes ([SIMPROJ] sec. 5.4). SimOpt has no mistake bound, whatever the paper says (E9); ConOpt has one
    for C < 2 / R^2.
    """

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i, above = n
        cdef double* loss = r.work
        cdef double* rate = r.work + n
        cdef double theta = 0, q = 0, inverse = 0, step, rates, gain = 0
        for i in range(n):
            if h[i].q != q:
                q, inverse = h[i].q, 1 / h[i].q
            h[i].tau = rate[i] = inverse
            loss[i] = h[i].loss
            theta = max(theta, h[i].loss - C * q)  # where it would end alone
        # Newton's method from the left on a sum that is convex and piecewise linear in theta: it ends on its piece.
        while True:
            above = keep_above(loss, rate, above, theta)
            step = (excess(loss, rate, above, theta, &rates) - C) / rates if above > 0 else 0
            if not step > 1e-15 * theta:  # nor where it has no number
                break
            theta += step
        for i in range(n):
            h[i].tau *= max(h[i].loss - theta, 0)
            gain += h[i].tau * h[i].loss
        return gain


cdef class Sopopo(Scheme):
    """min |W' - W|^2 / 2 + C xi, the right prototype beating each rival by the margin less xi: the dual itself.

    Rival r moves by [loss_r - rho]_+ / A with A = |x|^2, and the right one by their sum, which must be min(rho / A, C).
    """

    def __init__(self, double C):
        super().__init__(C, mistaken=False)

    def __reduce__(self):
        return type(self), (self.C,)

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i, above = n
        cdef double* loss = r.work
        cdef double* rate = r.work + n
        cdef double A = h.q / 2, inverse = 1 / A, largest = 0, rho, step, total, gain = 0
        if n == 1:
            h.tau = projection(h, C, 0)
            return h.tau * h.loss
        for i in range(n):
            loss[i], rate[i] = h[i].loss, 1
            largest = max(largest, h[i].loss)
        rho = max(min(largest / 2, C * A), largest - C * A)  # where the largest alone would end
        # Newton's method from the left, on a sum that is convex and piecewise linear in rho up to C A and again beyond.
        while True:
            above = keep_above(loss, rate, above, rho)
            total = excess(loss, rate, above, rho, &step)
            step = (total - rho) / (above + 1) if rho < C * A else (total - C * A) / above if above > 0 else 0
            if rho < C * A < rho + step:
                step = C * A - rho
            if not step > 1e-15 * rho:
                break
            rho += step
        for i in range(n):
            h[i].tau = max(h[i].loss - rho, 0) * inverse
            gain += h[i].tau * h[i].loss
        return gain
