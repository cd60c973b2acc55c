"""Several models that learn from the same examples: their tasks, and how their predictions are combined."""

from functools import partial

import numpy as np

from onmargin._core.restore import fill, whole, zeros

from libc.math cimport INFINITY, NAN, copysign, exp, fabs, isnan, log, pow, sqrt
from libc.stdint cimport int32_t, uint16_t
from libc.string cimport memcpy, memmove, memset

from onmargin._core.round cimport Evidence, HalfSpace, Round, finite
from onmargin._core.rows cimport address
from onmargin._core.tasks.sequence cimport Sequence
from onmargin._core.tasks.task cimport Task
from onmargin._core.tasks.task import Binary


# What models side by side are made of is nested as deep as there are models: more would fill the stack.
MOST_MODELS = 1000


def check_models(models):
    """What models side by side have, one each, as a tuple."""
    found = tuple(models)
    if not 1 <= len(found) <= MOST_MODELS:
        raise ValueError(f"from 1 to {MOST_MODELS} models learn side by side; got {len(found)}")
    return found


# How many times as far from the origin as all targets before an outlier is, at least.
cdef double FAR = 100
# So many targets that are so far, one after the other, are no outliers: the targets have changed.
cdef Py_ssize_t CHANGED = 3
# How many times as large as the second target a first one is that was an outlier, at least.
cdef double WRONG_ORIGIN = 1e6

# By which part of its votes a class is ahead, where graded scores alone would have another one be the best.
cdef double LITTLE = 1e-6


cdef inline double fallen(double eta, double loss) noexcept nogil:
    """exp(-eta loss), also where eta is infinite; what is zero is not worked out."""
    return 1 if loss <= 0 else exp(-eta * loss) if eta * loss < 746 else 0


cdef class TaskList:
    """The task that some models share, and the turns of those after them: the loop over rounds has no lists."""

    def __init__(self, tasks):
        self.task = tasks[0]
        self.n = next((m for m, task in enumerate(tasks) if task is not self.task), len(tasks))
        self.rest = turn(tasks[self.n:]) if self.n < len(tasks) else None

    cdef void vote(
        self, const double* s, const Py_ssize_t* place, Py_ssize_t width, const double* p, double* votes
    ) noexcept nogil:
        cdef Py_ssize_t m
        for m in range(self.n):
            if p[m] > 0:
                self.task.vote(s + place[m], width, p[m], votes)
        if self.rest is not None:
            self.rest.vote(s, place + self.n, width, p + self.n, votes)

    cdef void constrain(
        self, Round* r, Round* own, const Py_ssize_t* place, Py_ssize_t first, Outcome* now
    ) noexcept nogil:
        """Half-spaces and outcomes of the models from the first on; `own` is a round of one model's scores."""
        cdef Py_ssize_t m, i
        cdef HalfSpace* h
        for m in range(first, first + self.n):
            own.s = r.s + place[m]
            own.halfspaces = r.halfspaces + r.n_halfspaces
            clear(own)
            self.task.constrain(own)
            for i in range(own.n_halfspaces):
                h = &own.halfspaces[i]
                h.up += <int>place[m] if h.up >= 0 else 0
                h.down += <int>place[m] if h.down >= 0 else 0
                h.model = <uint16_t>m
            r.n_halfspaces += own.n_halfspaces
            now[m] = Outcome(own.mistake, own.loss, own.squared_loss, own.cost)
        if self.rest is not None:
            self.rest.constrain(r, own, place, first + self.n, now)


