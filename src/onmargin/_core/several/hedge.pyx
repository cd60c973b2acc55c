"""Losses of several models and the weights of their votes (AdaHedge)."""

import numpy as np

from onmargin._core.restore import fill

from libc.math cimport INFINITY, exp, expm1, log, log1p
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memset

from onmargin._core.round cimport finite
from onmargin._core.rows cimport address
from onmargin._core.several.task_list cimport COST, LOSS, MISTAKE, Outcome

# Models sleep while the sum of the weights that they could have is below this.
cdef double NEGLIGIBLE_WEIGHT = 0.01
# Number of first rounds in which no model sleeps.
cdef double FIRST_ROUNDS = 1024
# Rounds that a model must be awake before it may fall asleep, and the longest sleep.
cdef double MIN_AWAKE = 64, MAX_ASLEEP = 448
# A model falls asleep only if it is behind by the mean loss of the leader in this many rounds.
cdef double MIN_BEHIND = 500
# Names of the losses that models can be compared by.
JUDGED = {"mistake": MISTAKE, "loss": LOSS, "cost": COST}


cdef inline double fallen(double eta, double loss) noexcept nogil:
    """Return exp(-eta loss), also for infinite eta; exponents that underflow give 0 without being computed."""
    return 1 if loss <= 0 else exp(-eta * loss) if eta * loss < 746 else 0


cdef inline double fall(double eta, double loss) noexcept nogil:
    """Return exp(-eta loss) - 1, exact for small losses, too."""
    return 0 if loss <= 0 else expm1(-eta * loss)


