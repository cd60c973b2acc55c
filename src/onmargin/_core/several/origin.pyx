"""The first target, and outliers among targets."""

import numpy as np

from onmargin._core.restore import fill

from libc.math cimport NAN, copysign, fabs, isnan

# How many times as far from the origin as all targets before an outlier is, at least.
cdef double FAR = 100
# So many targets that are so far, one after the other, are no outliers: the targets have changed.
cdef Py_ssize_t CHANGED = 3
# How many times as large as the first target that differs from it a first one is that was an outlier, at least.
cdef double WRONG_ORIGIN = 1e6


cdef class Origin:
    """Where the targets of regression begin, and how far from there they are.

    With `from_first` the origin is the first target; otherwise it is 0. With `tempered` an outlier among targets counts
    as if it were no farther from the origin than the farthest before. A first target that may be an outlier itself,
    since the first ordinary one that differs from it is a million times smaller or 0, gives way to that one.
    """

    def __init__(self, *, bint from_first=False, bint tempered=False):
        self.from_first, self.tempered = from_first, tempered
        self.value = NAN if from_first else 0

    def settings(self):
        """What it was made with, apart from the defaults."""
        options = {"from_first": self.from_first, "tempered": self.tempered}
        return {name: value for name, value in options.items() if value}

    @property
    def offset(self):
        """The origin, once it is known."""
        return 0.0 if isnan(self.value) else self.value

    def state(self):
        """The origin, and the distances of targets so far."""
        state = {"origin": self.value} if self.from_first else {}
        if self.tempered:
            state["distances"] = np.array([self.reach, self.nearest, self.n_far])
        return state

    def __setstate__(self, state):
        self.value = state.get("origin", 0)
        if self.tempered and "distances" in state:
            distances = np.zeros(3)
            fill(distances, state, "distances")
            self.reach, self.nearest, self.n_far = distances[0], distances[1], min(max(int(distances[2]), 0), CHANGED)

    cdef double temper(self, double distance) noexcept nogil:
        """How far from the origin a target counts as: an outlier as far as the farthest that is none.

        Until there are two targets the size of the first says what is far.
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
        """Whether a target shows that all before, which are the same, were outliers; one of 0 always does."""
        return self.from_first and self.tempered and self.reach == 0 \
            and fabs(self.value) > WRONG_ORIGIN * fabs(target)