cdef class Margins(TaskList):
    """The same for `Binary`, in one loop: which models lose cannot be foreseen, so that branches on it are costly."""

    cdef double[2] asked
    cdef bint eager

    def __init__(self, tasks):
        super().__init__(tasks)
        self.asked = np.broadcast_to(tasks[0].margin, 2)
        self.eager = tasks[0].eager

    cdef void vote(
        self, const double* s, const Py_ssize_t* place, Py_ssize_t width, const double* p, double* votes
    ) noexcept nogil:
        cdef Py_ssize_t m
        for m in range(self.n):
            votes[0] += p[m] * (1 - 2 * (s[place[m]] < 0))
        if self.rest is not None:
            self.rest.vote(s, place + self.n, width, p + self.n, votes)

    cdef void constrain(
        self, Round* r, Round* own, const Py_ssize_t* place, Py_ssize_t first, Outcome* now
    ) noexcept nogil:
        cdef double y = r.y[0], asked = self.asked[y > 0], margin, loss
        cdef Py_ssize_t m, n = r.n_halfspaces
        cdef HalfSpace* h
        for m in range(first, first + self.n):
            margin = y * r.s[place[m]]
            loss = asked - margin
            h = &r.halfspaces[n]  # written in any case, and kept if it counts
            h.up, h.down = <int>place[m] if y > 0 else -1, -1 if y > 0 else <int>place[m]
            h.loss, h.part, h.model, h.mistaken = loss, 0, <uint16_t>m, margin <= 0
            n += (loss > 0) | self.eager
            loss = max(loss, 0)
            now[m].mistake, now[m].loss, now[m].squared_loss = margin <= 0, loss, loss * loss
        r.n_halfspaces = n
        if self.rest is not None:
            self.rest.constrain(r, own, place, first + self.n, now)


def turn(tasks):
    """The turns of the models that have these tasks."""
    return (Margins if type(tasks[0]) is Binary else TaskList)(tasks)