cdef class Hedge:
    """The outcomes of n models so far, and with `voting` the weight of each vote by AdaHedge ([ADAHEDGE]).

    p_m is proportional to exp(-eta L_m), where L_m is the total loss of model m, eta = min(ceiling / W, ln(M) / gap),
    and gap the sum so far of <p, l> + ln(<p, exp(-eta l)>) / eta, whose terms are not negative. As eta never rises,

        mixed = sum_t <p_t, l_t> <= min_m L_m + gap + ln(M) / eta,

    for any losses. `judged` selects the loss of a model: its mistakes, its loss or its cost, times the weight of the
    example. W is the largest weight of the rounds in which losses differed: if all weights are multiplied by a number,
    so are the losses and the bound, and the votes stay the same. M is `experts`, the number of models at first: if
    some were removed since, the bound holds for the others, as their potential only rose.

    With `groups`, one number per model, models may sleep: they neither vote nor learn for a while. A sleeping model is
    charged the mean loss of those that are awake, weighted by their votes, v ([SLEEPING]). With these charges for
    losses, the bound above holds, and as the mixed loss has the same terms, it implies for each model: in the rounds in
    which it was awake the votes lost at most gap + ln(M) / eta more than it did.

    A model falls asleep after MIN_AWAKE rounds in which its loss was at least that of the vote, if exp(-eta (L_m -
    L_leader)) is below NEGLIGIBLE_WEIGHT / M, and L_m - L_leader at least the mean loss of the leader in MIN_BEHIND
    rounds; but all models learn from the FIRST_ROUNDS. It sleeps as long as the first condition holds with its loss
    when it fell asleep in place of L_m: even without any further loss, its weight would have been negligible in each of
    these rounds. So it wakes sooner if the leader loses more; and it sleeps at most MAX_ASLEEP rounds, so that one that
    learns slowly, and may be the best in the end, learns from at least one example of MAX_ASLEEP / MIN_AWAKE + 1.
    Models of one group, whose weights are next to each other in memory, sleep and wake together.
    """

    def __init__(self, Py_ssize_t n, *, bint voting, judged="mistake", double ceiling=INFINITY, Py_ssize_t experts=0,
                 groups=None):
        self.n, self.voting, self.ceiling = n, voting, ceiling
        self.judged = JUDGED[judged]
        self.experts = max(experts, n)
        self.log_experts = log(self.experts)
        self.owners = (
            np.zeros((2, n, 4)), np.full(n, 1.0 / n), np.full(n, 1.0 / n), np.zeros((7, n)), np.zeros(n, np.uint8),
            np.zeros(n),
        )
        self.total = <Outcome*>address(self.owners[0], "d", 8 * n, writable=True)
        self.now = self.total + n
        self.p = <double*>address(self.owners[1], "d", n, writable=True)
        self.v = <double*>address(self.owners[2], "d", n, writable=True)
        self.charged = <double*>address(self.owners[3], "d", 7 * n, writable=True)
        self.slept, self.before = self.charged + n, self.charged + 2 * n
        self.since, self.behind = self.charged + 3 * n, self.charged + 4 * n
        self.asleep = <uint8_t*>address(self.owners[4], "B", n, writable=True)
        self.weighted = <double*>address(self.owners[5], "d", n, writable=True)
        if groups is not None:
            if np.shape(groups) != (n,):
                raise ValueError(f"groups must be one number per model, {n}; got shape {np.shape(groups)}")
            numbers = {}
            self.groups = np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.intp)
            self.group = <Py_ssize_t*>address(self.groups, "lq", n)

    @property
    def weights(self):
        """The weights of the votes."""
        return self.owners[2]

    @property
    def sleeping(self):
        """Which models sleep."""
        return self.owners[4].astype(bool)

    @property
    def naps(self):
        """The charged loss of each model for the rounds it slept, and their number."""
        return self.owners[3][:2]

    def outcomes(self, Py_ssize_t which):
        """Return one of the outcomes so far, per model, in which all examples count the same."""
        return self.owners[0][0, :, which]

    def losses(self):
        """The total loss of each model so far, with the weights of the examples, including charges."""
        return self.owners[5] + self.owners[3][0]

    def state(self):
        """Return outcomes, weighted losses and weights of the models, gap, mixed loss, and the state of sleep."""
        state = {
            "outcomes": self.owners[0][0, :, :3], "weights": self.owners[1], "gap": self.gap, "mixed": self.mixed,
            "weighted": self.owners[5], "heaviest": self.heaviest,
        }
        if self.groups is not None or self.owners[3][1].any():
            self.owners[3][5], self.owners[3][6] = self.owners[4], self.rounds
            state["naps"] = self.owners[3]
        return state

    def __setstate__(self, state):
        fill(self.owners[0][0, :, :3], state, "outcomes")
        fill(self.owners[1], state, "weights")
        self.gap, self.mixed = state["gap"], state["mixed"]
        self.heaviest = state.get("heaviest", 1.0)
        if "weighted" in state:
            fill(self.owners[5], state, "weighted")
        else:  # a file of an earlier version, in which all mistakes counted the same
            self.owners[5][...] = self.outcomes(self.judged)
        self.owners[3][...] = 0
        if "naps" in state:
            fill(self.owners[3], state, "naps")
        if self.groups is None:
            self.owners[3][2:6] = 0
        self.owners[4][...] = self.owners[3][5] > 0
        self.rounds = self.owners[3][6, 0]
        self.leader = self.best()
        if self.asleep[self.leader]:
            raise ValueError("naps must leave the model with the smallest loss awake")
        self.share()

    def regret_bound(self):
        """The bound on the weighted loss minus that of the best model: gap + ln(M) / eta."""
        return self.gap + (self.log_experts / self.rate() if self.experts > 1 else 0)

    cdef void restart(self) noexcept nogil:
        """Reset the outcomes so far, which are the same for all models."""
        memset(self.total, 0, 2 * self.n * sizeof(Outcome))  # also those of the round
        memset(self.weighted, 0, self.n * sizeof(double))
        self.mixed = self.rounds = 0

    cdef Py_ssize_t best(self) noexcept nogil:
        """Return the model with the smallest loss; a sleeping model never has it."""
        cdef Py_ssize_t m, best = 0
        for m in range(1, self.n):
            if self.lost(m) < self.lost(best):
                best = m
        return best

    cdef double rate(self) noexcept nogil:
        cdef double ceiling = self.ceiling / self.heaviest if self.heaviest > 0 else self.ceiling
        return min(ceiling, self.log_experts / self.gap) if self.gap > 0 else ceiling

    cdef void weigh(self, double weight) noexcept nogil:
        """Add the losses of a round with an example of this weight, and update the weights of the votes."""
        cdef double low = INFINITY, high = 0, expected = 0, loss
        cdef Py_ssize_t m
        self.weight = weight
        for m in range(self.n):
            if self.asleep[m]:
                continue
            self.now[m].loss = finite(self.now[m].loss)
            self.now[m].squared_loss = finite(self.now[m].squared_loss)
            loss = self.lost_now(m)
            high = max(high, loss)
            if self.v[m] > 0:
                low = min(low, loss)
                expected = finite(expected + self.v[m] * loss)
            self.total[m].mistake += self.now[m].mistake
            self.total[m].loss = finite(self.total[m].loss + self.now[m].loss)
            self.total[m].squared_loss = finite(self.total[m].squared_loss + self.now[m].squared_loss)
            self.total[m].cost = finite(self.total[m].cost + self.now[m].cost)
            self.weighted[m] = finite(self.weighted[m] + loss)
        self.mixed = finite(self.mixed + expected)
        self.rounds += 1
        for m in range(self.n):
            self.since[m] += 1
            if self.asleep[m]:
                self.charged[m] = finite(self.charged[m] + expected)
                self.slept[m] += 1
            else:
                self.behind[m] = finite(self.behind[m] + self.lost_now(m) - expected)
        if low < high:  # if all losses are equal, nothing changes
            self.leader = self.best()
            if self.voting:
                self.reweigh(low, expected)
        self.changed = False
        if self.group != NULL and self.voting and self.rounds >= FIRST_ROUNDS:
            self.look()

    cdef void reweigh(self, double low, double expected) noexcept nogil:
        """Set gap and weights after a round with the smallest loss `low` and the weighted mean loss `expected`."""
        cdef double eta, least, sum = 0
        cdef Py_ssize_t m
        if self.heaviest == 0:  # so far all losses were equal: the bound holds for any rate
            self.heaviest = self.weight
        eta = self.rate()
        if eta < INFINITY:
            self.gap = finite(self.gap + max(expected - low + self.log_mean(eta, low, expected) / eta, 0))
        else:
            self.gap = finite(self.gap + max(expected - low, 0))
        self.heaviest = max(self.heaviest, self.weight)
        least, eta = self.lost(self.leader), self.rate()
        for m in range(self.n):
            self.p[m] = fallen(eta, self.lost(m) - least)
            sum += self.p[m]
        for m in range(self.n):
            self.p[m] /= sum
        self.share()

    cdef double log_mean(self, double eta, double low, double expected) noexcept nogil:
        """Return ln <p, exp(-eta (l - low))>, exact both near 0 and far below."""
        cdef double shrunk = 0, left = 0, loss, last = low, fell = 0
        cdef Py_ssize_t m
        for m in range(self.n):
            loss = expected if self.asleep[m] else self.lost_now(m)
            if loss != last:  # mistakes have few values
                last, fell = loss, fall(eta, loss - low)
            shrunk += self.p[m] * fell
        if shrunk > -0.5:
            return log1p(shrunk)
        for m in range(self.n):
            left += self.p[m] * fallen(eta, (expected if self.asleep[m] else self.lost_now(m)) - low)
        return log(left)

    cdef void share(self) noexcept nogil:
        """Set the weights of the votes, those of the awake models with a sum of 1."""
        cdef double sum = 0
        cdef Py_ssize_t m, awake = 0
        memcpy(self.v, self.p, self.n * sizeof(double))
        for m in range(self.n):
            if self.asleep[m]:
                self.v[m] = 0
            else:
                sum += self.v[m]
                awake += 1
        if awake < self.n and sum > 0:
            for m in range(self.n):
                self.v[m] /= sum

    cdef bint far_behind(self, double lost) noexcept nogil:
        """Return whether a model with this loss has a negligible weight."""
        return fallen(self.rate(), lost - self.lost(self.leader)) * self.experts < NEGLIGIBLE_WEIGHT

    cdef void look(self) noexcept nogil:
        """Wake models that may matter, and put models to sleep that cannot."""
        cdef Py_ssize_t first = 0, end, m
        cdef double least = self.lost(self.leader)
        cdef bint asleep
        while first < self.n:
            end = first + 1
            while end < self.n and self.group[end] == self.group[first]:
                end += 1
            asleep = True
            if self.asleep[first]:
                for m in range(first, end):
                    asleep = asleep and self.since[m] < MAX_ASLEEP and self.far_behind(self.before[m])
                if not asleep:
                    self.send(first, end, False)
            elif self.since[first] >= MIN_AWAKE:
                for m in range(first, end):
                    asleep = asleep and self.behind[m] >= 0 and self.far_behind(self.lost(m)) \
                        and self.lost(m) - least >= MIN_BEHIND * least / self.rounds
                self.send(first, end, asleep)
            first = end
        if self.changed:
            self.share()

    cdef void send(self, Py_ssize_t first, Py_ssize_t end, bint asleep) noexcept nogil:
        """Put a group to sleep or wake it up, and restart its counters."""
        cdef Py_ssize_t m
        self.changed |= self.asleep[first] != asleep
        for m in range(first, end):
            self.asleep[m] = asleep
            self.before[m] = self.lost(m) if asleep else 0
            self.since[m] = self.behind[m] = 0
