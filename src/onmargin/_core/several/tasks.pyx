"""Several models that learn from the same examples, and predict as one."""

from functools import partial

import numpy as np

from onmargin._core.restore import fill, whole, zeros
from onmargin._core.several.task_list import check_models, list_tasks
from onmargin._core.tasks.task import Multiclass

from libc.math cimport INFINITY, isnan
from libc.stdint cimport uint8_t
from libc.string cimport memcpy, memmove, memset

from onmargin._core.round cimport Evidence, HalfSpace, Round, finite, keep_finite
from onmargin._core.rows cimport address
from onmargin._core.several.task_list cimport clear
from onmargin._core.several.votes cimport votes_padded
from onmargin._core.tasks.task cimport Task


# Votes predict once the mean of scaled scores has made this many mistakes more where it predicted, less one.
cdef double MOST_BEHIND = 10


cdef class ExpertVote(Task):
    """Combined models: model m has `width` scores from places[m] on and its own task; a half-space has its `model`.

    The prediction is that of the leader, the model with the smallest loss so far, or with `hedge` the vote of all,
    weighted by `Hedge`. The loss of a model is 1 for a mistake, or with `by_loss` that of its task, times the weight of
    the example. `judge` is the task that evaluates the prediction, and so defines the mistakes and losses of the
    rounds.

    With `groups`, models that cannot matter for now sleep: they are neither scored nor moved.

    Rows that were learned in an earlier pass do not count in the comparison: a model that memorizes rows would win. Nor
    do rows before the second class: there is only one prediction.

    Of classes, two are candidates: the one with the most votes, and the one with the best mean of the scores of all
    models, each in units of its own and weighted like its vote (see `Grading.blend`). The candidate predicts that has
    made fewer mistakes so far. Where the mean predicted, it has made at most MOST_BEHIND mistakes more than the votes
    at any time, times the largest weight: so its bound is that of the votes and this number. The scores that users
    see are graded, so that the predicted class is the best.

    With `per_norm` above 0, the C of all steps is in units of 1 / M, where M is the mean of |x|^2, to that power; with
    `in_targets` also in units of the deviation of the targets (see `Units`).

    With `from_first`, targets are numbers, and models learn their differences from the first one, the `origin`, which
    all start with: its round predicts 0 and moves nothing.

    With `tempered`, an outlier among targets counts as far from the origin as the farthest earlier target
    (see `Origin`), both in learning and in the losses, and so in the bound: one number of 1e100 would make the
    gap so large that all votes would be equal from then on. The judge uses the original targets.
    """

    def __cinit__(self, *arguments, **options):
        # Compiled code does not check for None: an object that is not initialized needs these parts, too.
        self.votes, self.targets = Hedge.__new__(Hedge), Origin.__new__(Origin)

    def __init__(self, tasks, places, Py_ssize_t width, Task judge, *, bint hedge=False, bint by_loss=False,
                 double ceiling=INFINITY, Py_ssize_t experts=0, bint from_first=False, bint tempered=False,
                 double per_norm=0, bint in_targets=False, groups=None):
        self.tasks = check_models(tasks)
        self.places = np.ascontiguousarray(places, dtype=np.intp)
        if self.places.shape != (len(self.tasks),):
            raise ValueError(f"places must be one per model, {len(self.tasks)}; got shape {self.places.shape}")
        self.width = whole(width, "width", least=0)
        self.judge = judge
        self.hedge = hedge
        self.by_loss = by_loss
        self.n = len(self.tasks)
        self.waits = width == 1 and type(judge) is Multiclass
        self.votes = Hedge(
            self.n, voting=hedge, judged=self.judged_by(), ceiling=ceiling, experts=experts, groups=groups
        )
        self.targets = Origin(from_first=from_first, tempered=tempered)
        self.grading = Grading(self.n, width) if hedge and self.judged_by() == "mistake" else None
        self.scale = Units(per_norm, in_targets) if per_norm > 0 or in_targets else None
        self.first = list_tasks(self.tasks, width)
        if groups is not None:
            if len(self.places) and not (self.places >= 0).all():
                raise ValueError(f"places must be at least 0; got {self.places.min()}")
            self.asleep_flags = zeros(int(self.places.max()) + width, np.uint8)
            self.flags = <uint8_t*>address(self.asleep_flags, "B", self.asleep_flags.size, writable=True)
        self.place = <Py_ssize_t*>address(self.places, "lq", self.n)
        self.owners = (
            zeros(width), zeros((width + 1) * sizeof(HalfSpace), np.uint8), zeros(votes_padded(self.n) * width),
            zeros(width), np.zeros(2),
        )
        self.polled = <double*>address(self.owners[0], "d", width, writable=True)
        self.blended = <double*>address(self.owners[3], "d", width, writable=True)
        self.behind = <double*>address(self.owners[4], "d", 2, writable=True)
        self.spare = <HalfSpace*>address(self.owners[1], "B", self.owners[1].size, writable=True)
        self.s = <double*>address(self.owners[2], "d", self.owners[2].size, writable=True)

    def judged_by(self):
        """The loss that models are compared by: "mistake", "loss" or "cost"."""
        return "loss" if self.by_loss else "mistake"

    def settings(self):
        """Return the constructor arguments except tasks and places."""
        return {
            "hedge": self.hedge, "by_loss": self.by_loss, "ceiling": self.ceiling, "experts": self.experts,
            **self.targets.settings(), **self.units(),
            **({} if self.votes.groups is None else {"groups": self.votes.groups}),
        }

    def __reduce__(self):
        return partial(type(self), **self.settings()), (self.tasks, self.places, self.width, self.judge), self.state()

    def state(self):
        """Return the learned state of the parts."""
        state = self.votes.state() | self.targets.state()
        for part in (self.grading, self.scale):
            state |= {} if part is None else part.state()
        return state if self.grading is None else state | {"behind": self.owners[4]}

    def __setstate__(self, state):
        for part in (self.votes, self.targets, self.grading, self.scale):
            if part is not None:
                part.__setstate__(state)
        if "behind" in state:
            fill(self.owners[4], state, "behind")
        self.mark()

    def units(self):
        """The options for the units of C."""
        return {} if self.scale is None else self.scale.settings()

    @property
    def unit(self):
        """The unit of C now."""
        return 1.0 if self.scale is None else self.scale.now

    @property
    def leader(self):
        """The model with the smallest loss, the first of equal ones."""
        return self.votes.leader

    @property
    def experts(self):
        """The initial number of models."""
        return self.votes.experts

    @property
    def ceiling(self):
        """The largest rate of the votes."""
        return self.votes.ceiling

    @property
    def gap(self):
        """The sum of the differences between mean and mix losses (mixability gap)."""
        return self.votes.gap

    @property
    def mixed(self):
        """The losses so far, weighted by the votes."""
        return self.votes.mixed

    @property
    def heaviest(self):
        """The largest weight of an example on which the losses of models differed; 0 before the first."""
        return self.votes.heaviest

    @property
    def from_first(self):
        """Whether models learn differences from the first target."""
        return self.targets.from_first

    @property
    def tempered(self):
        """Whether outliers among targets are clipped."""
        return self.targets.tempered

    @property
    def origin(self):
        """The target that models start from; NaN before the first target."""
        return self.targets.value

    @property
    def offset(self):
        """The difference between predictions and scores of the models: the origin, once it is known."""
        return self.targets.offset

    @property
    def weights(self):
        """The weights of the votes."""
        return self.votes.weights

    @property
    def sleeping(self):
        """Which models sleep."""
        return self.votes.sleeping

    @property
    def sleep_counts(self):
        """The charged loss of each model for the rounds it slept, and their number."""
        return self.votes.sleep_counts

    def losses(self):
        """The total loss of each model so far, with the weights of the examples, including charges."""
        return self.votes.losses()

    def regret_bound(self):
        """The bound on the weighted loss minus that of the best model: see `Hedge`."""
        return self.votes.regret_bound()

    def switch_cost(self):
        """What the bound grows by for each segment more of a sequence of models: see `Hedge`."""
        return self.votes.switch_cost()

    def combine(self, scores):
        """Return the scores of the leader, or graded votes, from the scores of all models, examples by columns."""
        if not self.hedge:
            start = self.places[self.leader]
            return np.nan_to_num(scores[:, start:start + self.width] + self.offset)  # clipped, as scores are
        cdef Py_ssize_t i
        out = np.zeros((len(scores), self.width))
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        cdef Py_ssize_t n_scores = scores.shape[1]
        cdef double* s = <double*>address(scores, "d", scores.size)
        cdef double* votes = <double*>address(out, "d", out.size, writable=True)
        for i in range(len(scores)):
            self.poll(s + i * n_scores, votes + i * self.width)
        return np.nan_to_num(out + self.offset) if self.from_first else out

    def trace(self, models):
        """Return the scores that predict, as `combine` does, given the traced scores of the models."""
        if not self.hedge:
            return models[self.leader] + self.offset
        awake = np.flatnonzero(~self.sleeping)
        scores = models[awake[0]].beside(*[models[m] for m in awake[1:]])
        if self.grading is not None:
            return self.grading.trace(scores, awake, self.weights[awake], self.votes.heaviest, self.blends())
        return (scores * self.weights[awake]).sum(1, keep=True) + self.offset

    cdef void gather(self, const double* s) noexcept nogil:
        """Collect the scores of the models."""
        cdef Py_ssize_t m
        if self.width == 1:
            for m in range(self.n):
                self.s[m] = s[self.place[m]]
        else:
            for m in range(self.n):
                memcpy(self.s + m * self.width, s + self.place[m], self.width * sizeof(double))

    cdef void poll(self, const double* s, double* votes) noexcept nogil:
        """Set the scores of the vote, graded if possible."""
        memset(votes, 0, self.width * sizeof(double))
        self.gather(s)
        self.first.vote(self.s, 0, self.width, self.votes.v, votes)
        if self.grading is not None:
            if self.blends() and self.grading.blend(self.s, self.votes.sleep.awake, self.votes.v, self.blended):
                memcpy(votes, self.blended, self.width * sizeof(double))
            self.grading.grade(self.s, self.votes.sleep.awake, self.votes.heaviest, votes)
        keep_finite(votes, self.width)

    cdef Evidence evidence(self, const double* s, Py_ssize_t n, double* room) noexcept nogil:
        cdef Evidence found = Evidence(s + self.place[self.votes.leader], NULL, self.width)
        if self.hedge:
            self.poll(s, room)
            if self.width == 1:  # so that two classes have the same order by probability and by score
                found.s = room
            else:
                found.v = room
        return found

    cdef Py_ssize_t settle(self, double* s, Py_ssize_t n) noexcept nogil:
        if self.hedge:
            self.poll(s, self.polled)
            memcpy(s, self.polled, self.width * sizeof(double))
        else:
            memmove(s, s + self.place[self.votes.leader], self.width * sizeof(double))
        if self.targets.from_first and not isnan(self.targets.value):
            s[0] = finite(s[0] + self.targets.value)
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
        own.s = self.polled if self.hedge else r.s + self.place[self.votes.leader]
        if self.targets.from_first or self.targets.tempered:
            if isnan(self.targets.value) or self.targets.is_wrong(r.y[0]):
                self.begin(r, &own)
                return
            distance = finite(r.y[0] - self.targets.value)
            own.y = &distance
        self.gather(r.s)
        if self.hedge:
            memset(self.polled, 0, self.width * sizeof(double))
            self.first.vote(self.s, 0, self.width, self.votes.v, self.polled)
        clear(&own)
        self.judge.constrain(&own)
        if self.grading is not None:
            self.compare(r, &own)
        if self.grading is not None and self.compares(r):
            self.grading.observe(
                r, self.s, self.votes.sleep.awake, self.votes.sleepers == 0, self.votes.heaviest
            )
        if self.scale is not None:
            self.scale.measure(r)
            r.unit = self.scale.unit()
        r.mistake, r.cost, r.loss, r.squared_loss = own.mistake, own.cost, own.loss, own.squared_loss
        if self.targets.tempered:
            distance = self.targets.temper(distance)
        self.first.constrain(r, &own, self.s, self.place, 0, self.votes)
        if not self.compares(r):
            return
        self.votes.weigh(r.weight)
        if self.votes.changed:
            self.mark()
            r.asleep = self.flags

    cdef bint compares(self, const Round* r) noexcept nogil:
        """Return whether the models are compared in this round."""
        return not (r.seen or self.waits)

    cdef bint blends(self) noexcept nogil:
        """Return whether the mean of scaled scores predicts, not the vote."""
        return self.behind[0] <= 0 and self.behind[1] <= (MOST_BEHIND - 1) * self.votes.heaviest

    cdef void compare(self, const Round* r, Round* own) noexcept nogil:
        """Judge the mean of scaled scores, too; `own` is the round of the vote, and becomes that of the prediction."""
        cdef bint predicts = self.blends(), mistake = own.mistake
        cdef double more, cost = own.cost, loss = own.loss, squared_loss = own.squared_loss
        if not self.grading.blend(self.s, self.votes.sleep.awake, self.votes.v, self.blended):
            return
        own.s = self.blended
        clear(own)
        self.judge.constrain(own)
        more = 0 if r.seen else r.weight * (<double>own.mistake - <double>mistake)
        self.behind[0] = finite(self.behind[0] + more)
        if predicts:
            self.behind[1] = finite(self.behind[1] + more)
        else:
            own.mistake, own.cost, own.loss, own.squared_loss = mistake, cost, loss, squared_loss

    cdef const uint8_t* asleep(self) noexcept nogil:
        return self.flags

    cdef void mark(self) noexcept nogil:
        """Set the flags of the scores."""
        cdef Py_ssize_t m
        if self.flags != NULL:
            for m in range(self.n):
                memset(self.flags + self.place[m], self.votes.sleep.awake[m] == 0, self.width)

    cdef void begin(self, Round* r, Round* own) noexcept nogil:
        """Play the first round: every model predicts 0, and the target becomes the origin.

        Equal losses of all models due to a wrong origin are reset.
        """
        cdef Py_ssize_t m
        cdef bint again = not isnan(self.targets.value)
        cdef double distance = finite(r.y[0] - self.targets.value) if again else r.y[0]
        own.y = &distance
        self.targets.value = r.y[0]
        memset(r.s, 0, r.n_scores * sizeof(double))
        memset(self.polled, 0, self.width * sizeof(double))
        clear(own)
        self.judge.constrain(own)
        r.mistake, r.cost, r.loss, r.squared_loss = own.mistake, own.cost, own.loss, own.squared_loss
        if again:
            self.votes.restart()
        else:
            for m in range(self.n):
                self.votes.record(m, own)
        self.votes.weigh(r.weight)
