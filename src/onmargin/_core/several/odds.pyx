"""Log odds of two classes, from the scores of several models."""

import numpy as np

from onmargin._core.restore import fill

from libc.math cimport exp, fabs, fmax, fmin, log, log1p, sqrt

from onmargin._core.rows cimport address
from onmargin._core.several.votes cimport Calibrations, Votes, votes_for, votes_padded

cdef const Votes* votes_of = votes_for()

# Number of first rounds that are all used; afterwards 16 of each 64 are.
cdef double THOROUGH = 4096


cdef inline double used(double rounds) noexcept nogil:
    """Return how many of these rounds were used."""
    cdef double more = max(rounds - THOROUGH, 0), last = more % 64
    return rounds - more + (more - last) / 4 + fmin(last, 16)


cdef class Odds:
    """The log odds of the second of two classes: ln(P / (1 - P)) with P = sum_m q_m p_m.

    p_m = 1 / (1 + exp(-f_m)) is the calibrated probability of model m. f_m = a_m x_m + b_m, where x_m is its score in
    units of the root mean square so far, clipped to 10. In each round, with z = (x_m, 1) and y = 0 or 1,

        H_m += max(p_m (1 - p_m), 0.001) z z',    (a_m, b_m) += H_m^-1 z (y - p_m),

    both times the weight of the example over the largest one, W; they start with the identity and with (1, 0).

    q_m is proportional to exp(-eta L_m / W), where L_m is the total log loss of p_m, times the weights of the examples,
    and eta = min(1, sqrt(2 ln(M) / n)) after n rounds. To save time, n counts only the rounds that are used (see
    THOROUGH), and all losses are those of these rounds. Sleeping models have no share, and are charged the log loss of
    P. Where all examples have the same weight, the total log loss of P is at most

        L_m + ln(M) / eta = L_m + max(ln(M), sqrt(n ln(M) / 2))

    for every m, with the log losses in units of the weight, and so is the one in the rounds in which m was awake.
    Proof: With eta <= 1, P = <q, p> is at least <q, p^eta>^(1 / eta). So the log loss of P is at most -ln(<q,
    exp(-eta l)>) / eta, whose sum over the rounds is at most L_m + ln(M) / eta for rates that do not rise. A model that
    is charged -ln(P) changes neither side.

    With a rare class, the mistakes of most models are nearly the same; log losses tell apart how well they rank.
    """

    def __init__(self, Py_ssize_t n):
        cdef Py_ssize_t padded = votes_padded(n)
        self.n, self.padded, self.most = n, padded, log(n)
        self.owner = np.zeros((7, padded))
        cdef double* first = <double*>address(self.owner, "d", 7 * padded, writable=True)
        self.of = Calibrations(
            first, first + padded, first + 2 * padded, first + 3 * padded, first + 4 * padded, first + 5 * padded,
            first + 6 * padded,
        )
        self.owner[[0, 2, 4]] = 1
        self.owner[5, n:] = np.inf  # padding has no share
        self.stale = True

    def state(self):
        """Return H (a, b), H and the log losses of all models, minus their start: sums over the rounds.

        After mixing such sums, (a, b) follows from them; otherwise it is restored bit for bit.
        """
        slope, offset, h00, h01, h11, losses, _ = self.owner[:, :self.n]
        return {
            "odds": np.array(
                [h00 * slope + h01 * offset - 1, h01 * slope + h11 * offset, h00 - 1, h01, h11 - 1, losses]
            ),
            "lines": np.array([slope, offset]),
        }

    def restore(self, state):
        """Set the state."""
        found = np.zeros((6, self.n))
        fill(found, state, "odds")
        found[[0, 2, 4]] += 1
        first, second, h00, h01, h11, losses = found
        determinant = h00 * h11 - h01**2
        if not (np.isfinite(found).all() and (h00 > 0).all() and (determinant > 0).all()):
            raise ValueError("odds must be finite, with a positive definite matrix per model")
        lines = np.array([h11 * first - h01 * second, h00 * second - h01 * first]) / determinant
        if "lines" in state:
            fill(lines, state, "lines")
            if not np.isfinite(lines).all():
                raise ValueError("lines must be finite")
        self.owner[:6, :self.n] = *lines, h00, h01, h11, losses
        self.stale = True

    cdef double rate(self, double rounds, double heaviest) noexcept nogil:
        if heaviest == 0:
            return 0
        return (fmin(1, sqrt(2 * self.most / used(rounds))) if rounds > 0 else 1) / heaviest

    cdef void refresh(self, double rounds, double heaviest) noexcept nogil:
        """Set the shares of the models."""
        cdef Py_ssize_t m
        cdef double rate = self.rate(rounds, heaviest)
        if not self.stale and self.last_rate == rate:
            return
        for m in range(self.padded):
            self.of.shares[m] = 1
        votes_of.weigh(
            self.of.losses, self.of.losses[votes_of.least(self.of.losses, self.padded)], rate, 1, 0, self.n,
            self.padded, self.of.shares,
        )
        self.stale, self.last_rate = False, rate

    cdef double pooled(self, const double* s, const double* awake, const double* squares, double rounds,
                       double heaviest) noexcept nogil:
        """Return the log odds after so many rounds. `heaviest` is the largest weight of the examples."""
        self.refresh(rounds, heaviest)
        return votes_of.pool(&self.of, s, awake, squares, rounds, self.padded)

    def trace(self, scores, awake, units, known, double rounds, double heaviest):
        """Return the log odds, given the traced scores of the models that are awake, and their units."""
        self.refresh(rounds, heaviest)
        slope, offset, shares = self.owner[[0, 1, 6]][:, awake]
        x = (scores / units * known).clip(-10.0, 10.0)
        f = (x * slope + offset).clip(-30.0, 30.0)
        likely, unlikely = (((f * sign).exp() + 1.0) for sign in (-1.0, 1.0))
        with_, against = ((likely.apply("Reciprocal") * shares).sum(1, keep=True) for likely in (likely, unlikely))
        return (with_ / against).log()

    cdef void observe(self, const double* s, const double* awake, bint all_awake, const double* squares,
                      double rounds, double y, double weight, double heaviest) noexcept nogil:
        """Learn from the scores of all models in a round, and its label, -1 or 1."""
        cdef double odds, charge = 0
        if not weight > 0 or (rounds >= THOROUGH and <Py_ssize_t>rounds & 48):
            return
        if not all_awake:
            odds = y * self.pooled(s, awake, squares, rounds, heaviest)
            charge = weight * (log1p(exp(-fabs(odds))) + fmax(-odds, 0))
        votes_of.calibrate(
            &self.of, s, awake, squares, rounds, y, weight / fmax(weight, heaviest), weight, charge, self.padded
        )
        self.stale = True
