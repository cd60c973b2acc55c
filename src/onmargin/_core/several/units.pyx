"""The units of C, taken from the rows and targets so far."""

import numpy as np

from onmargin._core.restore import fill

from libc.math cimport pow, sqrt

from onmargin._core.round cimport Round, finite
from onmargin._core.rows cimport address


cdef class Units:
    """The unit of C is 1 / M^per_norm, where M is the mean of |x|^2 over all rows so far that are not zero.

    With `in_targets`, it is also proportional to the deviation of the targets so far and of the 0 that models start
    from. Unusually large rows and targets are clipped.
    """

    def __cinit__(self, *arguments):
        # An object that is not initialized has a unit, too.
        self.owner = np.zeros(4)
        self.sizes = <double*>address(self.owner, "d", 4, writable=True)

    def __init__(self, double per_norm, bint in_targets):
        self.per_norm, self.in_targets = per_norm, in_targets

    def settings(self):
        """Return the constructor arguments."""
        return {"per_norm": self.per_norm, "in_targets": self.in_targets}

    @property
    def now(self):
        """The unit of C now."""
        return self.unit()

    def state(self):
        """Return the number of rows, and the sums of |x|^2, y and y^2."""
        return {"sizes": self.owner}

    def __setstate__(self, state):
        if "sizes" in state:
            fill(self.owner, state, "sizes")

    cdef void measure(self, const Round* r) noexcept nogil:
        """Add the sizes of rows and targets, clipped at 100 mean squared norms and at ten deviations."""
        cdef double square = r.x.squared_norm, y = r.y[0], n = self.sizes[0], deviation, mean
        if square > 0:
            if n > 0:
                square = min(square, 100 * self.sizes[1] / n)
            if self.in_targets:
                deviation = self.deviation()
                if deviation > 0:
                    mean = self.sizes[2] / (n + 1)
                    y = min(max(y, mean - 10 * deviation), mean + 10 * deviation)
                self.sizes[2] = finite(self.sizes[2] + y)
                self.sizes[3] = finite(self.sizes[3] + y * y)
            self.sizes[0] += 1
            self.sizes[1] = finite(self.sizes[1] + square)

    cdef double deviation(self) noexcept nogil:
        """Return the deviation of the targets so far and 0."""
        cdef double mean = self.sizes[2] / (self.sizes[0] + 1)
        return sqrt(max(self.sizes[3] / (self.sizes[0] + 1) - mean * mean, 0))

    cdef double unit(self) noexcept nogil:
        cdef double unit = finite(pow(self.sizes[0] / self.sizes[1], self.per_norm)) if self.sizes[1] > 0 else 1
        return finite(unit * (self.deviation() if self.in_targets else 1))
