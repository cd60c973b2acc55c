"""The first target, and outliers among targets."""

import numpy as np

from onmargin._core.restore import fill, number

from libc.math cimport NAN, copysign, fabs, isnan

# An outlier is at least this many times as far from the origin as all earlier targets.
cdef double FAR = 100
# This many consecutive distant targets are not outliers: the targets have changed.
cdef Py_ssize_t CHANGED = 3
# A first target was an outlier if it is at least this many times as large as the first one that differs from it.
cdef double WRONG_ORIGIN = 1e6


cdef class Origin:
    """The origin of regression targets, and their distances from it.

    With `from_first`, the origin is the first target; otherwise it is 0. With `tempered`, an outlier among targets
    counts as far from the origin as the farthest earlier target. A first target that may be an outlier itself,
    because the first ordinary one that differs from it is a million times smaller or 0, is replaced by that one.
    """

    def __init__(self, *, bint from_first=False, bint tempered=False):
        self.from_first, self.tempered = from_first, tempered
        self.value = NAN if from_first else 0

    def settings(self):
        """Return the constructor arguments that differ from the defaults."""
        options = {"from_first": self.from_first, "tempered": self.tempered}
        return {name: value for name, value in options.items() if value}

    @property
    def offset(self):
        """The origin, or 0 before it is known."""
        return 0.0 if isnan(self.value) else self.value

    def state(self):
        """Return the origin and the distances of targets so far."""
        state = {"origin": self.value} if self.from_first else {}
        if self.tempered:
            state["distances"] = np.array([self.reach, self.nearest, self.n_far])
        return state

    def __setstate__(self, state):
        self.value = state.get("origin", 0)
        if not isnan(self.value):
            number(self.value, "origin")
        if self.tempered and "distances" in state:
            distances = np.zeros(3)
            fill(distances, state, "distances")
            self.reach, self.nearest, self.n_far = distances[0], distances[1], min(max(int(distances[2]), 0), CHANGED)

    cdef double temper(self, double distance) noexcept nogil:
        """Return the distance of a target from the origin, clipped for outliers to the largest ordinary distance.

        Before the second target, the size of the first is the reference.
        """
        cdef double size = fabs(distance), usual = self.reach if self.reach > 0 else fabs(self.value)
        if usual == 0 or size <= FAR * usual:
            self.reach, self.n_far = max(self.reach, size), 0
            return distance
        self.nearest = min(self.nearest, size) if self.n_far > 0 else size
        self.n_far += 1
        if self.n_far < CHANGED:
            return copysign(usual, distance)
        self.reach, self.n_far = self.nearest, 0
        return self.temper(distance)

    cdef bint is_wrong(self, double target) noexcept nogil:
        """Return whether a target shows that all earlier ones, which are equal, were outliers; 0 always does."""
        return self.from_first and self.tempered and self.reach == 0 \
            and fabs(self.value) > WRONG_ORIGIN * fabs(target)
