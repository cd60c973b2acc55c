"""Additive geometries by their link: entropic, balanced entropic and p-norm ([PD] sec. 4; [NIPS]; [SIMPROJ])."""

from libc.math cimport INFINITY, exp, fabs, frexp, ldexp, log, pow, sinh, sqrt

from onmargin._core.geometry_additive cimport Additive, extremes
from onmargin._core.geometry_search cimport Searching
from onmargin._core.row cimport Row
from onmargin._core.task cimport HalfSpace, Round


cdef class Entropic(Searching):
    """Weights on the simplex, w_i = exp(theta_i) / sum_j exp(theta_j): G = ln(sum exp(theta) / n).

    The level is a theta itself: f(theta) = exp(theta - level).
    """

    cdef void bend(self, const double* theta, double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            slope[i] = exp(theta[i] - level)

    cdef double lift(self, const double* theta, const double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(n):
            total += slope[i]
        return total

    cdef double factor(self, double S, double level) noexcept nogil:
        return 1 / S if S > 0 else 0

    cdef double potential(self, double S, double level) noexcept nogil:
        return log(S) + level

    cdef double size(self, double low, double high) noexcept nogil:
        return high

    cdef double level_for(self, double size) noexcept nogil:
        return size

    cdef double converted(self, double S, double level, double new_level) noexcept nogil:
        return S * exp(level - new_level) if S != 0 and level != new_level else S

    cdef bint is_beyond(self, double size, double level) noexcept nogil:
        return size > level + 600

    cdef void norms(self, Round* r) noexcept nogil:
        """A row whose numbers are all the same moves nothing: it is as good as zero."""
        Additive.norms(self, r)
        if self.curvature(r.x, False) == 0:
            r.x.squared_norm = 0

    cdef double curvature(self, const Row* x, bint both) noexcept nogil:
        """(max z - min z)^2 / 4, zeros of z included."""
        cdef bint has_zeros = x.n < self.n_features or self.n_columns > 1
        cdef double low = 0 if has_zeros else INFINITY, high = 0 if has_zeros else -INFINITY
        extremes(x, &low, &high)
        if both:
            return max(high, -low) ** 2
        return (high - low) ** 2 / 4 if high > low else 0

    cdef double reach(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        """In closed form for rows of -1, 0 and 1 ([SIMPROJ] App. C, E13): ln of the root of a quadratic equation."""
        cdef double up = 0, down = 0, rest, gamma, beta
        cdef Py_ssize_t i
        for i in range(r.x.n):
            if fabs((<double*>r.x.values)[i]) != 1 and (<double*>r.x.values)[i] != 0:
                return Searching.reach(self, r, h, cap)
        self.weigh(r.x, h.up, 1, &up, &down)
        self.weigh(r.x, h.down, -1, &up, &down)
        gamma, rest = h.loss + up - down, 1 - up - down  # the score asked for
        beta = sqrt(gamma * gamma * rest * rest + 4 * (1 - gamma * gamma) * up * down) if gamma < 1 else 0
        if gamma < 0:
            beta = 2 * (1 + gamma) * down / (beta - gamma * rest)
        elif gamma < 1 and up > 0:
            beta = (beta + gamma * rest) / (2 * (1 - gamma) * up)
        else:
            return cap if cap < INFINITY else 0  # out of reach
        return max(min(cap, log(beta)), 0)

    cdef void weigh(self, const Row* x, Py_ssize_t column, double sign, double* up, double* down) noexcept nogil:
        """The weights that a move along the row raises and lowers."""
        cdef Py_ssize_t i
        cdef double number
        for i in range(x.n if column >= 0 else 0):
            number = (<double*>x.values)[i] * sign
            if number > 0:
                up[0] += self.v[self.place(x, i, column)] / self.S
            elif number < 0:
                down[0] += self.v[self.place(x, i, column)] / self.S


cdef class Balanced(Entropic):
    """Signed weights of total size 1: the entropic geometry over features (x, -x), w_i = sinh(theta_i) / sum_j cosh."""

    cdef void bend(self, const double* theta, double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        cdef double unit = exp(-level)
        for i in range(n):
            if fabs(theta[i]) < 1:  # where the difference of two exponentials would be rounded away
                slope[i] = sinh(theta[i]) * unit
            else:
                slope[i] = (exp(theta[i] - level) - exp(-theta[i] - level)) / 2

    cdef double lift(self, const double* theta, const double* slope, Py_ssize_t n, double level) noexcept nogil:
        """cosh(theta), by cosh^2 = 1 + sinh^2."""
        cdef Py_ssize_t i
        cdef double total = 0, unit = exp(-level)
        for i in range(n):
            total += sqrt(slope[i] * slope[i] + unit * unit)
        return total

    cdef double size(self, double low, double high) noexcept nogil:
        return max(fabs(low), fabs(high))

    cdef bint is_beyond(self, double size, double level) noexcept nogil:
        """Slopes must have squares."""
        return size > level + 300

    cdef double reach(self, const Round* r, const HalfSpace* h, double cap) noexcept nogil:
        return Searching.reach(self, r, h, cap)

    cdef double curvature(self, const Row* x, bint both) noexcept nogil:
        cdef double low = 0, high = 0
        extremes(x, &low, &high)
        return max(high, -low) ** 2


cdef class PNorm(Searching):
    """w_i = sign(theta_i) |theta_i|^(p - 1) / |theta|_p^(p - 2): G = |theta|_p^2 / 2. p = 2 is Euclidean.

    The level is a size, and a power of two, so that p = 2 changes nothing but exponents: f(theta) = |theta / level|^p.
    """

    cdef readonly double p
    cdef double range  # of |theta| / level whose powers have a number

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, double p, *, double threshold=0.0):
        self.p = p
        self.range = pow(2, 800 / p)
        super().__init__(n_features, n_columns, threshold=threshold)

    def settings(self):
        return {**super().settings(), "p": self.p}

    cdef void bend(self, const double* theta, double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        cdef double size, power = self.p - 1
        for i in range(n):
            size = fabs(theta[i]) / level
            size = size if power == 1 else pow(size, power) if size > 0 else 0
            slope[i] = size if theta[i] >= 0 else -size

    cdef double lift(self, const double* theta, const double* slope, Py_ssize_t n, double level) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(n):
            total += theta[i] / level * slope[i]
        return total

    cdef double factor(self, double S, double level) noexcept nogil:
        return level * (1 if self.p == 2 else pow(S, 2 / self.p - 1) if S > 0 else 0)

    cdef double potential(self, double S, double level) noexcept nogil:
        return level * level * pow(S, 2 / self.p) / 2 if S > 0 else 0

    cdef double level_for(self, double size) noexcept nogil:
        cdef int exponent = 0
        if size > 0:
            frexp(size, &exponent)
        return ldexp(1, exponent)

    cdef double converted(self, double S, double level, double new_level) noexcept nogil:
        return S * pow(level / new_level, self.p) if S != 0 and level != new_level else S

    cdef bint is_beyond(self, double size, double level) noexcept nogil:
        return size > level * self.range

    cdef double curvature(self, const Row* x, bint both) noexcept nogil:
        """(p - 1) |z|_p^2."""
        cdef Py_ssize_t i
        cdef double low = 0, high = 0, largest, total = 0
        extremes(x, &low, &high)
        largest = max(high, -low)
        if largest == 0:
            return 0
        for i in range(x.n):
            total += pow(fabs((<double*>x.values)[i]) / largest, self.p)
        return (self.p - 1) * largest * largest * pow((2 if both else 1) * total, 2 / self.p)
