"""The exact step onto all half-spaces of a trial at once: a small quadratic programme."""

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memset

from onmargin._core.geometry cimport Geometry
from onmargin._core.step cimport Scheme
from onmargin._core.task cimport HalfSpace, Round


cdef struct Programme:
    # max tau' loss - tau' G tau / 2 over tau >= 0, sum of tau in each part <= its share.
    HalfSpace* h            # tau and loss
    Py_ssize_t n
    Py_ssize_t n_parts
    const double* G
    double* gradient        # loss - G tau
    double* left            # of each part's share
    Py_ssize_t* free        # of each tau: whether it may move; the others are zero
    Py_ssize_t* slack       # of each part: whether the rest of its share may move; if not, it is zero
    Py_ssize_t* pivot       # of each part: what gives what the others of the part take; -1: the rest
    Py_ssize_t* moving      # the free taus but for the pivots
    Py_ssize_t n_moving
    double* H               # the second derivatives of moving taus, then their Cholesky factor
    double* d               # of moving taus: how far to go
    double* given           # of each part: how far its pivot goes


cdef class Joint(Scheme):
    """max tau' loss - tau' G tau / 2, tau >= 0, each part's sum <= its share of C: the dual itself ([SIMPROJ] sec. 2).

    G holds the inner products of the directions. An active-set method: the free taus go to the maximum on their plane,
    or as far as the first of them allows, which is no longer free then; at the maximum the tau that gains most becomes
    free, until none gains.
    """

    def __init__(self, double C):
        super().__init__(C, mistaken=False)

    def __reduce__(self):
        return type(self), (self.C,)

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return 2 * n * n + 8 * n

    cdef void select(self, Round* r) noexcept nogil:
        """Half-spaces that are met stay: the others may move the weights out of them."""
        cdef Py_ssize_t i, n = 0
        for i in range(r.n_halfspaces):
            if 1e-300 < r.halfspaces[i].q < INFINITY:
                r.halfspaces[n] = r.halfspaces[i]
                n += 1
        r.n_halfspaces = n

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, _round
        cdef double gain = 0
        cdef Programme p
        geometry.curvatures(r)
        self.select(r)
        lay_out(&p, r)
        geometry.gram(r, r.work)
        for i in range(p.n):
            p.h[i].tau = 0
            p.gradient[i] = p.h[i].loss
            p.free[i] = False
        for i in range(p.n_parts):
            p.left[i] = self.C * r.weight / p.n_parts
            p.slack[i] = True
        for _round in range(100 + 20 * p.n):
            choose_pivots(&p)
            if not (climb(&p) or set_free(&p)):
                break
        for i in range(p.n):
            gain += p.h[i].tau * p.h[i].loss
        return gain


cdef void lay_out(Programme* p, const Round* r) noexcept nogil:
    """Where everything stands in the scratch of a round; there are at most as many parts as half-spaces."""
    cdef Py_ssize_t n = r.n_halfspaces, parts = r.n_parts
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


cdef void choose_pivots(Programme* p) noexcept nogil:
    """The rest of a part's share if it is free, otherwise its largest tau."""
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


cdef inline double price(const Programme* p, Py_ssize_t part) noexcept nogil:
    """What the pivot loses where it gives."""
    return p.gradient[p.pivot[part]] if p.pivot[part] >= 0 else 0


cdef inline double bend(const Programme* p, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """The second derivative where tau_i and tau_j grow and their pivots give."""
    cdef Py_ssize_t n = p.n, a = p.pivot[p.h[i].part], b = p.pivot[p.h[j].part]
    cdef double both = p.G[i * n + j]
    if a >= 0:
        both -= p.G[a * n + j]
    if b >= 0:
        both -= p.G[i * n + b]
    if a >= 0 and b >= 0:
        both += p.G[a * n + b]
    return both


cdef bint climb(Programme* p) noexcept nogil:
    """Go to the maximum on the plane of the free taus, or as far as they allow; answer whether one of them did not."""
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


cdef void find_gradient(Programme* p) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(p.n):
        p.gradient[i] = p.h[i].loss
    for j in range(p.n):
        if p.h[j].tau != 0:
            for i in range(p.n):
                p.gradient[i] -= p.h[j].tau * p.G[j * p.n + i]


cdef bint set_free(Programme* p) noexcept nogil:
    """Free what gains most where its pivot gives; answer whether anything gains more than rounding can feign."""
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
    """d <- H^-1 d by Cholesky's method, H's lower half given; where H is flat, d is long."""
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
