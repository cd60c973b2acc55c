"""Several models that label the same sequences."""

from functools import partial

import numpy as np

from onmargin._core.restore import fill

from libc.stdint cimport int32_t, uint16_t
from libc.string cimport memset

from onmargin._core.round cimport Round
from onmargin._core.rows cimport address
from onmargin._core.several.task_list cimport clear
from onmargin._core.several.tasks cimport ExpertVote
from onmargin._core.several.votes cimport COST
from onmargin._core.tasks.sequence cimport Sequence


cdef inline void vote_for_path(const int32_t* path, const Round* r, double weight, double* votes) noexcept nogil:
    """Add the weight of a model to the votes for its labels, token by token."""
    cdef Py_ssize_t i
    for i in range(r.n_rows):
        votes[i * r.sequence.stride + path[i]] += weight


cdef class SequenceVote(ExpertVote):
    """n models with the same task; the loss of a model is the cost of its labeling, times the weight of the sequence.

    With `hedge`, every model votes for its label of each token. The votes are the scores of a chain whose transitions
    are all zero, which `judge` decodes: each token gets the label with the most votes, the first one in a tie.
    """

    cdef Sequence task  # the judge
    cdef tuple scratch
    cdef double* tally  # the votes of a trial, tokens by labels
    cdef double* level  # transitions of zero

    def __init__(self, Sequence judge, Py_ssize_t n, *, bint hedge=False):
        # The round of a model has the place of its scores.
        super().__init__([judge] * n, np.zeros(n), len(judge.cost), judge, hedge=hedge)
        self.task = judge

    def judged_by(self):
        return "cost"

    def __reduce__(self):
        return partial(type(self), hedge=self.hedge), (self.judge, self.n), self.state()

    def state(self):
        """Return the learned state, with the costs of each model."""
        return {**super().state(), "costs": self.votes.outcomes(COST)}

    def __setstate__(self, state):
        fill(self.votes.outcomes(COST), state, "costs")
        super().__setstate__(state)

    def count_tags(self, paths):
        """Return the chain of the votes of all labelings, models by tokens; its transitions are zero."""
        tokens = np.arange(len(paths[0]))
        votes = np.zeros((len(tokens), self.width))
        for path, weight in zip(paths, self.votes.weights, strict=True):
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
            self.votes.record(m, own)
            if self.hedge:
                vote_for_path(self.task.predicted, own, self.votes.v[m], self.tally)
        verdict = self.judgement(r) if self.hedge else r.sequence.models[self.votes.leader]
        r.mistake, r.loss, r.squared_loss, r.cost = verdict.mistake, verdict.loss, verdict.squared_loss, verdict.cost
        if not r.seen:
            self.votes.weigh(r.weight)

    cdef Round judgement(self, const Round* r) noexcept nogil:
        """Return the round of the vote."""
        cdef Round own = r.sequence.models[0]
        own.s, own.halfspaces = self.tally, self.spare
        own.sequence.transitions, own.sequence.transition_stride = self.level, 0
        own.sequence.rivals = r.sequence.rivals
        clear(&own)
        self.task.constrain(&own)
        return own
