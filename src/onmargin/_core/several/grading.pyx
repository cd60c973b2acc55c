"""Graded scores of a vote."""

import numpy as np

from onmargin._core.restore import fill, zeros

from libc.math cimport INFINITY, exp, fabs, sqrt
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memset

from onmargin._core.round cimport Round, finite
from onmargin._core.rows cimport address

# The lead of the voted class, as a fraction of its votes, if another class has the best graded score.
cdef double LITTLE = 1e-6
# How fast the share of a model falls with its ranking loss.
cdef double RATE = 0.2
# Number of rounds that are kept for even and for odd labels, for comparisons.
cdef Py_ssize_t KEPT = 8
# Number of first rounds that are all used; afterwards 16 of each 64 are, and count for 4 each.
cdef double THOROUGH = 4096


cdef class Grading:
    """Graded scores that can rank examples, instead of votes: sum_m q_m z / (1 + |z|).

    z are the centered scores of model m, divided by their root mean square so far. q_m is proportional to exp(-RATE
    R_m / W), where R_m is the ranking loss of the model: in each round its scores are compared with those of some
    recent rounds of other labels, and its loss is the fraction of pairs in the wrong order, times the weight of the
    example. W is the largest weight (see `Hedge`). Where one half of the labels is rare, all rounds of the other
    are compared with the same few: they count n_rare / n_frequent, so that a model is charged by how many rare
    examples there were. Of two classes there is one score, which must be higher for the second; of more, the score
    of the label of either round must be higher in that round, and both count half.

    The scores are changed as little as possible if their best class is not that of the votes. Sleeping models have
    no share, and their ranking loss is the mean of the others.
    """

    def __init__(self, places, Py_ssize_t width):
        self.places, self.n, self.width = places, len(places), width
        self.place = <const Py_ssize_t*>address(places, "lq", self.n)
        self.owners = (
            np.zeros(self.n + 1), np.zeros(self.n + 3), zeros((2 * KEPT, 1 + self.n * width)), np.zeros((3, self.n)),
            zeros(width),
        )
        self.squares = <double*>address(self.owners[0], "d", self.n + 1, writable=True)
        self.ranks = <double*>address(self.owners[1], "d", self.n + 3, writable=True)
        self.recent = <double*>address(self.owners[2], "d", self.owners[2].size, writable=True)
        self.losses = <double*>address(self.owners[3], "d", 3 * self.n, writable=True)
        self.shares, self.now = self.losses + self.n, self.losses + 2 * self.n
        self.grades = <double*>address(self.owners[4], "d", width, writable=True)

    def state(self):
        """Return the sums of squared scores, the ranking losses, and the rounds kept for comparisons."""
        return {"squares": self.owners[0], "ranks": self.owners[1], "recent": self.owners[2]}

    def __setstate__(self, state):
        if "squares" in state:
            fill(self.owners[0], state, "squares")
        self.owners[2][...] = 0
        if "ranks" in state:
            fill(self.owners[1], state, "ranks")
            # Rounds with fewer classes or other models cannot be compared.
            if "recent" in state and np.shape(state["recent"]) == self.owners[2].shape:
                fill(self.owners[2], state, "recent")
        else:  # a file of an earlier version: shares are the cubes of the vote weights
            self.owners[1][:self.n] = -3 * np.log(np.maximum(state["weights"], 1e-100)) / RATE
        whole_numbers = self.owners[1][self.n:]
        whole_numbers[...] = np.clip(np.nan_to_num(whole_numbers), 0, 2**53)
        self.stale = True

    cdef double mean_of(self, const double* s) noexcept nogil:
        """Return the mean of the scores of one model; 0 for one column."""
        cdef Py_ssize_t c
        cdef double sum = 0
        for c in range(self.width):
            sum += s[c]
        return sum / self.width if self.width > 1 else 0

    cdef void observe(self, const Round* r, const uint8_t* asleep) noexcept nogil:
        """Learn from the scores of a round and its label."""
        cdef Py_ssize_t seen = <Py_ssize_t>self.ranks[self.n]
        cdef Py_ssize_t label = r.y[0] > 0 if self.width == 1 else <Py_ssize_t>r.y[0]
        cdef Py_ssize_t pairs
        self.take_units(r.s, asleep)
        self.ranks[self.n] += 1
        if seen >= THOROUGH and seen & 48:
            return
        if r.n_y != 1 or not 0 <= label < max(self.width, 2):
            return
        pairs = self.compare(r, label)
        if pairs > 0:
            self.charge(pairs, (1 if seen < THOROUGH else 4) * self.rarity(label) * r.weight, asleep)
        self.keep(r, label)
        self.stale = True

    cdef double rarity(self, Py_ssize_t label) noexcept nogil:
        """How many rounds of the other half of the labels there were per round of this half, or 1 if they were more."""
        cdef const double* counts = self.ranks + self.n + 1
        cdef double own = counts[label % 2], others = counts[1 - label % 2]
        return others / own if 0 < others < own else 1

    cdef void take_units(self, const double* s, const uint8_t* asleep) noexcept nogil:
        """Add the squared scores of each model to the sums, and count them.

        They are clipped at 100 times the usual size. For sleeping models, the usual
        size is added.
        """
        cdef Py_ssize_t m, c
        cdef double mean, z, most, share = 1e4 / self.squares[self.n] if self.squares[self.n] > 0 else 0
        for m in range(self.n):
            if asleep[m]:
                if self.squares[self.n] > 0:
                    self.squares[m] = finite(self.squares[m] * (1 + self.width / self.squares[self.n]))
                continue
            mean = 0 if self.width == 1 else self.mean_of(s + self.place[m])
            most = share * self.squares[m] if self.squares[m] > 0 else INFINITY
            for c in range(self.width):
                z = s[self.place[m] + c] - mean
                self.squares[m] = finite(self.squares[m] + min(z * z, most))
        self.squares[self.n] += self.width

    cdef Py_ssize_t compare(self, const Round* r, Py_ssize_t label) noexcept nogil:
        """Set the losses, 2 per pair in the wrong order and 1 per tie; return the number of pairs."""
        cdef Py_ssize_t i, m, other, pairs = 0, size = 1 + self.n * self.width
        cdef const double* row
        cdef const double* s
        cdef double ahead, sign = 1 if label == 1 else -1
        cdef double* losses = self.losses
        cdef double* now = self.now
        memset(losses, 0, self.n * sizeof(double))
        if self.width == 1:
            for m in range(self.n):
                now[m] = r.s[self.place[m]]
        for i in range(2 * KEPT):
            row = self.recent + i * size
            other = <Py_ssize_t>row[0] - 1
            if other < 0 or other == label or other >= max(self.width, 2):
                continue
            pairs += 2
            row += 1
            if self.width == 1:
                for m in range(self.n):  # without branches, which cannot be foreseen
                    ahead = sign * (now[m] - row[m])
                    losses[m] += (2.0 if ahead < 0 else 0.0) + (1.0 if ahead == 0 else 0.0)
                continue
            for m in range(self.n):
                s = r.s + self.place[m]
                ahead = s[label] - row[m * self.width + label]
                losses[m] += (ahead < 0) + 0.5 * (ahead == 0)
                ahead = row[m * self.width + other] - s[other]
                losses[m] += (ahead < 0) + 0.5 * (ahead == 0)
        return pairs

    cdef void charge(self, Py_ssize_t pairs, double rounds, const uint8_t* asleep) noexcept nogil:
        """Add the losses of a round, which counts as several rounds."""
        cdef Py_ssize_t m, awake = 0
        cdef double mean = 0
        for m in range(self.n):
            if not asleep[m]:
                awake += 1
                mean += self.losses[m]
        mean /= max(awake, 1)
        for m in range(self.n):
            self.ranks[m] += rounds * (mean if asleep[m] else self.losses[m]) / pairs

    cdef void keep(self, const Round* r, Py_ssize_t label) noexcept nogil:
        """Keep this round for comparisons, in place of the oldest one with an even or odd label like its own."""
        cdef Py_ssize_t half = label % 2, m, c, size = 1 + self.n * self.width
        cdef double* count = self.ranks + self.n + 1 + half
        cdef double* row = self.recent + (half * KEPT + <Py_ssize_t>count[0] % KEPT) * size
        row[0] = label + 1
        for m in range(self.n):
            for c in range(self.width):
                row[1 + m * self.width + c] = finite(r.s[self.place[m] + c])
        count[0] += 1

    cdef void refresh(self, double heaviest) noexcept nogil:
        """Set the shares of the models."""
        cdef Py_ssize_t m
        cdef double least = INFINITY, rate = RATE / heaviest if heaviest > 0 else RATE
        for m in range(self.n):
            least = min(least, self.ranks[m])
        for m in range(self.n):
            self.shares[m] = exp(-rate * (self.ranks[m] - least))
        self.stale, self.heaviest = False, heaviest

    cdef void grade(self, const double* s, const uint8_t* asleep, double heaviest, double* votes) noexcept nogil:
        """Replace votes by graded scores; the class with the most votes stays the best.

        `heaviest` is the largest weight of the examples.
        """
        cdef Py_ssize_t m, c, best = 0
        cdef double mean, unit, z, share, sum = 0, top = -INFINITY
        if self.squares[self.n] == 0:
            return  # files of version 0.1 do not have the units of scores
        if self.stale or self.heaviest != heaviest:
            self.refresh(heaviest)
        memset(self.grades, 0, self.width * sizeof(double))
        for m in range(self.n):
            sum += 0 if asleep[m] else self.shares[m]
        for m in range(self.n):
            if asleep[m]:
                continue
            share = self.shares[m] / sum
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