cdef class Several(Task):
    """Model m has `width` scores from places[m] on and a task of its own; `model` of a half-space says whose it is.

    The prediction is that of the leader, which has lost least so far, or with `hedge` the vote of all, each with the
    weight of AdaHedge ([ADAHEDGE]): p_m is proportional to exp(-eta L_m), where L_m is what model m has lost, eta =
    min(ceiling, ln(M) / gap), and gap the sum so far of <p, l> + ln(<p, exp(-eta l)>) / eta, none of which is negative.
    As eta never rises,

        mixed = sum_t <p_t, l_t> <= min_m L_m + gap + ln(M) / eta,

    whatever the losses. A model loses 1 for a mistake, or with `by_loss` what its task says. `judge` is the task that
    the prediction is held to: the mistakes and losses of the rounds are its. M is `experts`, how many there were at
    first: where some were left out since, the bound holds for those that stayed, as their potential only rose.

    Votes say which class is predicted. Scores that users see are graded: sum_m q_m z / (1 + |z|), where z are the
    scores of model m, less their mean over the classes, by the root of their mean square so far. q_m is proportional to
    p_m^3: to rank, the best few are better than all. They are changed as little as possible where their best class is
    not that of the votes.

    With `per_norm` above 0 the C of all steps is in units of 1 / M, where M is the mean of |x|^2 over all rows so far
    that are not zero, to that power; with `in_targets` also in units of the deviation of the targets so far and of the
    0 that models begin with. A row or target far beyond what is usual so far counts as if it were less far.

    With `from_first` targets are numbers, and models learn how far they are from the first of them, the `origin`, which
    all begin with: its round predicts 0 and moves nothing.

    With `tempered` an outlier among targets counts as if it were no farther from the origin than the farthest before,
    for what models learn and what they lose, and so in the bound: one number of 1e100 would make the gap so large that
    all votes counted the same ever after. The judge holds the prediction to targets as they are. A first target that is
    an outlier itself is given up for the second.
    """

    def __init__(self, tasks, places, Py_ssize_t width, Task judge, *, bint hedge=False, bint by_loss=False,
                 double ceiling=INFINITY, Py_ssize_t experts=0, bint from_first=False, bint tempered=False,
                 double per_norm=0, bint in_targets=False):
        self.tasks = check_models(tasks)
        self.places = np.ascontiguousarray(places, dtype=np.intp)
        if self.places.shape != (len(self.tasks),):
            raise ValueError(f"places must be one per model, {len(self.tasks)}; got shape {self.places.shape}")
        self.width = whole(width, "width", least=0)
        self.judge = judge
        self.hedge = hedge
        self.by_loss = by_loss
        self.ceiling = ceiling
        self.per_norm, self.in_targets = per_norm, in_targets
        self.from_first = from_first
        self.tempered = tempered
        self.origin = NAN if from_first else 0
        self.judged = LOSS if by_loss else MISTAKE
        self.n = len(self.tasks)
        self.experts = max(experts, self.n)
        self.log_experts = log(self.experts)
        self.first = turn(self.tasks)
        self.place = <Py_ssize_t*>address(self.places, "lq", self.n)
        self.owners = (
            np.zeros((2, self.n, 4)), np.full(self.n, 1.0 / self.n), zeros(width),
            zeros((width + 1) * sizeof(HalfSpace), np.uint8), np.zeros(self.n + 1), zeros(width),
            np.zeros(4),
        )
        self.total = <Outcome*>address(self.owners[0], "d", 8 * self.n, writable=True)
        self.now = self.total + self.n
        self.p = <double*>address(self.owners[1], "d", self.n, writable=True)
        self.votes = <double*>address(self.owners[2], "d", width, writable=True)
        self.spare = <HalfSpace*>address(self.owners[3], "B", self.owners[3].size, writable=True)
        self.graded = hedge and not by_loss and type(self) is Several
        self.squares = <double*>address(self.owners[4], "d", self.n + 1, writable=True)
        self.grades = <double*>address(self.owners[5], "d", width, writable=True)
        self.sizes = <double*>address(self.owners[6], "d", 4, writable=True)

    def __reduce__(self):
        make = partial(
            type(self), hedge=self.hedge, by_loss=self.by_loss, ceiling=self.ceiling, experts=self.experts,
            **({"from_first": True} if self.from_first else {}), **({"tempered": True} if self.tempered else {}),
            **self.units(),
        )
        return make, (self.tasks, self.places, self.width, self.judge), self.state()

    def state(self):
        """What the rounds came to: of each model mistakes, losses and squared losses, and its weight; gap and mixed."""
        state = {"outcomes": self.owners[0][0, :, :3], "weights": self.owners[1], "gap": self.gap, "mixed": self.mixed}
        if self.from_first:
            state["origin"] = self.origin
        if self.tempered:
            state["distances"] = np.array([self.reach, self.nearest, self.n_far])
        if self.graded:
            state["squares"] = self.owners[4]
        if self.scaled():
            state["sizes"] = self.owners[6]
        return state

    def units(self):
        """What C is in units of, as it was made with."""
        return {"per_norm": self.per_norm, "in_targets": self.in_targets} if self.scaled() else {}

    cdef bint scaled(self) noexcept nogil:
        return self.per_norm > 0 or self.in_targets

    @property
    def unit(self):
        """What C is in units of now."""
        return self.unit_of_C() if self.scaled() else 1.0

    def losses(self):
        """What each model has lost so far."""
        return self.owners[0][0, :, self.judged].copy()

    def __setstate__(self, state):
        fill(self.owners[0][0, :, :3], state, "outcomes")
        fill(self.owners[1], state, "weights")
        self.gap, self.mixed = state["gap"], state["mixed"]
        self.origin = state.get("origin", 0)
        if self.tempered and "distances" in state:
            distances = np.zeros(3)
            fill(distances, state, "distances")
            self.reach, self.nearest, self.n_far = distances[0], distances[1], min(max(int(distances[2]), 0), CHANGED)
        if self.graded and "squares" in state:
            fill(self.owners[4], state, "squares")
        if self.scaled() and "sizes" in state:
            fill(self.owners[6], state, "sizes")
        self.leader = self.best()

    @property
    def offset(self):
        """What predictions are above the scores of the models: the origin, once it is known."""
        return 0.0 if isnan(self.origin) else self.origin

    def regret_bound(self):
        """How much more than the best model the weighted ones can have lost so far: gap + ln(M) / eta."""
        return self.gap + (log(self.experts) / self.rate() if self.experts > 1 else 0)

    def combine(self, scores):
        """The scores of one model in place of those of all, examples by columns: the leader's, or graded votes."""
        if not self.hedge:
            start = self.places[self.leader]
            return scores[:, start:start + self.width] + self.offset
        cdef Py_ssize_t i
        out = np.zeros((len(scores), self.width))
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        cdef Py_ssize_t n_scores = scores.shape[1]
        cdef double* s = <double*>address(scores, "d", scores.size)
        cdef double* votes = <double*>address(out, "d", out.size, writable=True)
        for i in range(len(scores)):
            self.poll(s + i * n_scores, votes + i * self.width)
        return out + self.offset if self.from_first else out

    cdef void poll(self, const double* s, double* votes) noexcept nogil:
        """Set the scores of the vote, graded if they can be."""
        memset(votes, 0, self.width * sizeof(double))
        self.first.vote(s, self.place, self.width, self.p, votes)
        if self.graded:
            self.grade(s, votes)

    cdef Evidence evidence(self, const double* s, Py_ssize_t n, double* room) noexcept nogil:
        cdef Evidence found = Evidence(s + self.place[self.leader], NULL, self.width)
        if self.hedge:
            self.poll(s, room)
            found.v = room
        return found

    cdef Py_ssize_t settle(self, double* s, Py_ssize_t n) noexcept nogil:
        if self.hedge:
            self.poll(s, self.votes)
            memcpy(s, self.votes, self.width * sizeof(double))
        else:
            memmove(s, s + self.place[self.leader], self.width * sizeof(double))
        if self.from_first and not isnan(self.origin):
            s[0] += self.origin
        return self.width

    def decode(self, scores):
        return self.judge.decode(self.combine(scores))

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t scores):
        self.judge.reserve(rows, scores)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef Round own = r[0]
        cdef double distance
        own.n_scores = self.width
        own.halfspaces = self.spare
        own.s = self.votes if self.hedge else r.s + self.place[self.leader]
        if self.from_first or self.tempered:
            if isnan(self.origin) or self.is_wrong_origin(r.y[0]):
                self.begin(r, &own)
                return
            distance = finite(r.y[0] - self.origin)
            own.y = &distance
        if self.hedge:
            memset(self.votes, 0, self.width * sizeof(double))
            self.first.vote(r.s, self.place, self.width, self.p, self.votes)
        if self.graded:
            self.take_units(r.s)
        if self.scaled():
            self.measure(r)
            r.unit = self.unit_of_C()
        clear(&own)
        self.judge.constrain(&own)
        r.mistake, r.cost, r.loss, r.squared_loss = own.mistake, own.cost, own.loss, own.squared_loss
        if self.tempered:
            distance = self.temper(distance)
        self.first.constrain(r, &own, self.place, 0, self.now)
        self.weigh()

    cdef void measure(self, const Round* r) noexcept nogil:
        """Add up the sizes of rows and targets, each held to 100 mean squared norms, or ten deviations."""
        cdef double square = r.x.squared_norm, y = r.y[0], n = self.sizes[0], deviation, mean
        if square > 0:
            if n > 0:
                square = min(square, 100 * self.sizes[1] / n)
            if self.in_targets:
                deviation = self.deviation()
                if deviation > 0:
                    mean = self.sizes[2] / (n + 1)
                    y = min(max(y, mean - 10 * deviation), mean + 10 * deviation)
                self.sizes[2] = finite(self.sizes[2] + y)
                self.sizes[3] = finite(self.sizes[3] + y * y)
            self.sizes[0] += 1
            self.sizes[1] = finite(self.sizes[1] + square)

    cdef double deviation(self) noexcept nogil:
        """Of the targets so far, and 0."""
        cdef double mean = self.sizes[2] / (self.sizes[0] + 1)
        return sqrt(max(self.sizes[3] / (self.sizes[0] + 1) - mean * mean, 0))

    cdef double unit_of_C(self) noexcept nogil:
        cdef double unit = pow(self.sizes[0] / self.sizes[1], self.per_norm) if self.sizes[1] > 0 else 1
        return unit * (self.deviation() if self.in_targets else 1)

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

    cdef void grade(self, const double* s, double* votes) noexcept nogil:
        """Put graded scores in the place of votes; the class that has most of these stays the best."""
        cdef Py_ssize_t m, c, best = 0
        cdef double mean, unit, z, share, sum = 0, top = -INFINITY
        if self.squares[self.n] == 0:
            return  # a file of version 0.1 does not say in which units scores are
        memset(self.grades, 0, self.width * sizeof(double))
        for m in range(self.n):
            sum += self.p[m] * self.p[m] * self.p[m]
        for m in range(self.n):
            share = self.p[m] * self.p[m] * self.p[m] / sum
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

    cdef double temper(self, double distance) noexcept nogil:
        """How far from the origin a target counts as: an outlier as far as the farthest that is none.

        Until there are two targets the size of the first says what is far.
        """
        cdef double size = fabs(distance), usual = self.reach if self.reach > 0 else fabs(self.origin)
        if usual == 0 or size <= FAR * usual:
            self.reach, self.n_far = max(self.reach, size), 0
            return distance
        self.nearest = min(self.nearest, size) if self.n_far > 0 else size
        self.n_far += 1
        if self.n_far < CHANGED:
            return copysign(usual, distance)
        self.reach, self.n_far = self.nearest, 0
        return self.temper(distance)

    cdef bint is_wrong_origin(self, double target) noexcept nogil:
        return self.from_first and self.tempered and self.reach == 0 and target != 0 \
            and fabs(self.origin) > WRONG_ORIGIN * fabs(target)

    cdef void begin(self, Round* r, Round* own) noexcept nogil:
        """The first round of all: every model predicts 0, and the target is where they begin.

        What all models have lost to a wrong origin, the same, is forgotten.
        """
        cdef Py_ssize_t m
        cdef bint again = not isnan(self.origin)
        cdef double distance = finite(r.y[0] - self.origin) if again else r.y[0]
        own.y = &distance
        self.origin = r.y[0]
        memset(r.s, 0, r.n_scores * sizeof(double))
        memset(self.votes, 0, self.width * sizeof(double))
        clear(own)
        self.judge.constrain(own)
        r.mistake, r.cost, r.loss, r.squared_loss = own.mistake, own.cost, own.loss, own.squared_loss
        if again:
            memset(self.total, 0, 2 * self.n * sizeof(Outcome))  # and those of the round
            self.mixed = 0
        else:
            for m in range(self.n):
                self.now[m] = Outcome(own.mistake, own.loss, own.squared_loss, own.cost)
        self.weigh()

    cdef Py_ssize_t best(self) noexcept nogil:
        cdef Py_ssize_t m, best = 0
        for m in range(1, self.n):
            if self.lost(&self.total[m]) < self.lost(&self.total[best]):
                best = m
        return best

    cdef double rate(self) noexcept nogil:
        return min(self.ceiling, self.log_experts / self.gap) if self.gap > 0 else self.ceiling

    cdef void weigh(self) noexcept nogil:
        """Charge the weights for the losses of the round, and weigh the models anew."""
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
        if low < high:  # otherwise nothing is known that was not
            self.leader = self.best()
        if not self.hedge or low == high:
            return
        eta = self.rate()
        for m in range(self.n):
            loss = self.lost(&self.now[m]) - low
            shrunk += self.p[m] * fallen(eta, loss)
        self.gap = finite(self.gap + max(expected - low + (log(shrunk) / eta if eta < INFINITY else 0), 0))
        least, eta = self.lost(&self.total[self.leader]), self.rate()
        for m in range(self.n):
            loss = self.lost(&self.total[m]) - least
            self.p[m] = fallen(eta, loss)
            sum += self.p[m]
        for m in range(self.n):
            self.p[m] /= sum


