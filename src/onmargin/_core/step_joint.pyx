"""The exact step onto all half-spaces of a trial at once: a small quadratic programme."""

from libc.math cimport INFINITY

from onmargin._core.geometry cimport Geometry
from onmargin._core.step cimport Scheme
from onmargin._core.task cimport HalfSpace, Round


cdef double ACCURACY = 1e-11  # of the gradients, relative to the loss of the round
cdef Py_ssize_t MOST_MOVES = 100_000


cdef class Joint(Scheme):
    """max tau' loss - tau' G tau / 2, tau >= 0, each part's sum <= its share of C: the dual itself ([SIMPROJ] sec. 2).

    G holds the inner products of the directions. What is left of a part's share of C is one more variable, which gains
    nothing. The pair of one part that gains most by an exchange makes it, as far as it pays, until no exchange does.
    """

    def __init__(self, double C):
        super().__init__(C, mistaken=False)

    def __reduce__(self):
        return type(self), (self.C,)

    cdef Py_ssize_t room(self, Py_ssize_t n) noexcept:
        return n * n + 2 * n

    cdef void select(self, Round* r) noexcept nogil:
        """Half-spaces that are met stay: the others may move the weights out of them."""
        cdef Py_ssize_t i, n = 0
        for i in range(r.n_halfspaces):
            if 1e-300 < r.halfspaces[i].q < INFINITY:
                r.halfspaces[n] = r.halfspaces[i]
                n += 1
        r.n_halfspaces = n

    cdef double solve(self, Round* r, Geometry geometry) noexcept nogil:
        cdef Py_ssize_t i, up, down, part, _move, n
        cdef HalfSpace* h = r.halfspaces
        cdef double gain = 0
        geometry.curvatures(r)
        self.select(r)
        n = r.n_halfspaces
        cdef double* G = r.work
        cdef double* gradient = G + n * n
        cdef double* left = gradient + n
        geometry.gram(r, G)
        for i in range(n):
            h[i].tau = 0
            gradient[i] = h[i].loss
        for part in range(r.n_parts):
            left[part] = self.C * r.weight / r.n_parts
        for _move in range(MOST_MOVES):
            part = find_exchange(h, n, r.n_parts, G, gradient, left, ACCURACY * r.loss, &up, &down)
            if part < 0:
                break
            exchange(h, n, G, gradient, &left[part], up, down)
        for i in range(n):
            gain += h[i].tau * h[i].loss
        return gain


cdef Py_ssize_t find_exchange(
    const HalfSpace* h, Py_ssize_t n, Py_ssize_t n_parts, const double* G, const double* gradient, const double* left,
    double least, Py_ssize_t* up, Py_ssize_t* down,
) noexcept nogil:
    """The part in which tau_up should grow by what tau_down loses; -1: none. The rest of the part's share is number -1.

    up has the steepest gradient, and down is what gains most in exchange with it.
    """
    cdef Py_ssize_t i, part, best_part = -1, steepest, partner
    cdef double slope, gain, most, best = 0
    for part in range(n_parts):
        steepest, slope = -1, 0
        for i in range(n):
            if h[i].part == part and gradient[i] > slope:
                steepest, slope = i, gradient[i]
        partner, most = -2, 0
        if left[part] > 0 and slope > least:
            partner, most = -1, slope * slope / h[steepest].q
        for i in range(n):
            if h[i].part == part and h[i].tau > 0 and slope - gradient[i] > least:
                gain = (slope - gradient[i]) ** 2 / max(bend(h, n, G, steepest, i), 1e-300)
                if gain > most:
                    partner, most = i, gain
        if most > best:
            best_part, best, up[0], down[0] = part, most, steepest, partner
    return best_part


cdef inline double bend(
    const HalfSpace* h, Py_ssize_t n, const double* G, Py_ssize_t up, Py_ssize_t down
) noexcept nogil:
    """The squared length of the difference of two directions; -1 is the direction zero."""
    if up < 0:
        return h[down].q
    if down < 0:
        return h[up].q
    return h[up].q + h[down].q - 2 * G[up * n + down]


cdef void exchange(
    HalfSpace* h, Py_ssize_t n, const double* G, double* gradient, double* left, Py_ssize_t up, Py_ssize_t down
) noexcept nogil:
    cdef Py_ssize_t i
    cdef double slope = (gradient[up] if up >= 0 else 0) - (gradient[down] if down >= 0 else 0)
    cdef double step = min(h[down].tau if down >= 0 else left[0], slope / max(bend(h, n, G, up, down), 1e-300))
    if up >= 0:
        h[up].tau += step
    else:
        left[0] += step
    if down >= 0:
        h[down].tau -= step
    else:
        left[0] -= step
    for i in range(n):
        if up >= 0:
            gradient[i] -= step * G[up * n + i]
        if down >= 0:
            gradient[i] += step * G[down * n + i]
