"""Losses of several models and the weights of their votes (AdaHedge)."""

import numpy as np

from onmargin._core.restore import fill, number

from libc.float cimport DBL_MIN
from libc.math cimport INFINITY, exp, expm1, log, log1p
from libc.string cimport memcpy, memset

from onmargin._core.round cimport finite
from onmargin._core.rows cimport address
from onmargin._core.several.votes cimport OUTCOMES, SleepCounts, Spread, Votes, votes_for, votes_padded

cdef const Votes* votes = votes_for()

# All models share a part of the weights equally: 1 / (FIRST_SHARE + n) in the n-th round with shares. It is so small
# that the weight of a model that is far behind is negligible.
cdef double FIRST_SHARE = 100_000
# Models sleep while the sum of the weights that they could have is below this.
cdef double NEGLIGIBLE_WEIGHT = 0.01
# Weights of a file may sum to 1 up to rounding.
cdef double MOST_WEIGHT = 1 + 1e-9
# Number of first rounds in which no model sleeps.
cdef double FIRST_ROUNDS = 1024
# Rounds that a model must be awake before it may fall asleep, and the longest sleep.
cdef double MIN_AWAKE = 64, MAX_ASLEEP = 448
# A model falls asleep only if it is behind by the mean loss of the leader in this many rounds.
cdef double MIN_BEHIND = 500
# The vote is getting worse if its mean loss in about the last RECENT rounds exceeds the one in about the last USUAL
# rounds by more than WORSE standard deviations.
cdef double RECENT = 16, USUAL = 512, WORSE = 3
# Names of the losses that models can be compared by.
JUDGED = {"mistake": MISTAKE, "loss": LOSS, "cost": COST}


cdef inline double decayed_weight(double eta, double loss) noexcept nogil:
    """Return exp(-eta loss), also for infinite eta; exponents that underflow give 0 without being computed."""
    return 1 if loss <= 0 else exp(-eta * loss) if eta * loss < 746 else 0


cdef inline double fall(double eta, double loss) noexcept nogil:
    """Return exp(-eta loss) - 1, exact for small losses, too."""
    return 0 if loss <= 0 else expm1(-eta * loss)


# The rows of `sleep_counts`: what each model was charged, and for how many rounds; its loss when it fell asleep, the
# rounds behind the vote and since the last change, whether it sleeps, and the rounds so far.
CHARGED, SLEPT, BEFORE, SINCE, BEHIND, ASLEEP, ROUNDS = range(7)


def all_awake(sleep_counts):
    """Return a copy in which all models are awake."""
    awake = sleep_counts.copy()
    awake[BEFORE:ROUNDS] = 0
    return awake