cdef inline void vote_for_path(const int32_t* path, const Round* r, double weight, double* votes) noexcept nogil:
    """Add the weight of a model to the votes for its labels, token by token."""
    cdef Py_ssize_t i
    for i in range(r.n_rows):
        votes[i * r.sequence.stride + path[i]] += weight


cdef class SeveralSequences(Several):
    """n models that are all held to one task; a model loses what its labeling costs.

    With `hedge` every model votes for its label of each token. The votes are the scores of a chain whose transitions
    are all zero, and `judge` takes it as any other: each token gets the label with the most votes, in a tie the first.
    """

    cdef Sequence task  # the judge
    cdef tuple scratch
    cdef double* tally  # the votes of a trial, tokens by labels
    cdef double* level  # transitions of zero

    def __init__(self, Sequence judge, Py_ssize_t n, *, bint hedge=False):
        # Where the scores of a model begin is in its round.
        super().__init__([judge] * n, np.zeros(n), len(judge.cost), judge, hedge=hedge)
        self.judged = COST
        self.task = judge

    def __reduce__(self):
        return partial(type(self), hedge=self.hedge), (self.judge, self.n), self.state()

    def state(self):
        """What the rounds came to, with the costs of each model."""
        return {**super().state(), "costs": self.owners[0][0, :, COST]}

    def __setstate__(self, state):
        fill(self.owners[0][0, :, COST], state, "costs")
        super().__setstate__(state)

    def tallied(self, paths):
        """The chain that the labelings of all models make, models by tokens: votes, and transitions of zero."""
        tokens = np.arange(len(paths[0]))
        votes = np.zeros((len(tokens), self.width))
        for path, weight in zip(paths, self.owners[1], strict=True):
            votes[tokens, path] += weight
        return votes, np.zeros((self.width, self.width))

    def decode(self, scores):
        return self.judge.decode(scores)

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t scores):
        cdef Py_ssize_t stride = scores // self.n
        self.judge.reserve(rows, stride)
        self.scratch = np.empty(rows * stride), np.full((self.width, stride), -np.inf)
        self.scratch[1][:, :self.width] = 0
        self.tally = <double*>address(self.scratch[0], "d", rows * stride, writable=True)
        self.level = <double*>address(self.scratch[1], "d", self.width * stride)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef Py_ssize_t m
        cdef Round* own = r.sequence.models
        cdef Round verdict
        if self.hedge:
            memset(self.tally, 0, r.n_rows * own.sequence.stride * sizeof(double))
        for m in range(self.n):
            own = &r.sequence.models[m]
            own.halfspaces = r.halfspaces + r.n_halfspaces
            clear(own)
            self.task.constrain(own)
            if own.n_halfspaces > 0:  # one, then
                own.halfspaces.model = <uint16_t>m
                r.n_halfspaces += 1
            self.now[m] = Outcome(own.mistake, own.loss, own.squared_loss, own.cost)
            if self.hedge:
                vote_for_path(self.task.predicted, own, self.p[m], self.tally)
        verdict = self.judgement(r) if self.hedge else r.sequence.models[self.leader]
        r.mistake, r.loss, r.squared_loss, r.cost = verdict.mistake, verdict.loss, verdict.squared_loss, verdict.cost
        self.weigh()

    cdef Round judgement(self, const Round* r) noexcept nogil:
        """What becomes of the votes."""
        cdef Round own = r.sequence.models[0]
        own.s, own.halfspaces = self.tally, self.spare
        own.sequence.transitions, own.sequence.transition_stride = self.level, 0
        own.sequence.rival = r.sequence.rival
        clear(&own)
        self.task.constrain(&own)
        return own
