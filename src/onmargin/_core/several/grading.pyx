"""Graded scores of a vote."""

import numpy as np

from onmargin._core.restore import fill, zeros

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

from onmargin._core.round cimport finite
from onmargin._core.rows cimport address

# By which part of its votes a class is ahead, where graded scores alone would have another one be the best.
cdef double LITTLE = 1e-6


cdef class Grading:
    """Scores by which examples can be ranked, in place of votes: sum_m q_m z / (1 + |z|).

    z are the scores of model m, less their mean over the classes, by the root of their mean square so far, and q_m is
    proportional to p_m^3, where p_m is the weight of its vote: to rank, the best few are better than all. They are
    changed as little as possible where their best class is not that of the votes.
    """

    def __init__(self, places, Py_ssize_t width):
        self.places, self.n, self.width = places, len(places), width
        self.place = <const Py_ssize_t*>address(places, "lq", self.n)
        self.owners = np.zeros(self.n + 1), zeros(width)
        self.squares = <double*>address(self.owners[0], "d", self.n + 1, writable=True)
        self.grades = <double*>address(self.owners[1], "d", width, writable=True)

    def state(self):
        """The sums of the squares of scores, one per model, and how many there were."""
        return {"squares": self.owners[0]}

    def __setstate__(self, state):
        if "squares" in state:
            fill(self.owners[0], state, "squares")

    cdef double mean_of(self, const double* s) noexcept nogil:
        """What scores of one model are taken from: their mean, of one column 0."""
        cdef Py_ssize_t c
        cdef double sum = 0
        for c in range(self.width):
            sum += s[c]
        return sum / self.width if self.width > 1 else 0

    cdef void take_units(self, const double* s) noexcept nogil:
        """Add up the squares of the scores of each model, and after them how many there were.

        One that is more than 100 times as large as usual counts as if it were 100 times as large.
        """
        cdef Py_ssize_t m, c
        cdef double mean, z, most
        for m in range(self.n):
            mean = self.mean_of(s + self.place[m])
            most = 1e4 * self.squares[m] / self.squares[self.n] if self.squares[m] > 0 else INFINITY
            for c in range(self.width):
                z = s[self.place[m] + c] - mean
                self.squares[m] = finite(self.squares[m] + min(z * z, most))
        self.squares[self.n] += self.width

    cdef void grade(self, const double* s, const double* p, double* votes) noexcept nogil:
        """Put graded scores in the place of votes, whose weights are p; the class that has most votes stays the best."""
        cdef Py_ssize_t m, c, best = 0
        cdef double mean, unit, z, share, sum = 0, top = -INFINITY
        if self.squares[self.n] == 0:
            return  # a file of version 0.1 does not say in which units scores are
        memset(self.grades, 0, self.width * sizeof(double))
        for m in range(self.n):
            sum += p[m] * p[m] * p[m]
        for m in range(self.n):
            share = p[m] * p[m] * p[m] / sum
            unit = sqrt(self.squares[self.n] / self.squares[m]) if self.squares[m] > 0 else 0
            mean = self.mean_of(s + self.place[m])
            for c in range(self.width):
                z = (s[self.place[m] + c] - mean) * unit
                self.grades[c] += share * z / (1 + fabs(z))
        if self.width == 1:
            votes[0] = self.grades[0] if (self.grades[0] >= 0) == (votes[0] >= 0) else LITTLE * votes[0]
            return
        for c in range(1, self.width):
            best = c if votes[c] > votes[best] else best
        for c in range(self.width):
            top = max(top, self.grades[c]) if c != best else top
        self.grades[best] = max(self.grades[best], top + LITTLE * votes[best])
        memcpy(votes, self.grades, self.width * sizeof(double))
