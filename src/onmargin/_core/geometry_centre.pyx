"""The geometry of a ball: a centre that follows its rows, anywhere or on the simplex."""

from functools import partial

import numpy as np

from libc.math cimport INFINITY, exp, log, sqrt

from onmargin._core.geometry cimport Geometry
from onmargin._core.row cimport Row, Vec, Weights, address
from onmargin._core.task cimport Round


cdef extern from "vec.h" nogil:
    const Vec* vec_for(Py_ssize_t itemsize)


# A scale this small is multiplied into the vector: as good as never, and long before anything leaves its range.
cdef double SMALLEST_SCALE = 1e-200


cdef class Centre(Geometry):
    """The centre c of a ball, and how far its rows are: d = sqrt(|x - c|^2 + height^2) ([JMLR] sec. 6).

    The only direction is that of the row from the centre, of length 1; tau along it makes c <- (1 - a) c + a x with
    a = tau / d. To touch the non-zeros of x alone, c is kept as `scale` times a vector, and its norm beside it.

    The height is a coordinate of the centre that is zero in every row, and shrinks like the others. Started at B, with
    balls of radius B, it makes a radius sqrt(B^2 - height^2) that is learned ([NIPS]); 0: there is none.

    Rows are float64: a distance is the small difference of large numbers.
    """

    cdef readonly double scale, squared_norm, height
    cdef readonly Py_ssize_t clock
    cdef readonly object vector
    cdef const Vec* vec
    cdef Weights w
    cdef double along  # <c, x> of the round's row

    def __init__(self, Py_ssize_t n_features, *, double height=0.0):
        self.n_features = n_features
        self.n_columns = self.n_scores = 2
        self.dtype = np.dtype(np.float64)
        self.height = height
        self.scale = 1
        self.vec = vec_for(self.dtype.itemsize)
        self.vector = np.zeros(n_features)
        self.w.W = address(self.vector, "d", n_features, writable=True)
        self.w.columns = self.w.stride = self.w.gap = 1

    def __reduce__(self):
        state = {
            "clock": self.clock, "scale": self.scale, "squared_norm": self.squared_norm, "vector": self.vector,
        }
        return partial(type(self), n_features=self.n_features, height=self.height), (), state

    def __setstate__(self, state):
        self.clock, self.scale, self.squared_norm = state["clock"], state["scale"], state["squared_norm"]
        self.vector[:] = state["vector"]

    def centre(self):
        """A copy of the centre."""
        return self.scale * self.vector

    def assign(self, centre):
        """Put the centre here."""
        self.vector[:] = centre
        self.scale = 1
        self.squared_norm = self.vector @ self.vector

    def resized(self, Py_ssize_t n_features):
        """A copy with new features, in which the centre is at zero."""
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
        """d, and <c, x> on the way. Term by term where nothing is scaled and dense, otherwise by the norms."""
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
        s[0] = self.distance(x, self.vec.squared_norm(x), spare)
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
        """Multiply the scale into the vector, and take its norm anew."""
        cdef Py_ssize_t j
        cdef double* v = <double*>self.w.W
        cdef double scale = self.scale
        cdef Row vector = self.as_row()
        for j in range(self.n_features):
            v[j] *= scale
        self.scale = 1
        self.squared_norm = self.vec.squared_norm(&vector)


cdef class SimplexCentre(Centre):
    """A centre w on the simplex, at first its middle ([NIPS] Thm. 4, E6).

    The direction v = (x - w) / d is that of `Centre`, but tau along it makes w_i <- w_i exp(tau v_i) / Z. It has the
    curvature (max v - min v)^2 / 4 at most, and that is at most 1/2. The logarithms of the weights are kept beside
    them, so that none is lost.

    A distance costs the non-zeros of x; a move changes every weight by another factor, and costs all features.
    """

    cdef readonly object theta    # ln w
    cdef object apart             # x - w of a round with a loss
    cdef double* t
    cdef double* v
    cdef double lowest            # of x - w

    def __init__(self, Py_ssize_t n_features):
        super().__init__(n_features)
        self.theta, self.apart = np.zeros(n_features), np.zeros(n_features)
        self.t = <double*>address(self.theta, "d", n_features, writable=True)
        self.v = <double*>address(self.apart, "d", n_features, writable=True)
        self.normalise()

    def __reduce__(self):
        state = {
            "clock": self.clock, "squared_norm": self.squared_norm, "vector": self.vector, "theta": self.theta,
        }
        return type(self), (self.n_features,), state

    def __setstate__(self, state):
        self.clock, self.squared_norm = state["clock"], state["squared_norm"]
        self.vector[:], self.theta[:] = state["vector"], state["theta"]

    cdef void curvatures(self, Round* r) noexcept nogil:
        cdef Py_ssize_t j
        cdef double low = INFINITY, high = -INFINITY
        cdef const double* w = <const double*>self.w.W
        for j in range(self.n_features):
            self.v[j] = -w[j]
        for j in range(r.x.n):
            self.v[j if r.x.indices == NULL else r.x.indices[j]] += (<const double*>r.x.values)[j]
        for j in range(self.n_features):
            low, high = min(low, self.v[j]), max(high, self.v[j])
        self.lowest = low
        r.halfspaces.q = ((high - low) / r.s[0]) ** 2 / 4

    cdef double move(self, const Round* r) noexcept nogil:
        """Answers twice G(theta') - G(theta) - <w, theta' - theta>, with G = ln sum exp(theta), which was 0."""
        cdef Py_ssize_t j
        cdef double a = r.halfspaces.tau / r.s[0], along = 0
        cdef const double* w = <const double*>self.w.W
        for j in range(self.n_features):
            self.v[j] -= self.lowest  # what all have alike moves nothing, and might swallow the rest
            along += a * self.v[j] * w[j]
            self.t[j] += a * self.v[j]
        return 2 * (self.normalise() - along)

    cdef double normalise(self) noexcept nogil:
        """Make exp(theta) weights of sum 1; answers ln sum exp(theta) as it was."""
        cdef Py_ssize_t j
        cdef double highest = -INFINITY, total = 0, potential
        cdef double* w = <double*>self.w.W
        cdef Row vector = self.as_row()
        for j in range(self.n_features):
            highest = max(highest, self.t[j])
        for j in range(self.n_features):
            w[j] = exp(self.t[j] - highest)
            total += w[j]
        potential = log(total) + highest
        for j in range(self.n_features):
            w[j] /= total
            self.t[j] -= potential
        self.squared_norm = self.vec.squared_norm(&vector)
        return potential
