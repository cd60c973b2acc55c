"""The center of a ball that encloses its rows."""

from functools import partial

import numpy as np

from onmargin._core.restore import fill, number, whole, whole_size, zeros

from libc.math cimport sqrt

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Round
from onmargin._core.rows cimport Row, address, vec_for


# A scale this small is multiplied into the vector: rarely, and long before anything underflows.
cdef double SMALLEST_SCALE = 1e-200
# A center this far from zero is refused: distances from it would overflow.
cdef double MOST_SQUARES = 1e290


cdef class Center(Geometry):
    """The center c of a ball, with the distance of a row d = sqrt(|x - c|^2 + height^2) ([JMLR] sec. 6).

    The only direction is that of the row from the center, of length 1; tau along it makes c <- (1 - a) c + a x with
    a = tau / d. To touch only the non-zeros of x, c is stored as `scale` times a vector, together with its norm.

    The height is a coordinate of the center that is zero in every row, and shrinks like the others. Started at B, with
    balls of radius B, it makes a learned radius sqrt(B^2 - height^2); 0 means a fixed radius.

    Rows are float64: a distance is the small difference of large numbers.
    """

    @property
    def guards(self):
        return True

    def __init__(self, Py_ssize_t n_features, *, double height=0.0):
        self.n_features = whole_size(n_features, "n_features")
        self.n_columns = self.n_scores = 2
        self.dtype = np.dtype(np.float64)
        self.height = height
        self.scale = 1
        self.vec = vec_for(self.dtype.itemsize)
        self.vector = zeros(n_features)
        self.w.W = address(self.vector, "d", n_features, writable=True)
        self.w.columns = self.w.stride = self.w.gap = 1

    def __reduce__(self):
        state = {
            "clock": self.clock, "scale": self.scale, "squared_norm": self.squared_norm, "vector": self.vector,
        }
        return partial(type(self), n_features=self.n_features, height=self.height), (), state

    def __setstate__(self, state):
        self.clock = whole(state["clock"], "clock")
        self.scale = number(state["scale"], "scale", least=SMALLEST_SCALE)
        self.squared_norm = number(state["squared_norm"], "squared_norm")
        fill(self.vector, state, "vector")

    def center(self):
        """Return a copy of the center."""
        return self.scale * self.vector

    def assign(self, center):
        """Set the center."""
        squared_norm = np.dot(center, center)
        if not squared_norm < MOST_SQUARES:
            raise ValueError(f"the first row is too large for a center: its squared norm is {squared_norm:g}")
        self.vector[:] = center
        self.scale = 1
        self.squared_norm = self.vector @ self.vector

    def resize(self, Py_ssize_t n_features):
        """Return a copy with new features, in which the center is at zero."""
        copy = type(self)(n_features, height=self.height)
        vector = np.zeros(n_features)
        vector[:self.n_features] = self.vector
        copy.__setstate__({
            "clock": self.clock, "scale": self.scale, "squared_norm": self.squared_norm, "vector": vector,
        })
        return copy

    cdef Row as_row(self) noexcept nogil:
        cdef Row vector
        vector.values, vector.indices, vector.n = self.w.W, NULL, self.n_features
        return vector

    cdef double distance(self, const Row* x, double squared_norm, double* along) noexcept nogil:
        """Return d, and set <c, x>: term by term for unscaled dense rows, otherwise from the norms."""
        cdef Row vector = self.as_row()
        cdef double squared
        self.vec.scores(x, &self.w, along)
        along[0] *= self.scale
        if x.indices == NULL and self.scale == 1:
            squared = self.vec.squared_distance(x, &vector)
        else:
            squared = max(squared_norm - 2 * along[0] + self.squared_norm, 0)
        return sqrt(squared + self.height * self.height)

    cdef void scores(self, Round* r) noexcept nogil:
        r.x.squared_norm = self.vec.squared_norm(r.x)
        r.s[0] = self.distance(r.x, r.x.squared_norm, &self.along)
        r.s[1] = self.height
        r.n_scores = 2

    cdef void mean_scores(self, const Row* x, double* s, double* spare) noexcept nogil:
        s[0] = self.distance(x, self.vec.squared_norm(x), spare)  # not finite for a row that is not
        s[1] = self.height

    cdef void measure(self, Round* r) noexcept nogil:
        self.clock += 1

    cdef void curvatures(self, Round* r) noexcept nogil:
        r.halfspaces.q = 1

    cdef double move(self, const Round* r) noexcept nogil:
        cdef double tau = r.halfspaces.tau, a = tau / r.s[0], rest = 1 - a
        self.height *= rest
        self.scale *= rest
        self.squared_norm *= rest * rest
        if r.x.indices == NULL or self.scale < SMALLEST_SCALE:
            self.unscale()
        self.vec.add(r.x, &self.w, 0, -1, a / self.scale)
        self.squared_norm += 2 * a * rest * self.along + a * a * r.x.squared_norm
        return tau * tau

    cdef void unscale(self) noexcept nogil:
        """Multiply the scale into the vector, and compute its norm again."""
        cdef Py_ssize_t j
        cdef double* v = <double*>self.w.W
        cdef double scale = self.scale
        cdef Row vector = self.as_row()
        for j in range(self.n_features):
            v[j] *= scale
        self.scale = 1
        self.squared_norm = self.vec.squared_norm(&vector)
