"""Simultaneous projections onto the half-spaces of a trial ([SIMPROJ])."""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memmove, memset

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport HalfSpace, Round, capped, price_of
from onmargin._core.steps.step cimport Step, projection


cdef class Scheme(Step):
    """Simultaneous projections onto the half-spaces of a trial: sum_j nu_j tau_j <= C, nu_j its price or 1 ([SIMPROJ]).

    With `mistaken`, only those that make the prediction wrong take part. Each part of the trial, if it has
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
            for i in range(first, r.n_halfspaces):  # gather the half-spaces of this part, in their order
                if r.halfspaces[i].part == part:
                    h = r.halfspaces[i]
                    memmove(&r.halfspaces[n + 1], &r.halfspaces[n], (i - n) * sizeof(HalfSpace))
                    r.halfspaces[n] = h
                    n += 1
            if n > first:
                gain += self.share(r, geometry, r.halfspaces + first, n - first, self.C * r.weight / r.n_parts)
        return gain

    cdef void select(self, Round* r) noexcept nogil:
        """Keep the half-spaces that are violated and can be projected onto: 1 / q must be finite."""
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
        """Set the taus of n half-spaces of the round, all violated, and return sum_j tau_j loss_j."""
        return 0


cdef class Largest(Scheme):
    """The passive-aggressive step onto the half-space of largest loss, the first of equal ones ([SIMPROJ]: MaxPA).

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
        worst.tau = projection(worst, INFINITY if self.squared else capped(r, worst, C), damping)
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
        cdef double part = 1 / <double>n, gain = 0, cap
        for i in range(n):
            cap = capped(r, &h[i], C)
            h[i].tau = (cap if self.fixed else min(cap, h[i].loss / h[i].q)) * part
            gain += h[i].tau * h[i].loss
        return gain


