"""Graded scores of a vote."""

import numpy as np

from onmargin._core.restore import fill, zeros

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, copysign, exp, fabs, sqrt
from libc.string cimport memcpy, memset

from onmargin._core.round cimport Round, finite
from onmargin._core.rows cimport address
from onmargin._core.several.odds cimport Odds
from onmargin._core.several.votes cimport Votes, votes_for, votes_padded

cdef const Votes* votes_of = votes_for()

# The lead of the voted class if another class has the best graded score: of two classes the largest one, of more as a
# fraction of its votes.
cdef double LITTLE = 1e-6
# How fast the share of a model falls with its ranking loss.
cdef double RATE = 0.2
# Number of rounds that are kept for even and for odd labels, for comparisons.
cdef Py_ssize_t KEPT = 8
# Number of first rounds that are all used; afterwards 16 of each 64 are, and count for 4 each.
cdef double THOROUGH = 4096


cdef inline double in_units(double distance, double unit) noexcept nogil:
    """Return distance * unit, clipped to the range of doubles; 0 if the distance is 0 or NaN."""
    cdef double z = distance * unit
    if fabs(z) < INFINITY:
        return z
    return copysign(DBL_MAX, distance) if fabs(distance) > 0 else 0


cdef class Grading:
    """Graded scores that can rank examples, instead of votes.

    Of two classes they are the log odds of the second (see `Odds`). Of more they are sum_m q_m z / (1 + |z|), where z
    are the centered scores of model m, divided by their root mean square so far. q_m is proportional to exp(-RATE R_m /
    W), where R_m is the ranking loss of the model: in each round its scores are compared with those of some recent
    rounds of other labels, and its loss is the fraction of pairs in the wrong order, times the weight of the example.
    The score of the label of either round must be higher in that round, and both count half. W is the largest weight
    (see `Hedge`). Where one half of the labels is rare, all rounds of the other are compared with the same few: they
    count n_rare / n_frequent, so that a model is charged by how many rare examples there were. Sleeping models have no
    share, and their ranking loss is the mean of the others.

    The scores are changed as little as possible if their best class is not that of the votes.
    """

    def __init__(self, Py_ssize_t n, Py_ssize_t width):
        cdef Py_ssize_t padded = votes_padded(n), size = 2 * KEPT * (1 + n * width) if width > 1 else 0
        self.n, self.padded, self.width = n, padded, width
        self.odds = Odds(n) if width == 1 else None
        self.owners = np.zeros((4, padded)), zeros(size), zeros(width)
        self.squares = <double*>address(self.owners[0], "d", 4 * padded, writable=True)
        self.owners[0][1, n:] = np.inf  # padding has no share
        self.ranks, self.losses = self.squares + padded, self.squares + 2 * padded
        self.shares = self.squares + 3 * padded
        self.recent = <double*>address(self.owners[1], "d", self.owners[1].size, writable=True)
        self.grades = <double*>address(self.owners[2], "d", width, writable=True)

    def kept_rounds(self):
        """Return the rounds kept for comparisons."""
        return self.owners[1].reshape(2 * KEPT, 1 + self.n * self.width)

    def state(self):
        """Return the sums of squared scores, and the state of `Odds`, or ranking losses and the rounds kept to compare.

        The number of squared scores follows their sums; the numbers of rounds, and of those kept for even and odd
        labels, follow the ranking losses.
        """
        squares, ranks = self.owners[0][:2, :self.n]
        sums = {"squares": np.append(squares, self.count)}
        if self.odds is not None:
            return sums | self.odds.state()
        return sums | {
            "ranks": np.append(ranks, [self.rounds, self.kept[0], self.kept[1]]),
            "recent": self.kept_rounds(),
        }

    def __setstate__(self, state):
        squares = np.zeros(self.n + 1)
        if "squares" in state:
            fill(squares, state, "squares", least=0)
        self.owners[0][0, :self.n], self.count = squares[:self.n], squares[self.n]
        if self.odds is None:
            self.restore_ranks(state)
        else:
            self.odds.restore(state)

    def restore_ranks(self, state):
        """Set the ranking losses and the rounds kept for comparisons."""
        ranks, recent = np.zeros(self.n + 3), self.kept_rounds()
        recent[...] = 0
        if "ranks" in state:
            fill(ranks, state, "ranks")
            # Rounds with fewer classes or other models cannot be compared.
            if "recent" in state and np.shape(state["recent"]) == recent.shape:
                fill(recent, state, "recent")
                if not (0 <= recent[:, 0].min() and recent[:, 0].max() <= self.width):
                    raise ValueError(f"recent must have numbers of labels up to {self.width}")
        else:  # two classes before: shares are the cubes of the vote weights
            ranks[:self.n] = -3 * np.log(np.maximum(state["weights"], 1e-100)) / RATE
        self.owners[0][1, :self.n] = ranks[:self.n]
        self.rounds, self.kept[0], self.kept[1] = np.clip(np.nan_to_num(ranks[self.n:]), 0, 2**53)
        self.stale = True

    def trace(self, scores, awake, shares, double heaviest, bint blends):
        """Return the graded scores, given the traced scores of the models that are awake, and the shares of votes."""
        n, squares = len(awake), self.owners[0][0, awake]
        known = squares > 0
        units = np.sqrt(np.where(known, squares, 1) / max(self.count, 1))
        if self.odds is not None:
            votes = ((scores >= 0.0).where(1.0, -1.0) * shares).sum(1, keep=True)
            if self.count == 0:
                return votes
            if blends:
                votes = (scores / (scores.abs() + units) * (shares * known)).sum(1, keep=True)
            odds = self.odds.trace(scores, awake, units, known, self.count, heaviest)
            little = (odds.abs() * -1.0).exp() * LITTLE
            changed = (odds >= 0.0).where(little * -1.0, little)
            agrees = (odds >= 0.0).apply("Equal", votes >= 0.0)
            return agrees.where(odds, changed)
        shape = 0, n, self.width
        scores = scores.reshape(*shape)
        best = scores.reshape(-1, self.width).one_hot(self.width).numbers().reshape(-1, *shape[1:])
        votes = (best * shares[:, None]).sum(1)
        if self.count == 0:
            return votes
        z = (scores - scores.sum(2, keep=True) / self.width) / units[:, None] * known[:, None]
        scaled = z / (z.abs() + 1.0)
        if blends:
            votes = (scaled * shares[:, None]).sum(1)
        self.refresh(heaviest)
        own = self.owners[0][3, awake]
        grades = (scaled * (own / own.sum())[:, None]).sum(1)
        best = votes.one_hot(self.width)
        most = best.where(-np.inf, grades).max(1, keep=True)
        return best.where(grades.apply("Max", most + votes * LITTLE), grades)

    cdef double mean_of(self, const double* s) noexcept nogil:
        """Return the mean of the scores of one model."""
        cdef Py_ssize_t c
        cdef double sum = 0
        for c in range(self.width):
            sum += s[c]
        return sum / self.width

    cdef void observe(self, const Round* r, const double* s, const double* awake, bint all_awake,
                      double heaviest) noexcept nogil:
        """Learn from the scores of all models in a round, and its label; `heaviest` is the largest weight before."""
        if self.odds is None:
            self.take_units(s, awake)
            self.judge(r, s, awake)
            return
        if r.n_y == 1:
            self.odds.observe(s, awake, all_awake, self.squares, self.count, r.y[0], r.weight, heaviest)
        self.take_units(s, awake)

    cdef void judge(self, const Round* r, const double* s, const double* awake) noexcept nogil:
        """Add the ranking losses of a round."""
        cdef Py_ssize_t seen = <Py_ssize_t>self.rounds, label = <Py_ssize_t>r.y[0], pairs
        cdef double counts
        self.rounds += 1
        if seen >= THOROUGH and seen & 48:
            return
        if r.n_y != 1 or not 0 <= label < self.width:
            return
        pairs = self.compare(s, label)
        if pairs > 0:
            counts = (1 if seen < THOROUGH else 4) * self.rarity(label) * r.weight
            votes_of.rank(self.losses, awake, counts / pairs, self.padded, self.ranks)
        self.keep(s, label)
        self.stale = True

    cdef double rarity(self, Py_ssize_t label) noexcept nogil:
        """How many rounds of the other half of the labels there were per round of this half, or 1 if they were more."""
        cdef double own = self.kept[label % 2], others = self.kept[1 - label % 2]
        return others / own if 0 < others < own else 1

    cdef void take_units(self, const double* s, const double* awake) noexcept nogil:
        """Add the squared scores of each model to the sums, and count them.

        They are clipped at 100 times the usual size. For sleeping models, the usual
        size is added.
        """
        cdef Py_ssize_t m, c
        cdef double mean, z, most, share = 1e4 / self.count if self.count > 0 else 0
        cdef double growth = 1 + self.width / self.count if self.count > 0 else 1
        self.count += self.width
        if self.width == 1:
            votes_of.units(s, awake, share, growth, self.padded, self.squares)
            return
        for m in range(self.n):
            if awake[m] == 0:
                self.squares[m] = finite(self.squares[m] * growth)
                continue
            mean = self.mean_of(s + m * self.width)
            most = share * self.squares[m] if self.squares[m] > 0 else INFINITY
            for c in range(self.width):
                z = s[m * self.width + c] - mean
                self.squares[m] = finite(self.squares[m] + min(z * z, most))

    cdef Py_ssize_t compare(self, const double* s, Py_ssize_t label) noexcept nogil:
        """Set the losses, 2 per pair in the wrong order and 1 per tie; return the number of pairs."""
        cdef Py_ssize_t i, m, other, pairs = 0, size = 1 + self.n * self.width
        cdef const double* row
        cdef double ahead
        memset(self.losses, 0, self.padded * sizeof(double))
        for i in range(2 * KEPT):
            row = self.recent + i * size
            other = <Py_ssize_t>row[0] - 1
            if other < 0 or other == label or other >= self.width:
                continue
            pairs += 2
            row += 1
            for m in range(self.n):
                ahead = s[m * self.width + label] - row[m * self.width + label]
                self.losses[m] += (ahead < 0) + 0.5 * (ahead == 0)
                ahead = row[m * self.width + other] - s[m * self.width + other]
                self.losses[m] += (ahead < 0) + 0.5 * (ahead == 0)
        return pairs

    cdef void keep(self, const double* s, Py_ssize_t label) noexcept nogil:
        """Keep this round for comparisons, in place of the oldest one with an even or odd label like its own."""
        cdef Py_ssize_t half = label % 2, i, size = self.n * self.width
        cdef double* row = self.recent + (half * KEPT + <Py_ssize_t>self.kept[half] % KEPT) * (1 + size)
        row[0] = label + 1
        for i in range(size):
            row[1 + i] = finite(s[i])
        self.kept[half] += 1

    cdef void refresh(self, double heaviest) noexcept nogil:
        """Set the shares of the models."""
        cdef double rate = RATE / heaviest if heaviest > 0 else RATE
        cdef double least = self.ranks[votes_of.least(self.ranks, self.padded)]
        cdef Py_ssize_t m
        for m in range(self.padded):
            self.shares[m] = 1
        votes_of.weigh(self.ranks, least, rate, 1, 0, self.n, self.padded, self.shares)
        self.stale, self.heaviest = False, heaviest

    cdef bint blend(self, const double* s, const double* awake, const double* v, double* out) noexcept nogil:
        """Set the mean of the scaled scores z / (1 + |z|), weighted like votes; return whether units are known."""
        cdef Py_ssize_t m, c
        cdef double mean, unit, z
        if self.count == 0:
            return False
        if self.width == 1:
            out[0] = votes_of.grade(s, awake, v, self.squares, self.count, self.padded)
            return True
        memset(out, 0, self.width * sizeof(double))
        for m in range(self.n):
            if v[m] == 0 or self.squares[m] == 0:
                continue
            unit = sqrt(self.count / self.squares[m])
            mean = self.mean_of(s + m * self.width)
            for c in range(self.width):
                z = in_units(s[m * self.width + c] - mean, unit)
                out[c] += v[m] * (z / (1 + fabs(z)))
        return True

    cdef void grade(self, const double* s, const double* awake, double heaviest, double* votes) noexcept nogil:
        """Replace votes by graded scores; the class with the most votes stays the best.

        `heaviest` is the largest weight of the examples.
        """
        cdef Py_ssize_t m, c, best = 0
        cdef double mean, unit, z, share, sum = 0, top = -INFINITY
        if self.count == 0:
            return  # there are no units of scores yet
        if self.odds is not None:
            top = self.odds.pooled(s, awake, self.squares, self.count, heaviest)
            if (top >= 0) != (votes[0] >= 0):  # in the order of the odds on both sides of 0
                top = copysign(LITTLE * exp(-fabs(top)), -top)
            votes[0] = top
            return
        if self.stale or self.heaviest != heaviest:
            self.refresh(heaviest)
        memset(self.grades, 0, self.width * sizeof(double))
        for m in range(self.n):
            sum += awake[m] * self.shares[m]
        for m in range(self.n):
            if awake[m] == 0:
                continue
            share = self.shares[m] / sum
            unit = sqrt(self.count / self.squares[m]) if self.squares[m] > 0 else 0
            mean = self.mean_of(s + m * self.width)
            for c in range(self.width):
                z = in_units(s[m * self.width + c] - mean, unit)
                self.grades[c] += share * z / (1 + fabs(z))
        for c in range(1, self.width):
            best = c if votes[c] > votes[best] else best
        for c in range(self.width):
            top = max(top, self.grades[c]) if c != best else top
        self.grades[best] = max(self.grades[best], top + LITTLE * votes[best])
        memcpy(votes, self.grades, self.width * sizeof(double))
