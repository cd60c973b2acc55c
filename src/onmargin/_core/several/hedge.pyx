"""What several models have lost, and the weights of their votes."""

import numpy as np

from onmargin._core.restore import fill

from libc.math cimport INFINITY, exp, expm1, log, log1p
from libc.string cimport memset

from onmargin._core.round cimport finite
from onmargin._core.rows cimport address
from onmargin._core.several.task_list cimport COST, LOSS, MISTAKE, Outcome

# Names of what models may be judged by.
JUDGED = {"mistake": MISTAKE, "loss": LOSS, "cost": COST}


cdef inline double fallen(double eta, double loss) noexcept nogil:
    """exp(-eta loss), also where eta is infinite; exponents that underflow give 0 without computing them."""
    return 1 if loss <= 0 else exp(-eta * loss) if eta * loss < 746 else 0


cdef inline double fall(double eta, double loss) noexcept nogil:
    """exp(-eta loss) - 1, exact for small losses too."""
    return 0 if loss <= 0 else expm1(-eta * loss)


cdef class Hedge:
    """The outcomes of n models so far, and with `voting` the weight of each vote by AdaHedge ([ADAHEDGE]).

    p_m is proportional to exp(-eta L_m), where L_m is what model m has lost, eta = min(ceiling, ln(M) / gap), and gap
    the sum so far of <p, l> + ln(<p, exp(-eta l)>) / eta, none of which is negative. As eta never rises,

        mixed = sum_t <p_t, l_t> <= min_m L_m + gap + ln(M) / eta,

    whatever the losses. A model loses what `judged` says: its mistakes, its loss or its cost. M is `experts`, how many
    models there were at first: if some were left out since, the bound holds for the others, as their potential only
    rose.
    """

    def __init__(self, Py_ssize_t n, *, bint voting, judged="mistake", double ceiling=INFINITY, Py_ssize_t experts=0):
        self.n, self.voting, self.ceiling = n, voting, ceiling
        self.judged = JUDGED[judged]
        self.experts = max(experts, n)
        self.log_experts = log(self.experts)
        self.owners = np.zeros((2, n, 4)), np.full(n, 1.0 / n)
        self.total = <Outcome*>address(self.owners[0], "d", 8 * n, writable=True)
        self.now = self.total + n
        self.p = <double*>address(self.owners[1], "d", n, writable=True)

    @property
    def weights(self):
        """The weights of the votes."""
        return self.owners[1]

    def outcomes(self, Py_ssize_t which):
        """One number of the outcomes so far, per model."""
        return self.owners[0][0, :, which]

    def losses(self):
        """What each model has lost so far."""
        return self.outcomes(self.judged).copy()

    def state(self):
        """Mistakes, losses and squared losses of each model and the weight of its vote, then gap and mixed loss."""
        return {"outcomes": self.owners[0][0, :, :3], "weights": self.owners[1], "gap": self.gap, "mixed": self.mixed}

    def __setstate__(self, state):
        fill(self.owners[0][0, :, :3], state, "outcomes")
        fill(self.owners[1], state, "weights")
        self.gap, self.mixed = state["gap"], state["mixed"]
        self.leader = self.best()

    def regret_bound(self):
        """How much more than the best model the weighted ones can have lost so far: gap + ln(M) / eta."""
        return self.gap + (self.log_experts / self.rate() if self.experts > 1 else 0)

    cdef void restart(self) noexcept nogil:
        """Forget the outcomes so far, which are the same for all models."""
        memset(self.total, 0, 2 * self.n * sizeof(Outcome))  # and those of the round
        self.mixed = 0

    cdef Py_ssize_t best(self) noexcept nogil:
        cdef Py_ssize_t m, best = 0
        for m in range(1, self.n):
            if self.lost(&self.total[m]) < self.lost(&self.total[best]):
                best = m
        return best

    cdef double rate(self) noexcept nogil:
        return min(self.ceiling, self.log_experts / self.gap) if self.gap > 0 else self.ceiling

    cdef void weigh(self) noexcept nogil:
        """Charge the weights for the losses of the round, and weigh the models again."""
        cdef double low = INFINITY, high = 0, eta, expected = 0, shrunk = 0, least, sum = 0, loss
        cdef Py_ssize_t m
        for m in range(self.n):
            self.now[m].loss = finite(self.now[m].loss)
            self.now[m].squared_loss = finite(self.now[m].squared_loss)
            loss = self.lost(&self.now[m])
            high = max(high, loss)
            if self.p[m] > 0:
                low = min(low, loss)
                expected = finite(expected + self.p[m] * loss)
            self.total[m].mistake += self.now[m].mistake
            self.total[m].loss = finite(self.total[m].loss + self.now[m].loss)
            self.total[m].squared_loss = finite(self.total[m].squared_loss + self.now[m].squared_loss)
            self.total[m].cost = finite(self.total[m].cost + self.now[m].cost)
        self.mixed = finite(self.mixed + expected)
        if low < high:  # otherwise all lost the same, and nothing changes
            self.leader = self.best()
        if not self.voting or low == high:
            return
        eta = self.rate()
        for m in range(self.n):
            loss = self.lost(&self.now[m]) - low
            shrunk += self.p[m] * fall(eta, loss)
        self.gap = finite(self.gap + max(expected - low + (log1p(shrunk) / eta if eta < INFINITY else 0), 0))
        least, eta = self.lost(&self.total[self.leader]), self.rate()
        for m in range(self.n):
            loss = self.lost(&self.total[m]) - least
            self.p[m] = fallen(eta, loss)
            sum += self.p[m]
        for m in range(self.n):
            self.p[m] /= sum