cdef inline Py_ssize_t keep_above(double* loss, double* rate, Py_ssize_t n, double level) noexcept nogil:
    """Move the losses above the level and their rates to the front; return their number.

    Without branches, which could not be predicted.
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
    """Return sum_j (loss_j - level) rate_j, and set the sum of the rates."""
    cdef Py_ssize_t i
    cdef double total = 0
    rates[0] = 0
    for i in range(n):
        total += (loss[i] - level) * rate[i]
        rates[0] += rate[i]
    return total


cdef class Separable(Scheme):
    """max sum_j tau_j loss_j - tau_j^2 q_j / 2, tau >= 0, sum nu_j tau_j <= C: the dual without its cross terms.

    tau_j = [loss_j - theta nu_j]_+ / q_j with theta = 0, or so large that nu_j tau_j sum to C. In units of nu_j tau_j
    losses are loss_j / nu_j and lengths q_j / nu_j^2; half-spaces of price 0 are projected onto separately. SimOpt on
    all that are violated, ConOpt on mistakes ([SIMPROJ] sec. 5.4). SimOpt has no mistake bound, contrary to the paper
    (E9); ConOpt has one for C < 2 / R^2.
    """

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i, above = 0
        cdef double* loss = r.work
        cdef double* rate = r.work + n
        cdef double theta = 0, q = 0, inverse = 0, step, rates, gain = 0, nu
        for i in range(n):
            if h[i].q != q:
                q, inverse = h[i].q, 1 / h[i].q
            nu = price_of(r, &h[i])
            h[i].tau = inverse
            if nu > 0:
                loss[above], rate[above] = h[i].loss / nu, nu * nu * inverse
                theta = max(theta, loss[above] - C * (q / (nu * nu)))  # the level if it were the only one
                above += 1
        # Newton's method from the left on a sum that is convex and piecewise linear in theta: it ends on its piece.
        while True:
            above = keep_above(loss, rate, above, theta)
            step = (excess(loss, rate, above, theta, &rates) - C) / rates if above > 0 else 0
            if not step > 1e-15 * theta:  # also stops at NaN
                break
            theta += step
        for i in range(n):
            h[i].tau *= max(h[i].loss - theta * price_of(r, &h[i]), 0)
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
        rho = max(min(largest / 2, C * A), largest - C * A)  # the level if the largest were the only one
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


cdef class LargestLineSearch(Scheme):
    """alpha_j = argmax_{0 <= a <= C} of the dual along the half-space of largest loss ([SIMPROJ] sec. 8: MaxPA.M).

    The first of equal losses is taken. For plain weights it equals `Largest`.
    """

    def __init__(self, double C):
        super().__init__(C, mistaken=False)

    def __reduce__(self):
        return type(self), (self.C,)

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef HalfSpace* worst = h
        for i in range(n):
            h[i].tau = 0
            if h[i].loss > worst.loss:
                worst = &h[i]
        worst.tau = geometry.line_search(r, worst, capped(r, worst, C))
        return worst.tau * worst.loss


cdef class EvenLineSearch(Scheme):
    """tau_j = alpha_j / n, each alpha_j = argmax_{0 <= a <= C} of the dual along its half-space alone.

    ConProj.M on mistakes, SimProj.M on all that are violated ([SIMPROJ] sec. 8). For plain weights it is `Even`.
    """

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double part = 1 / <double>n, gain = 0
        for i in range(n):
            h[i].tau = geometry.line_search(r, &h[i], capped(r, &h[i], C)) * part
            gain += h[i].tau * h[i].loss
        return gain


cdef class SeparableLineSearch(Scheme):
    """max sum_j h_j(tau_j), tau >= 0, sum nu_j tau_j <= C, h_j the dual along half-space j alone ([SIMPROJ] sec. 5.4).

    SimOpt.M. The h_j are concave, so that with the multiplier theta of the constraint, tau_j is the step for the loss
    loss_j - theta nu_j; theta is 0, or found by bisection where the sum is C. For plain weights it is `Separable`.
    Like SimOpt, it ignores cross terms and has no mistake bound.
    """

    cdef double share(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C
    ) noexcept nogil:
        cdef Py_ssize_t i
        cdef double low = 0, high = 0, theta, gain = 0
        if self.steps(r, geometry, h, n, C, 0) > C:
            for i in range(n):
                if price_of(r, &h[i]) > 0:
                    high = max(high, h[i].loss / price_of(r, &h[i]))
            while high - low > 1e-14 * high:
                theta = low + (high - low) / 2
                if not low < theta < high:  # there is no double between them
                    break
                if self.steps(r, geometry, h, n, C, theta) > C:
                    low = theta
                else:
                    high = theta
            self.steps(r, geometry, h, n, C, high)
        for i in range(n):
            gain += h[i].tau * h[i].loss
        return gain

    cdef double steps(
        self, const Round* r, Geometry geometry, HalfSpace* h, Py_ssize_t n, double C, double theta
    ) noexcept nogil:
        """Set the steps for a multiplier; return sum_j nu_j tau_j."""
        cdef Py_ssize_t i
        cdef double total = 0, nu
        cdef HalfSpace eased
        for i in range(n):
            nu = price_of(r, &h[i])
            eased = h[i]
            eased.loss -= theta * nu
            h[i].tau = geometry.line_search(r, &eased, capped(r, &h[i], C)) if eased.loss > 0 else 0
            total += nu * h[i].tau
        return total


cdef class Joint(Scheme):
    """max tau' loss - tau' G tau / 2, tau >= 0, each part's sum <= its share of C: the dual itself ([SIMPROJ] sec. 2).

    G holds the inner products of the directions. With prices nu_j, tau is in units of nu_j tau_j, and half-spaces of
    price 0 form an unlimited part. An active-set method: the free taus move to the maximum on their plane,
    or until the first of them reaches its bound, which is then no longer free; at the maximum the tau that gains most
    becomes free, until none gains.
    """

    def __init__(self, double C):
        super().__init__(C, mistaken=False)

    def __reduce__(self):
        return type(self), (self.C,)

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return 2 * n * n + 8 * n + 4

    cdef void select(self, Round* r) noexcept nogil:
        """Keep satisfied half-spaces: the others may move the weights out of them."""
        cdef Py_ssize_t i, n = 0
        for i in range(r.n_halfspaces):
            if 1e-300 < r.halfspaces[i].q < INFINITY:
                r.halfspaces[n] = r.halfspaces[i]
                n += 1
        r.n_halfspaces = n

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, _round
        cdef double gain = 0
        cdef Program p
        geometry.curvatures(r)
        self.select(r)
        lay_out(&p, r)
        geometry.gram(r, r.work)
        for i in range(p.n_parts):
            p.left[i] = self.C * r.weight / r.n_parts if i < r.n_parts else INFINITY
            p.slack[i] = True
        if r.prices != NULL:
            in_units_of_prices(&p, r)
        for i in range(p.n):
            p.h[i].tau = 0
            p.gradient[i] = p.h[i].loss
            p.free[i] = False
        for _round in range(100 + 20 * p.n):
            choose_pivots(&p)
            if not (climb(&p) or set_free(&p)):
                break
        for i in range(p.n):
            gain += p.h[i].tau * p.h[i].loss
            if r.prices != NULL:
                p.h[i].tau /= unit(r, &p.h[i])
                p.h[i].q *= unit(r, &p.h[i]) * unit(r, &p.h[i])  # used by a move along a single row
        return gain


cdef inline double unit(const Round* r, const HalfSpace* h) noexcept nogil:
    """Return the price of a half-space, or 1 if it has none."""
    cdef double price = price_of(r, h)
    return price if price > 0 else 1


cdef void in_units_of_prices(Program* p, const Round* r) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(p.n):
        if price_of(r, &p.h[i]) == 0:
            p.h[i].part = <int>r.n_parts
        p.h[i].loss /= unit(r, &p.h[i])
        p.h[i].q /= unit(r, &p.h[i]) * unit(r, &p.h[i])
        for j in range(p.n):
            (<double*>p.G)[i * p.n + j] /= unit(r, &p.h[i]) * unit(r, &p.h[j])


cdef void lay_out(Program* p, const Round* r) noexcept nogil:
    """Set the pointers into the scratch memory of a round; there are at most as many parts as half-spaces, and one more
    for those without a price."""
    cdef Py_ssize_t n = r.n_halfspaces, parts = r.n_parts + (r.prices != NULL)
    cdef double* work = r.work
    p.h, p.n, p.n_parts, p.G = r.halfspaces, n, parts, work
    p.H = work + n * n
    p.gradient = p.H + n * n
    p.d = p.gradient + n
    p.free = <Py_ssize_t*>(p.d + n)
    p.moving = p.free + n
    p.left = <double*>(p.moving + n)
    p.given = p.left + parts
    p.slack = <Py_ssize_t*>(p.given + parts)
    p.pivot = p.slack + parts


cdef void choose_pivots(Program* p) noexcept nogil:
    """Return the unused share of a part if it is free, otherwise its largest tau."""
    cdef Py_ssize_t i, part
    for part in range(p.n_parts):
        p.pivot[part] = -1
    for i in range(p.n):
        part = p.h[i].part
        if not p.slack[part] and p.free[i] and (p.pivot[part] < 0 or p.h[i].tau > p.h[p.pivot[part]].tau):
            p.pivot[part] = i
    p.n_moving = 0
    for i in range(p.n):
        if p.free[i] and p.pivot[p.h[i].part] != i:
            p.moving[p.n_moving] = i
            p.n_moving += 1


cdef double price(const Program* p, Py_ssize_t part) noexcept nogil:
    """Return the gradient of the pivot."""
    return p.gradient[p.pivot[part]] if p.pivot[part] >= 0 else 0


cdef inline double bend(const Program* p, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Return the second derivative when tau_i and tau_j grow and their pivots give way."""
    cdef Py_ssize_t n = p.n, a = p.pivot[p.h[i].part], b = p.pivot[p.h[j].part]
    cdef double both = p.G[i * n + j]
    if a >= 0:
        both -= p.G[a * n + j]
    if b >= 0:
        both -= p.G[i * n + b]
    if a >= 0 and b >= 0:
        both += p.G[a * n + b]
    return both