cdef class Hedge:
    """The outcomes of n models so far, and with `voting` the weight of each vote by AdaHedge ([ADAHEDGE]).

    The weights p start equal. In each round in which losses differ they are multiplied by exp(-eta l), where eta =
    min(ceiling / W, ln(M) / gap) and gap is the sum so far of <p, l> + ln(<p, exp(-eta l)>) / eta, whose terms are not
    negative. Where the rate falls from eta to eta', they are raised to the power eta' / eta: without shares, p_m would
    be proportional to exp(-eta L_m), with L_m the total loss of model m. Then all models get an equal share of a part
    a = 1 / (c + n) of the weights in the n-th such round, with c = FIRST_SHARE ([FIXED-SHARE]).

    For any losses and any sequence of models m_t with S segments, after N such rounds,

        mixed = sum_t <p_t, l_t> <= sum_t l_{t, m_t} + gap + (S ln(M) + (S - 1) ln(c + N) + ln(1 + N / c)) / eta.

    Proof: The mixed loss minus gap is the sum of -ln(<p, exp(-eta l)>) / eta, which is l_m plus the change of
    ln(p_m) / eta by the multiplication. So its excess over the sequence is what the rest adds to -ln(p_{m_t}) / eta,
    which starts with ln(M) / eta and is never negative. A smaller rate adds at most ln(M) (1 / eta' - 1 / eta), as the
    sum of the powers is at most M^(1 - eta' / eta). A share adds at most -ln(1 - a) / eta, and these sum to
    ln(1 + N / c) / eta at most; after it, no weight is below a / M, so that a new segment adds at most ln(M / a) / eta.

    `judged` selects the loss of a model: its mistakes, its loss or its cost, times the weight of the example. W is the
    largest weight of the rounds in which losses differed: if all weights are multiplied by a number, so are the losses
    and the bound, and the votes stay the same. M is `experts`, the number of models at first: if some were removed
    since, the bound holds for the others, as their weights only rose.

    With `groups`, one number per model, models may sleep: they neither vote nor learn for a while. A sleeping model is
    charged the mean loss of those that are awake, weighted by their votes, v ([SLEEPING]). With these charges for
    losses, the bound above holds, and as the mixed loss has the same terms, it holds without the rounds in which the
    model of the sequence slept: in the rounds in which a model was awake the votes lost at most
    gap + (ln(M) + ln(1 + N / c)) / eta more than it did.

    A model falls asleep after MIN_AWAKE rounds in which its loss was at least that of the vote, if p_m and exp(-eta
    (L_m - L_leader)), its weight without shares, are below NEGLIGIBLE_WEIGHT / M, and L_m - L_leader at least the mean
    loss of the leader in MIN_BEHIND rounds; but all models learn from the FIRST_ROUNDS. It sleeps as long as its weight
    without shares is that small with its loss when it fell asleep in place of L_m: even without any further loss, that
    weight would have been negligible in each of these rounds. So it wakes sooner if the leader loses more; and it
    sleeps at most MAX_ASLEEP rounds, so that one that learns slowly, and may be the best in the end, learns from at
    least one example of MAX_ASLEEP / MIN_AWAKE + 1. All models wake, and none falls asleep, while the vote is getting
    worse (see `is_worse`): the stream may have changed. Models of one group, whose weights are next to each other in
    memory, sleep and wake together.
    """

    def __init__(self, Py_ssize_t n, *, bint voting, judged="mistake", double ceiling=INFINITY, Py_ssize_t experts=0,
                 groups=None):
        self.n, self.voting, self.ceiling = n, voting, ceiling
        self.judged = JUDGED[judged]
        self.experts = max(experts, n)
        self.log_experts, self.log_negligible = log(self.experts), log(self.experts / NEGLIGIBLE_WEIGHT)
        cdef Py_ssize_t padded = votes_padded(n)
        self.padded = padded
        self.owners = (
            np.zeros((2, OUTCOMES, padded)), np.zeros((5, padded)), np.zeros((7, padded)), np.zeros(padded),
            np.zeros(4),
        )
        self.total = <double*>address(self.owners[0], "d", 2 * OUTCOMES * padded, writable=True)
        self.now = self.total + OUTCOMES * padded
        self.p = <double*>address(self.owners[1], "d", 5 * padded, writable=True)
        self.v, self.l, self.L = self.p + padded, self.p + 2 * padded, self.p + 3 * padded
        self.weighted = self.p + 4 * padded
        cdef double* charged = <double*>address(self.owners[2], "d", 7 * padded, writable=True)
        cdef double* awake = <double*>address(self.owners[3], "d", padded, writable=True)
        self.sleep = SleepCounts(
            awake, charged, charged + padded, charged + 2 * padded, charged + 3 * padded, charged + 4 * padded
        )
        self.trend = <double*>address(self.owners[4], "d", 4, writable=True)
        self.owners[1][:2, :n] = 1.0 / n
        self.owners[3][:n] = 1
        # Padding never leads, and is never due.
        self.owners[2][[0, 2], n:] = INFINITY
        self.owners[2][3, n:] = -INFINITY
        self.add_up()
        if groups is not None:
            if np.shape(groups) != (n,):
                raise ValueError(f"groups must be one number per model, {n}; got shape {np.shape(groups)}")
            numbers = {}
            self.groups = np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.intp)
            borders = np.flatnonzero(np.diff(self.groups, append=-1)) + 1
            self.ends = borders[np.searchsorted(borders, np.arange(n), side="right")].astype(np.intp)
            self.end = <Py_ssize_t*>address(self.ends, "lq", n)

    @property
    def weights(self):
        """The weights of the votes."""
        return self.owners[1][1, :self.n]

    @property
    def sleeping(self):
        """Which models sleep."""
        return self.owners[3][:self.n] == 0

    @property
    def sleep_counts(self):
        """The charged loss of each model for the rounds it slept, and their number."""
        return self.owners[2][:2, :self.n]

    def outcomes(self, Py_ssize_t which):
        """Return one of the outcomes so far, per model, in which all examples count the same."""
        return self.owners[0][0, which, :self.n]

    def losses(self):
        """The total loss of each model so far, with the weights of the examples, including charges."""
        return self.owners[1][4, :self.n] + self.sleep_counts[CHARGED]

    def state(self):
        """Return outcomes, weighted losses and weights of the models, gap, mixed loss, and the state of sleep."""
        outcomes, sleep_counts = self.owners[0][0, :COST, :self.n].T, self.owners[2][:, :self.n]
        state = {
            "outcomes": outcomes, "weights": self.owners[1][0, :self.n], "gap": self.gap, "mixed": self.mixed,
            "weighted": self.owners[1][4, :self.n], "heaviest": self.heaviest, "shares": self.shares,
        }
        if self.groups is not None or sleep_counts[SLEPT].any():
            sleep_counts[ASLEEP], sleep_counts[ROUNDS] = self.sleeping, self.rounds
            state["sleep_counts"], state["trend"] = sleep_counts, self.owners[4]
        return state

    def __setstate__(self, state):
        sleep_counts = self.owners[2][:, :self.n]
        fill(self.owners[0][0, :COST, :self.n].T, state, "outcomes")
        fill(self.owners[1][0, :self.n], state, "weights", least=0)
        if self.owners[1][0, :self.n].max(initial=0) > MOST_WEIGHT:
            raise ValueError("weights must be at most 1")
        # Without shares, where shards are mixed, weights may underflow.
        np.maximum(self.owners[1][0, :self.n], DBL_MIN, out=self.owners[1][0, :self.n])
        self.gap, self.mixed = number(state["gap"], "gap"), number(state["mixed"], "mixed")
        self.heaviest = number(state["heaviest"], "heaviest", least=0)
        self.shares = max(number(state["shares"], "shares"), 0.0)
        fill(self.owners[1][4, :self.n], state, "weighted")
        sleep_counts[...] = 0
        if "sleep_counts" in state:
            fill(sleep_counts, state, "sleep_counts")
        self.owners[4][:] = 0
        if "trend" in state:
            fill(self.owners[4], state, "trend")
            self.owners[4][3] = max(self.owners[4][3], 0)
        if self.groups is None:
            sleep_counts[BEFORE:ROUNDS] = 0
        self.owners[3][:self.n] = sleep_counts[ASLEEP] <= 0
        self.sleepers = self.sleeping.sum()
        self.rounds = sleep_counts[ROUNDS, 0]
        self.add_up()
        self.leader = votes.least(self.L, self.padded)
        if self.sleep.awake[self.leader] == 0:
            raise ValueError("sleep_counts must leave the model with the smallest loss awake")
        self.share()

    def regret_bound(self):
        """The bound on the weighted loss minus that of the best model."""
        cdef double shared = log1p(self.shares / FIRST_SHARE)
        return self.gap + ((self.log_experts + shared) / self.rate() if self.experts > 1 else 0)

    def switch_cost(self):
        """What the bound grows by for each segment more of a sequence of models."""
        return (self.log_experts + log(FIRST_SHARE + self.shares)) / self.rate() if self.experts > 1 else 0.0

    cdef void restart(self) noexcept nogil:
        """Reset the outcomes so far, which are the same for all models."""
        memset(self.total, 0, 2 * OUTCOMES * self.padded * sizeof(double))  # also those of the round
        memset(self.weighted, 0, self.padded * sizeof(double))
        memset(self.trend, 0, 4 * sizeof(double))
        self.mixed = self.rounds = 0
        self.add_up()

    cdef double rate(self) noexcept nogil:
        cdef double ceiling = self.ceiling / self.heaviest if self.heaviest > 0 else self.ceiling
        return min(ceiling, self.log_experts / self.gap) if self.gap > 0 else ceiling

    cdef void add_up(self) noexcept nogil:
        """Set the total losses with charges."""
        cdef Py_ssize_t m
        for m in range(self.padded):
            self.L[m] = self.weighted[m] + self.sleep.charged[m]

    cdef void weigh(self, double weight) noexcept nogil:
        """Add the losses of a round with an example of this weight, and update the weights of the votes."""
        cdef Spread round = votes.suffer(
            self.now, self.total, self.judged, weight, self.sleep.awake, self.v, self.padded, self.l
        )
        self.mixed = finite(self.mixed + round.expected)
        self.rounds += 1
        votes.charge(&self.sleep, round.expected, self.padded, self.l, self.weighted, self.L)
        if round.low < round.high:  # if all losses are equal, nothing changes
            self.leader = votes.least(self.L, self.padded)  # a sleeping model never has it
            if self.voting:
                self.reweigh(round.low, round.expected, weight)
        self.changed = False
        if self.end != NULL and self.voting:
            self.watch(round.expected)
            if self.rounds >= FIRST_ROUNDS:
                self.update_sleep()

    cdef void reweigh(self, double low, double expected, double weight) noexcept nogil:
        """Set gap and weights after a round with the smallest loss `low` and the weighted mean loss `expected`."""
        cdef double eta, then
        if self.heaviest == 0:  # so far all losses were equal: the bound holds for any rate
            self.heaviest = weight
        eta = self.rate()
        if eta < INFINITY:
            self.gap = finite(self.gap + max(expected - low + self.log_mean(eta, low) / eta, 0))
        else:
            self.gap = finite(self.gap + max(expected - low, 0))
        self.heaviest = max(self.heaviest, weight)
        then = self.rate()
        if then == INFINITY:  # the gap is too small: equal weights, for which the bound holds at any rate
            return
        self.shares += 1
        votes.weigh(self.l, low, then, then / eta, 1 / (FIRST_SHARE + self.shares), self.n, self.padded, self.p)
        self.share()

    cdef double log_mean(self, double eta, double low) noexcept nogil:
        """Return ln <p, exp(-eta (l - low))>, exact both near 0 and far below."""
        cdef double shrunk = 0, left = 0, last = low, fell = 0
        cdef Py_ssize_t m
        for m in range(self.n):
            if self.l[m] != last:  # mistakes have few values
                last, fell = self.l[m], fall(eta, self.l[m] - low)
            shrunk += self.p[m] * fell
        if shrunk > -0.5:
            return log1p(shrunk)
        for m in range(self.n):
            left += self.p[m] * decayed_weight(eta, self.l[m] - low)
        return log(left)

    cdef void share(self) noexcept nogil:
        """Set the weights of the votes, those of the awake models with a sum of 1."""
        if self.sleepers > 0:
            votes.share(self.p, self.sleep.awake, self.padded, self.v)
        else:
            memcpy(self.v, self.p, self.padded * sizeof(double))

    cdef void update_sleep(self) noexcept nogil:
        """Wake models that may matter, and put models to sleep that cannot."""
        cdef Py_ssize_t first = 0, m
        cdef double least = self.L[self.leader]
        cdef double eta = self.rate()
        # A model that is farther behind the leader has a negligible weight without shares.
        cdef double far = self.log_negligible / eta if eta > 0 else INFINITY
        cdef SleepCounts* sleep_counts = &self.sleep
        cdef bint asleep
        if self.is_worse():
            self.wake()
            return
        if not votes.due(sleep_counts, least, far, MIN_AWAKE, MAX_ASLEEP, self.padded):
            return
        while first < self.n:
            asleep = True
            if sleep_counts.awake[first] == 0:
                for m in range(first, self.end[first]):
                    asleep = asleep and sleep_counts.since[m] < MAX_ASLEEP and sleep_counts.before[m] - least > far
                if not asleep:
                    self.set_asleep(first, False)
            elif sleep_counts.since[first] >= MIN_AWAKE:
                for m in range(first, self.end[first]):
                    asleep = asleep and sleep_counts.behind[m] >= 0 and self.L[m] - least > far \
                        and self.p[m] * self.experts < NEGLIGIBLE_WEIGHT \
                        and self.L[m] - least >= MIN_BEHIND * least / self.rounds
                self.set_asleep(first, asleep)
            first = self.end[first]
        if self.changed:
            self.share()

    cdef void watch(self, double expected) noexcept nogil:
        """Follow the loss of the vote: the means over recent and usual rounds, and the usual mean square."""
        cdef double* trend = self.trend
        trend[3] += 1
        trend[0] += (expected - trend[0]) / min(RECENT, trend[3])
        trend[1] += (expected - trend[1]) / min(USUAL, trend[3])
        trend[2] = finite(trend[2] + (expected * expected - trend[2]) / min(USUAL, trend[3]))

    cdef bint is_worse(self) noexcept nogil:
        """Return whether the vote is getting worse, by more than chance."""
        cdef double more = self.trend[0] - self.trend[1], variance = self.trend[2] - self.trend[1] * self.trend[1]
        # The variance of a mean with the rate 1 / RECENT is that of one loss divided by 2 RECENT - 1.
        return self.trend[3] > RECENT and more > 0 and more * more * (2 * RECENT - 1) > WORSE * WORSE * variance

    cdef void wake(self) noexcept nogil:
        """Wake all models."""
        cdef Py_ssize_t first = 0
        while first < self.n:
            if self.sleep.awake[first] == 0:
                self.set_asleep(first, False)
            first = self.end[first]
        if self.changed:
            self.share()

    cdef void set_asleep(self, Py_ssize_t first, bint asleep) noexcept nogil:
        """Put a group to sleep or wake it up, and restart its counters."""
        cdef Py_ssize_t m
        cdef SleepCounts* sleep_counts = &self.sleep
        cdef bint changed = (sleep_counts.awake[first] == 0) != asleep
        self.changed |= changed
        if changed:
            self.sleepers += (self.end[first] - first) * (1 if asleep else -1)
        for m in range(first, self.end[first]):
            sleep_counts.awake[m] = not asleep
            sleep_counts.before[m] = self.L[m] if asleep else 0
            sleep_counts.since[m] = sleep_counts.behind[m] = 0
