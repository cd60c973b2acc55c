"""Sequences: a label for every row of a trial, in a chain, and how the best labels are found."""

from functools import partial

import numpy as np

from libc.math cimport INFINITY, exp, log, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memmove

from onmargin._core.round cimport Round, demand, suffer
from onmargin._core.rows cimport address
from onmargin._core.tasks.task cimport Task
from onmargin._core.tasks.task import square


cdef extern from "chain.h" nogil:
    ctypedef void (*Relax)(
        const double* start, const double* T, Py_ssize_t labels, Py_ssize_t stride, double* best
    ) noexcept nogil
    Relax chain_relax_here()


cdef Relax relax = chain_relax_here()


cdef inline Py_ssize_t first_best(const double* s, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t a, best = 0
    for a in range(1, n):
        if s[a] > s[best]:
            best = a
    return best


cdef inline double best_score(const Chain* c, Py_ssize_t i, const double* start, Py_ssize_t label) noexcept nogil:
    """Return the score of the best path to a label of token i, without its emission."""
    cdef Py_ssize_t a
    cdef const double* to_label = c.transitions + i * c.transition_stride + label
    cdef double best = -INFINITY
    for a in range(c.labels):
        best = max(best, start[a] + to_label[a * c.stride])
    return best


cdef inline int32_t label_before(
    const Chain* c, Py_ssize_t i, const double* start, Py_ssize_t label, double best
) noexcept nogil:
    """Return the first label before token i from which `label` has the `best` score; 0 if scores are NaN."""
    cdef Py_ssize_t a
    cdef const double* to_label = c.transitions + i * c.transition_stride + label
    for a in range(c.labels):
        if start[a] + to_label[a * c.stride] == best:
            return <int32_t>a
    return 0


cdef double path_score(const Chain* c, const int32_t* path) noexcept nogil:
    cdef Py_ssize_t i
    cdef double score = 0
    for i in range(c.length):
        score += c.emissions[i * c.stride + path[i]]
        if i > 0:
            score += c.transitions[i * c.transition_stride + path[i - 1] * c.stride + path[i]]
    return score


cdef void best_path(const Chain* c, int32_t* path, double* work) noexcept nogil:
    """argmax_z s(z), by Viterbi's algorithm in O(length labels^2).

    `work` holds 2 * length * stride numbers: the best scores of each token without and with its emissions.
    """
    cdef Py_ssize_t i, b, last = c.length - 1
    cdef double* here = work + c.stride
    if c.length == 0:
        return
    for b in range(c.stride):
        here[b] = c.emissions[b]
    for i in range(1, c.length):
        relax(here, c.transitions + i * c.transition_stride, c.labels, c.stride, here + c.stride)
        here += 2 * c.stride
        for b in range(c.stride):
            here[b] = here[b - c.stride] + c.emissions[i * c.stride + b]
    path[last] = <int32_t>first_best(here, c.labels)
    for i in range(last, 0, -1):
        here -= 2 * c.stride
        path[i - 1] = label_before(c, i, here, path[i], here[c.stride + path[i]])


cdef void most_wrong_path(const Chain* c, const int32_t* right, int32_t* path, double* work) noexcept nogil:
    """argmax_z s(z) + sqrt(d(z)), d the number of tokens at which z is not `right`.

    The root of a sum is not a sum over tokens, so the program keeps the best path to each label for every d so far:
    O(length^2 labels^2). `work` holds (length * (length + 1) + 1) * stride numbers: token, d, label.
    """
    cdef Py_ssize_t i, d, b, stride = c.stride, plane = (c.length + 1) * stride, last = c.length - 1, errors = 0
    cdef double* here = work + stride
    cdef double score, best = -INFINITY
    if c.length == 0:
        return
    for i in range(c.length * plane):
        here[i] = -INFINITY
    for b in range(c.labels):
        here[(b != right[0]) * stride + b] = c.emissions[b]
    for i in range(1, c.length):
        for d in range(i + 1):
            relax(here + d * stride, c.transitions + i * c.transition_stride, c.labels, stride, work)
            for b in range(c.labels):
                here[plane + (d + (b != right[i])) * stride + b] = work[b] + c.emissions[i * stride + b]
        here += plane
    for d in range(c.length + 1):
        b = first_best(here + d * stride, c.labels)
        score = here[d * stride + b] + sqrt(<double>d)
        if score > best or d == 0:  # no score is greater than NaN
            best, errors, path[last] = score, d, <int32_t>b
    for i in range(last, 0, -1):
        here -= plane
        errors = max(errors - (path[i] != right[i]), 0)  # negative only if scores are NaN
        path[i - 1] = label_before(
            c, i, here + errors * stride, path[i], best_score(c, i, here + errors * stride, path[i])
        )


cdef void merge(
    const Chain* c, const double* start, const double* to_label, Py_ssize_t n, double* best, int32_t* origin,
    int32_t* rank
) noexcept nogil:
    """Find the n best paths to a label, best first, from n sorted paths to each label before it; -inf if there are
    fewer.

    `to_label` are the transitions to it, NULL at the end of the sequence. `origin` is the place of the path in `start`,
    label by label.
    """
    cdef Py_ssize_t a, k, choice
    cdef double score, highest
    for a in range(c.labels):
        rank[a] = 0
    for k in range(n):
        highest, choice = -INFINITY, 0
        for a in range(c.labels):
            if rank[a] < n:
                score = start[a * n + rank[a]] + (0 if to_label == NULL else to_label[a * c.stride])
                if score > highest:
                    highest, choice = score, a
        best[k], origin[k] = highest, <int32_t>(choice * n + min(<Py_ssize_t>rank[choice], n - 1))
        rank[choice] += 1


cdef Chain view(object emissions, object transitions) except *:
    """Return a chain of emissions (tokens by labels) and transitions ((tokens by) labels by labels)."""
    cdef Chain c
    c.length, c.stride = emissions.shape
    *tokens, c.labels, width = transitions.shape
    if width != c.stride or c.labels > c.stride or c.labels == 0 or tokens not in ([], [c.length]):
        raise ValueError(f"emissions {emissions.shape} and transitions {transitions.shape} do not fit together")
    c.emissions = <const double*>address(emissions, "d", c.length * c.stride)
    c.transitions = <const double*>address(transitions, "d", transitions.size)
    c.transition_stride = c.labels * c.stride if tokens else 0
    return c


def decode(emissions, transitions, ends):
    """Return the best labels of each sequence; sequence i is the tokens from ends[i] up to ends[i + 1]."""
    cdef Chain c = view(emissions, transitions)
    cdef const double* tokens = c.emissions
    cdef const double* steps = c.transitions
    cdef Py_ssize_t i, n = len(ends) - 1
    cdef const Py_ssize_t* end = <const Py_ssize_t*>address(ends, "lq", n + 1)
    if ends[n] > c.length:
        raise ValueError(f"{c.length} tokens are fewer than the {ends[n]} of the sequences")
    paths = np.empty(c.length, np.int32)
    scratch = np.empty(2 * int(np.diff(ends).max(initial=0)) * c.stride)
    cdef int32_t* path = <int32_t*>address(paths, "i", c.length, writable=True)
    cdef double* work = <double*>address(scratch, "d", scratch.size, writable=True)
    with nogil:
        for i in range(n):
            c.emissions = tokens + end[i] * c.stride
            c.transitions = steps + end[i] * c.transition_stride
            c.length = end[i + 1] - end[i]
            best_path(&c, path + end[i], work)
    return paths


cdef inline double log_sum(const double* x, Py_ssize_t n) noexcept nogil:
    """Return ln sum exp x."""
    cdef Py_ssize_t k
    cdef double top = -INFINITY, sum = 0
    for k in range(n):
        top = max(top, x[k])
    if top == -INFINITY:
        return top
    for k in range(n):
        sum += exp(x[k] - top)
    return top + log(sum)


cdef double forward_backward(const Chain* c, double scale, double* p, double* work) noexcept nogil:
    """Set p, tokens by labels, to the marginals of P(z) = exp(scale s(z)) / Z; return ln Z.

    O(length labels^2). `work` holds (length + 2) * labels numbers.
    """
    cdef Py_ssize_t i, a, b, n = c.labels
    cdef const double* T
    cdef double* behind = work            # ln of the sum over the paths to each label of a token
    cdef double* ahead = work + c.length * n
    cdef double* terms = ahead + n
    cdef double total
    if c.length == 0:
        return 0
    for i in range(c.length):
        T = c.transitions + i * c.transition_stride
        for b in range(n):
            behind[i * n + b] = scale * c.emissions[i * c.stride + b]
            if i > 0:
                for a in range(n):
                    terms[a] = behind[(i - 1) * n + a] + scale * T[a * c.stride + b]
                behind[i * n + b] += log_sum(terms, n)
    total = log_sum(behind + (c.length - 1) * n, n)
    for a in range(n):
        ahead[a] = 0                      # ln of the sum over the paths that continue from each label
    for i in range(c.length - 1, -1, -1):
        for a in range(n):
            p[i * n + a] = exp(behind[i * n + a] + ahead[a] - total)
        if i > 0:
            T = c.transitions + i * c.transition_stride
            for b in range(n):
                ahead[b] += scale * c.emissions[i * c.stride + b]
            for a in range(n):
                for b in range(n):
                    terms[b] = ahead[b] + scale * T[a * c.stride + b]
                behind[i * n + a] = log_sum(terms, n)   # no longer needed for this token
            for a in range(n):
                ahead[a] = behind[i * n + a]
    return total


def marginals(emissions, transitions, ends, double scale):
    """Return the probability of each label of each token, with P(z) proportional to exp(scale s(z)), and ln Z per
    sequence.

    Sequence i is the tokens from ends[i] up to ends[i + 1]. An emission of -inf rules a label out.
    """
    cdef Chain c = view(emissions, transitions)
    cdef const double* tokens = c.emissions
    cdef const double* steps = c.transitions
    cdef Py_ssize_t i, n = len(ends) - 1
    cdef const Py_ssize_t* end = <const Py_ssize_t*>address(ends, "lq", n + 1)
    if ends[n] > c.length:
        raise ValueError(f"{c.length} tokens are fewer than the {ends[n]} of the sequences")
    shares, totals = np.empty((c.length, c.labels)), np.empty(n)
    scratch = np.empty((int(np.diff(ends).max(initial=0)) + 2) * c.labels)
    cdef double* p = <double*>address(shares, "d", shares.size, writable=True)
    cdef double* total = <double*>address(totals, "d", n, writable=True)
    cdef double* work = <double*>address(scratch, "d", scratch.size, writable=True)
    with nogil:
        for i in range(n):
            c.emissions = tokens + end[i] * c.stride
            c.transitions = steps + end[i] * c.transition_stride
            c.length = end[i + 1] - end[i]
            total[i] = forward_backward(&c, scale, p + end[i] * c.labels, work)
    return shares, totals


cdef reserve_ways(Ways* ways, Py_ssize_t n, Py_ssize_t tokens, Py_ssize_t labels):
    """Make room for the n best paths to each label of each token; return the owners of the memory."""
    cdef Py_ssize_t size = tokens * labels * n
    scores, places = np.empty(size), np.empty(size + n + labels, np.int32)
    ways.n = n
    ways.scores = <double*>address(scores, "d", size, writable=True)
    ways.origins = <int32_t*>address(places, "i", size + n + labels, writable=True)
    ways.last = ways.origins + size
    ways.ranks = ways.last + n
    return scores, places


cdef void best_paths(const Chain* c, Ways* ways, double* scores, int32_t* paths) noexcept nogil:
    """Find the n labelings of highest score, best first; the score is -inf where there are fewer.

    O(length labels (labels + n labels)): each label of a token keeps its n best paths.
    """
    cdef Py_ssize_t i, b, k, n = ways.n, layer = c.labels * n, place
    cdef double* here = ways.scores
    if c.length == 0:
        return
    for b in range(c.labels):
        here[b * n] = c.emissions[b]
        for k in range(1, n):
            here[b * n + k] = -INFINITY
    for i in range(1, c.length):
        for b in range(c.labels):
            place = i * layer + b * n
            merge(
                c, here, c.transitions + i * c.transition_stride + b, n, ways.scores + place, ways.origins + place,
                ways.ranks,
            )
            for k in range(n):
                ways.scores[place + k] += c.emissions[i * c.stride + b]
        here += layer
    merge(c, here, NULL, n, scores, ways.last, ways.ranks)
    for k in range(n):
        place = ways.last[k]
        for i in range(c.length - 1, -1, -1):
            paths[k * c.length + i] = <int32_t>(place // n)
            if i > 0:
                place = ways.origins[i * layer + place]


def decode_best(emissions, transitions, Py_ssize_t n):
    """Return the n labelings of highest score, or all if there are fewer: scores, best first, and paths."""
    cdef Chain c = view(emissions, transitions)
    cdef Ways ways
    totals, paths = np.zeros(n), np.zeros((n, c.length), np.int32)
    if c.length == 0:
        return totals[:1], paths[:1]
    _owners = reserve_ways(&ways, n, c.length, c.labels)
    cdef double* total = <double*>address(totals, "d", n, writable=True)
    cdef int32_t* path = <int32_t*>address(paths, "i", n * c.length, writable=True)
    with nogil:
        best_paths(&c, &ways, total, path)
    found = totals > -np.inf
    return totals[found], paths[found]


def decode_most_wrong(emissions, transitions, right):
    """Return the labels z with the highest s(z) + sqrt(number of wrong tokens of z), for one sequence."""
    cdef Chain c = view(emissions, transitions)
    path = np.empty(c.length, np.int32)
    scratch = np.empty((c.length * (c.length + 1) + 1) * c.stride)
    most_wrong_path(
        &c, <const int32_t*>address(right, "i", c.length), <int32_t*>address(path, "i", c.length, writable=True),
        <double*>address(scratch, "d", scratch.size, writable=True),
    )
    return path


cdef class Sequence(Task):
    """Sequence labeling: y has a label per row; the labeling z of highest score is predicted ([JMLR] sec. 9).

    Loss s(q) - s(y) + sqrt(rho(y, q)), where rho(y, z) = sum_i cost[y_i, z_i], or with `squared` its square. q is the
    prediction, or with `max_loss` the labeling of largest loss: with `squared` the root is a sum over the rows, as the
    scores are; otherwise the cost must be 1 for each wrong label. The cost of the round is that of the prediction.
    """

    def __init__(self, cost, *, bint squared=False, bint max_loss=False):
        self.cost = square(cost)
        self.squared = squared
        self.max_loss = max_loss
        self.rho = <const double*>address(self.cost, "d", self.cost.size)

    def __reduce__(self):
        return partial(type(self), self.cost, squared=self.squared, max_loss=self.max_loss), ()

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t scores):
        cdef Py_ssize_t planes = rows * (rows + 1) + 1 if self.max_loss and not self.squared else 2 * rows
        self.owners = (
            np.empty(planes * scores),
            np.empty(rows * scores if self.max_loss and self.squared else 0),
            np.empty(2 * rows, np.int32),
        )
        self.work = <double*>address(self.owners[0], "d", self.owners[0].size, writable=True)
        self.augmented = <double*>address(self.owners[1], "d", self.owners[1].size, writable=True)
        self.right = <int32_t*>address(self.owners[2], "i", 2 * rows, writable=True)
        self.predicted = self.right + rows

    cdef Chain receive(self, const Round* r) noexcept nogil:
        """Return the chain of the scores, and read the right labels."""
        cdef Py_ssize_t i
        for i in range(r.n_rows):
            self.right[i] = <int32_t>r.y[i]
        return Chain(
            r.s, r.sequence.transitions, r.n_rows, r.sequence.n_labels, r.sequence.stride, r.sequence.transition_stride
        )

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef Chain c = self.receive(r)
        cdef int32_t* rival = r.sequence.rivals
        cdef double loss
        self.choose(&c, rival)
        memcpy(self.predicted, rival, r.n_rows * sizeof(int32_t))
        if self.is_right(r, rival):  # no other labeling has that score
            return
        if self.max_loss:
            best_path(&c, self.predicted, self.work)
        r.mistake = not self.is_right(r, self.predicted)
        r.cost = self.cost_of(r, self.predicted)
        loss = path_score(&c, rival) - path_score(&c, self.right) + sqrt(self.cost_of(r, rival))
        if loss > 0:
            demand(r, RIGHT, RIVAL, loss, r.mistake)
            suffer(r, loss)

    cdef void choose(self, Chain* c, int32_t* rival) noexcept nogil:
        cdef Py_ssize_t i, a
        cdef Chain costly = c[0]
        if not self.max_loss:
            best_path(c, rival, self.work)
        elif not self.squared:
            most_wrong_path(c, self.right, rival, self.work)
        else:
            for i in range(c.length):
                for a in range(c.stride):
                    self.augmented[i * c.stride + a] = c.emissions[i * c.stride + a]
                for a in range(c.labels):
                    self.augmented[i * c.stride + a] += self.rho[self.right[i] * c.labels + a]
            costly.emissions = self.augmented
            best_path(&costly, rival, self.work)

    cdef bint is_right(self, const Round* r, const int32_t* path) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(r.n_rows):
            if path[i] != self.right[i]:
                return False
        return True

    cdef double cost_of(self, const Round* r, const int32_t* path) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0
        for i in range(r.n_rows):
            total += self.rho[self.right[i] * r.sequence.n_labels + path[i]]
        return total * total if self.squared else total

    def decode(self, scores):
        raise TypeError("labels of a sequence depend on its transitions: use onmargin._core.tasks.sequence.decode")


cdef class RivalSequences(Sequence):
    """Sequence labeling against the n wrong labelings of highest score: a trial of n half-spaces ([SIMPROJ] sec. 10).

    The losses and the costs are those of `Sequence`; the loss of a round is the largest.
    """

    cdef readonly Py_ssize_t n_rivals
    cdef tuple found
    cdef Ways ways
    cdef double* scores     # of the best labelings, one more than there are rivals
    cdef int32_t* paths

    def __init__(self, cost, *, Py_ssize_t n_rivals, bint squared=False):
        super().__init__(cost, squared=squared)
        self.n_rivals = n_rivals

    def __reduce__(self):
        return partial(type(self), self.cost, n_rivals=self.n_rivals, squared=self.squared), ()

    cdef Py_ssize_t most_halfspaces(self, Py_ssize_t scores):
        return self.n_rivals

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t scores):
        cdef Py_ssize_t n = self.n_rivals + 1
        Sequence.reserve(self, rows, scores)
        self.found = np.empty(n), np.empty(n * rows, np.int32), reserve_ways(&self.ways, n, rows, len(self.cost))
        self.scores = <double*>address(self.found[0], "d", n, writable=True)
        self.paths = <int32_t*>address(self.found[1], "i", n * rows, writable=True)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef Chain c = self.receive(r)
        cdef int32_t* path
        cdef Py_ssize_t k, n = 0
        cdef double own = path_score(&c, self.right), loss, most = 0
        if r.n_rows == 0:
            return
        best_paths(&c, &self.ways, self.scores, self.paths)
        r.mistake = not self.is_right(r, self.paths)
        r.cost = self.cost_of(r, self.paths)
        for k in range(self.ways.n):
            path = self.paths + k * r.n_rows
            if n < self.n_rivals and self.scores[k] > -INFINITY and not self.is_right(r, path):
                loss = self.scores[k] - own + sqrt(self.cost_of(r, path))
                demand(r, RIGHT, RIVAL + n, loss, not own > self.scores[k])
                memmove(self.paths + n * r.n_rows, path, r.n_rows * sizeof(int32_t))
                most = max(most, loss)
                n += 1
        r.sequence.rivals = self.paths
        if most > 0:
            suffer(r, most)