cdef bint climb(Program* p) noexcept nogil:
    """Move to the maximum on the plane of the free taus, or to the first bound; return whether a bound was reached."""
    cdef Py_ssize_t i, j, k, part, m = p.n_moving, stopped = -1, stopped_part = -1
    cdef double length = 1
    if m == 0:
        return False
    for k in range(m):
        i = p.moving[k]
        for j in range(k + 1):
            p.H[k * m + j] = bend(p, i, p.moving[j])
        p.d[k] = p.gradient[i] - price(p, p.h[i].part)
    solve_in_place(p.H, p.d, m)
    memset(p.given, 0, p.n_parts * sizeof(double))
    for k in range(m):
        i = p.moving[k]
        p.given[p.h[i].part] -= p.d[k]
        if p.d[k] < 0 and p.h[i].tau < -p.d[k] * length:
            length, stopped = p.h[i].tau / -p.d[k], i
    for part in range(p.n_parts):
        i = p.pivot[part]
        if p.given[part] < 0 and (p.h[i].tau if i >= 0 else p.left[part]) < -p.given[part] * length:
            length = (p.h[i].tau if i >= 0 else p.left[part]) / -p.given[part]
            stopped, stopped_part = i, part
    for k in range(m):
        p.h[p.moving[k]].tau += length * p.d[k]
    for part in range(p.n_parts):
        if p.pivot[part] >= 0:
            p.h[p.pivot[part]].tau += length * p.given[part]
        else:
            p.left[part] += length * p.given[part]
    if stopped >= 0:
        p.h[stopped].tau, p.free[stopped] = 0, False
    elif stopped_part >= 0:
        p.left[stopped_part], p.slack[stopped_part] = 0, False
    find_gradient(p)
    return length < 1


