"""The geometry of a ball whose centre is an expansion over the rows it followed."""

import numpy as np

from libc.math cimport sqrt

from onmargin._core.geometry_kernel cimport Expansion
from onmargin._core.task cimport Round


cdef class Ball(Expansion):
    """The centre of a ball as an expansion: |phi(x) - c|^2 = K(x, x) - 2 <c, phi(x)> + |c|^2 ([JMLR] sec. 6).

    Scores, step and height are those of Centre. All coefficients shrink with every move, which is no more than the
    scores cost; the norm of c is kept beside them.
    """

    cdef readonly double squared_norm, height
    cdef double along  # <c, phi(x)> of the round's row

    def __init__(self, Py_ssize_t n_features, Py_ssize_t n_columns, dtype, *, double height=0.0):
        Expansion.__init__(self, n_features, 1, dtype)
        self.n_columns = self.n_scores = 2
        self.height = height

    def settings(self):
        return {"height": self.height}

    def __reduce__(self):
        make, arguments, state = Expansion.__reduce__(self)
        return make, arguments, state | {"squared_norm": self.squared_norm}

    def __setstate__(self, state):
        self.squared_norm = state["squared_norm"]
        Expansion.__setstate__(self, state)

    def plant(self, Py_ssize_t key, double squared_norm):
        """Put the centre of a ball that has seen nothing at the row of this key."""
        self.hold_slots(1)
        self.n_slots, self.key[0], self.live[0], self.coef[0], self.squared_norm = 1, key, 1, 1, squared_norm

    def project(self, values, diagonal):
        along = Expansion.project(self, values, diagonal)[:, 0]
        squared = np.maximum(diagonal - 2 * along + self.squared_norm, 0)
        return np.column_stack([np.sqrt(squared + self.height**2), np.full(len(along), self.height)])

    cdef void scores(self, Round* r) noexcept nogil:
        self.expand(self.against(r.t), &self.c, &self.along)
        r.x.squared_norm = self.diagonal[r.t]
        r.s[0] = sqrt(max(r.x.squared_norm - 2 * self.along + self.squared_norm, 0) + self.height * self.height)
        r.s[1] = self.height
        r.n_scores = 2

    cdef void measure(self, Round* r) noexcept nogil:
        self.clock += 1

    cdef void curvatures(self, Round* r) noexcept nogil:
        r.halfspaces.q = 1

    cdef double move(self, const Round* r) noexcept nogil:
        cdef double tau = r.halfspaces.tau, a = tau / r.s[0], rest = 1 - a
        cdef Py_ssize_t i, slot = self.slot(r.t)
        self.height *= rest
        for i in range(self.n_slots):
            self.coef[i] *= rest
        self.coef[slot] += a
        self.squared_norm *= rest * rest
        self.squared_norm += 2 * a * rest * self.along + a * a * r.x.squared_norm
        return tau * tau
