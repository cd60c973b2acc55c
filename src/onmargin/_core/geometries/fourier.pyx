"""Random Fourier features, in which linear boundaries approximate those of a Gaussian kernel."""

import numpy as np

from onmargin._core.restore import claim, whole_size

from libc.math cimport INFINITY, sqrt

from onmargin._core.geometries.transformed cimport Transformed
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.matrix cimport Matrix, matrix_for
from onmargin._core.rows cimport Row, address


cdef class Fourier(Transformed):
    """An inner geometry on rows z(x) = sqrt(2 / D) cos(Omega x + b) with D features ([RFF]).

    <z(x), z(x')> approaches exp(-gamma |x - x'|^2) as D grows, with Omega drawn from N(0, 2 gamma) and b uniform. Both
    come
    from `seed`, feature by feature, so that adding features does not change the existing ones.
    """

    cdef readonly double gamma
    cdef readonly unsigned int seed
    cdef tuple owners
    cdef const Matrix* primitives
    cdef void* turns
    cdef void* shifts
    cdef double height

    @property
    def linear(self):
        return False

    def __init__(self, Geometry inner, Py_ssize_t n_features, double gamma, unsigned int seed=0):
        if not 0 <= gamma < INFINITY:
            raise ValueError(f"gamma must be a finite number of at least 0; got {gamma}")
        self.inner, self.gamma, self.seed = inner, gamma, seed
        self.n_features, self.dtype = whole_size(n_features, "n_features"), inner.dtype
        self.n_columns, self.n_scores = inner.n_columns, inner.n_scores
        cdef Py_ssize_t waves = inner.n_features
        claim(16 * int(n_features) * waves)
        self.n_spare = inner.n_spare + waves
        self.height = sqrt(2.0 / waves)
        self.primitives = matrix_for(self.dtype.itemsize)
        random = np.random.RandomState(seed)  # its stream is the same in all versions of NumPy
        shifts = random.uniform(size=waves)
        turns = random.standard_normal((n_features, waves)) * (sqrt(2 * gamma) / (2 * np.pi))
        self.owners = turns.astype(self.dtype), shifts.astype(self.dtype), np.zeros(waves, self.dtype)
        self.turns = address(self.owners[0], "fd", n_features * waves)
        self.shifts = address(self.owners[1], "fd", waves)
        self.row.values = address(self.owners[2], "fd", waves, writable=True)
        self.row.n = waves

    def __reduce__(self):
        return type(self), (self.inner, self.n_features, self.gamma, self.seed)

    def alike(self, Geometry inner):
        """Return the same random features in front of another geometry."""
        return type(self)(inner, self.n_features, self.gamma, self.seed)

    def resize(self, Py_ssize_t n_features):
        """Return a copy with the first features only, or with new ones, which were zero so far."""
        return type(self)(self.inner, n_features, self.gamma, self.seed)

    def trace_rows(self, rows):
        turns, shifts, _ = self.owners
        phases = rows.times(turns, shifts)
        return ((phases - phases.apply("Round")) * (2 * np.pi)).apply("Cos") * self.height

    cdef void change(self, const Row* x, Row* out) noexcept nogil:
        self.primitives.phases(x, self.turns, self.shifts, self.row.n, <void*>out.values)
        self.primitives.cosines(out.values, self.row.n, self.height, <void*>out.values)