cdef void find_gradient(Program* p) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(p.n):
        p.gradient[i] = p.h[i].loss
    for j in range(p.n):
        if p.h[j].tau != 0:
            for i in range(p.n):
                p.gradient[i] -= p.h[j].tau * p.G[j * p.n + i]


cdef bint set_free(Program* p) noexcept nogil:
    """Free the tau with the largest gain; return whether any gain exceeds rounding errors."""
    cdef Py_ssize_t i, part, best = -1, best_part = -1
    cdef double size = 0, loss = 0, most
    for i in range(p.n):
        size += p.h[i].tau * p.h[i].q
        loss = max(loss, fabs(p.h[i].loss))
    most = 1e-12 * loss + 1e-14 * size
    for i in range(p.n):
        if not p.free[i] and p.gradient[i] - price(p, p.h[i].part) > most:
            best, most = i, p.gradient[i] - price(p, p.h[i].part)
    for part in range(p.n_parts):
        if not p.slack[part] and -price(p, part) > most:
            best_part, most = part, -price(p, part)
    if best_part >= 0:
        p.slack[best_part] = True
    elif best >= 0:
        p.free[best] = True
    return best >= 0 or best_part >= 0


cdef void solve_in_place(double* H, double* d, Py_ssize_t m) noexcept nogil:
    """d <- H^-1 d by a Cholesky factorization, given the lower half of H; where H is singular, d is long."""
    cdef Py_ssize_t i, j, k
    cdef double rest
    for j in range(m):
        for i in range(j, m):
            rest = H[i * m + j]
            for k in range(j):
                rest -= H[i * m + k] * H[j * m + k]
            if i == j:
                H[j * m + j] = sqrt(max(rest, 1e-14 * H[j * m + j], 1e-300))
            else:
                H[i * m + j] = rest / H[j * m + j]
    for i in range(m):
        for k in range(i):
            d[i] -= H[i * m + k] * d[k]
        d[i] /= H[i * m + i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            d[i] -= H[k * m + i] * d[k]
        d[i] /= H[i * m + i]
