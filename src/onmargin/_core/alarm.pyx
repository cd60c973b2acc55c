"""Change detection: a window of the latest losses whose mean has not changed (ADWIN)."""

import numpy as np

from libc.math cimport fabs, log, sqrt
from libc.string cimport memmove

from onmargin._core.rows cimport address


# Bucket sizes are 1, 2, 4, ...; this many cover any stream.
cdef enum:
    SIZES = 60


cdef struct Bucket:
    double sum
    double squares


cdef struct Cut:
    Py_ssize_t older  # number of older buckets of this size; 0 if there are none
    double change


cdef class AdaptiveWindow:
    """A window W of losses in [0, 1], cut where its mean has changed ([ADWIN], the algorithm ADWIN2).

    The losses are stored in buckets of 2^k losses, older ones larger, at most `buckets` per size: O(log |W|) memory
    and time per loss. After each loss, W is cut between two buckets into the older part W0 and W1 if

        |mean(W0) - mean(W1)| > sqrt(2/m var(W) ln(2/d)) + 2/(3m) ln(2/d),

    1/m = 1/|W0| + 1/|W1| and d = delta / max(1, ln |W|), which accounts for all cuts that are tried. W1 is
    kept and examined again. Deviation: the paper drops one bucket after the other until no such cut is left, and so
    reports one change many times; here W is cut where the difference exceeds the threshold by the largest factor.
    """

    cdef readonly double delta
    cdef readonly Py_ssize_t buckets, width
    cdef Py_ssize_t sizes             # number of bucket sizes in use
    cdef tuple owners
    cdef Bucket* held                 # buckets by size, oldest first, with room for one more than the limit
    cdef Py_ssize_t* counts

    def __init__(self, double delta, Py_ssize_t buckets):
        self.delta = delta
        self.buckets = buckets
        self.owners = np.zeros((SIZES, buckets + 1, 2)), np.zeros(SIZES, np.intp)
        self.held = <Bucket*>address(self.owners[0], "d", self.owners[0].size, writable=True)
        self.counts = <Py_ssize_t*>address(self.owners[1], "lq", SIZES, writable=True)

    def __reduce__(self):
        return type(self), (self.delta, self.buckets), {"held": self.owners[0], "counts": self.owners[1]}

    def __setstate__(self, state):
        self.owners[0][:], self.owners[1][:] = state["held"], state["counts"]
        self.sizes = max(np.flatnonzero(self.owners[1]) + 1, default=0)
        self.width = int((self.owners[1] << np.arange(SIZES)).sum())

    @property
    def mean(self):
        """The mean of the losses in the window."""
        return self.whole().sum / self.width if self.width else np.nan

    def update(self, double loss):
        """Add a loss; return mean(W1) - mean(W0) of the first cut, or 0 if the window was not cut."""
        self.add(loss)
        cdef Cut first = self.best_cut(), cut = first
        while cut.older > 0:
            while cut.older > 0:
                self.drop()
                cut.older -= 1
            cut = self.best_cut()
        return first.change

    cdef Bucket whole(self) noexcept nogil:
        cdef Bucket all
        cdef Py_ssize_t k, i
        all.sum = all.squares = 0
        for k in range(self.sizes):
            for i in range(self.counts[k]):
                all.sum += self.of_size(k)[i].sum
                all.squares += self.of_size(k)[i].squares
        return all

    cdef inline Bucket* of_size(self, Py_ssize_t k) noexcept nogil:
        return self.held + k * (self.buckets + 1)

    cdef void add(self, double loss) noexcept nogil:
        """Add a bucket with one loss; merge the two oldest of a size where there are too many."""
        cdef Bucket new
        cdef Bucket* same
        cdef Py_ssize_t k = 0
        new.sum, new.squares = loss, loss * loss
        while True:
            same = self.of_size(k)
            same[self.counts[k]] = new
            self.counts[k] += 1
            self.sizes = max(self.sizes, k + 1)
            if self.counts[k] <= self.buckets:
                break
            new.sum, new.squares = same[0].sum + same[1].sum, same[0].squares + same[1].squares
            self.counts[k] -= 2
            memmove(same, same + 2, self.counts[k] * sizeof(Bucket))
            k += 1
        self.width += 1

    cdef void drop(self) noexcept nogil:
        """Forget the oldest bucket."""
        cdef Py_ssize_t k = self.sizes - 1
        self.counts[k] -= 1
        memmove(self.of_size(k), self.of_size(k) + 1, self.counts[k] * sizeof(Bucket))
        self.width -= <Py_ssize_t>1 << k
        while self.sizes > 0 and self.counts[self.sizes - 1] == 0:
            self.sizes -= 1

    cdef Cut best_cut(self) noexcept nogil:
        """Return the cut whose means differ by the largest multiple of the threshold."""
        cdef Bucket all = self.whole()
        cdef Cut best
        cdef double n = self.width, n0 = 0, sum = 0, change, inverse, threshold, factor = 1
        cdef double variance = max(all.squares / n - (all.sum / n) * (all.sum / n), 0)
        cdef double sure = log(2 * max(1, log(n)) / self.delta)
        cdef Py_ssize_t k, i, older = 0
        best.older, best.change = 0, 0
        for k in range(self.sizes - 1, -1, -1):
            for i in range(self.counts[k]):
                older += 1
                n0 += <Py_ssize_t>1 << k
                sum += self.of_size(k)[i].sum
                if n0 == n:
                    return best
                inverse = 1 / n0 + 1 / (n - n0)
                change = (all.sum - sum) / (n - n0) - sum / n0
                threshold = sqrt(2 * inverse * variance * sure) + 2 * inverse * sure / 3
                if fabs(change) > factor * threshold:
                    factor = fabs(change) / threshold
                    best.older, best.change = older, change
        return best
