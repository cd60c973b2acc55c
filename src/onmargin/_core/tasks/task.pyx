"""A task turns scores and a target into half-spaces, and scores into a prediction.

`constrain` fills in the half-spaces that the scores violate, the loss of the round and whether it is a mistake;
`decode` predicts from a matrix of scores, one row per example.
"""

import numpy as np

from libc.math cimport exp, fabs, log, log1p, sqrt
from libc.stdint cimport uint8_t

from onmargin._core.round cimport Evidence, Round, demand, demand_of_one, suffer
from onmargin._core.rows cimport address


cdef inline Py_ssize_t best_rival(const double* s, Py_ssize_t n_columns, Py_ssize_t right) noexcept nogil:
    """Return the first column of highest score other than the right one.

    The highest score is found first, without a branch that depends on the scores, and then its column.
    """
    cdef Py_ssize_t c, rival = 1 if right == 0 else 0
    cdef double best = s[rival]
    if n_columns > 8:
        best = max(highest(s, 0, right, best), highest(s, right + 1, n_columns, best))
        for c in range(rival, n_columns):
            if s[c] == best and c != right:
                return c
        return rival  # all scores are NaN
    for c in range(rival + 1, n_columns):
        if s[c] > s[rival] and c != right:
            rival = c
    return rival


cdef inline double highest(const double* s, Py_ssize_t start, Py_ssize_t stop, double best) noexcept nogil:
    """Return the largest of `best` and the scores from start up to stop, in four chains."""
    cdef double a = best, b = best, c = best, d = best
    while start + 4 <= stop:
        a = s[start] if s[start] > a else a
        b = s[start + 1] if s[start + 1] > b else b
        c = s[start + 2] if s[start + 2] > c else c
        d = s[start + 3] if s[start + 3] > d else d
        start += 4
    while start < stop:
        a = s[start] if s[start] > a else a
        start += 1
    return max(max(a, b), max(c, d))


cdef inline Py_ssize_t first_best(const double* s, Py_ssize_t n_columns) noexcept nogil:
    cdef Py_ssize_t c, best = 0
    for c in range(1, n_columns):
        if s[c] > s[best]:
            best = c
    return best


def square(cost):
    """Return costs as a square matrix."""
    matrix = np.ascontiguousarray(cost, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != matrix.shape[1]:
        raise ValueError(f"cost must be a square matrix; got shape {matrix.shape}")
    return matrix


cdef class Task:
    """Base class of tasks; it copies and pickles tasks without parameters."""

    cdef reserve(self, Py_ssize_t rows, Py_ssize_t scores):
        """Make room for trials of this many rows, with this many scores each."""

    cdef Py_ssize_t most_halfspaces(self, Py_ssize_t scores):
        """Return the largest number of half-spaces of a trial: one per score, and one more for a calibration label."""
        return scores + 1

    cdef void constrain(self, Round* r) noexcept nogil:
        pass

    cdef void vote(self, const double* s, Py_ssize_t n, double weight, double* votes) noexcept nogil:
        """Add the prediction from n scores to the combined scores of several predictions."""

    cdef Py_ssize_t settle(self, double* s, Py_ssize_t n) noexcept nogil:
        """Move the predicting scores to the front of all n scores; return their number."""
        return n

    cdef Evidence evidence(self, const double* s, Py_ssize_t n, double* room) noexcept nogil:
        """Return the evidence for probabilities from all n scores; there is room for n numbers."""
        return Evidence(s, NULL, n)

    cdef const uint8_t* asleep(self) noexcept nogil:
        """Return one flag per score, whether its model sleeps; NULL if models never sleep."""
        return NULL

    def __reduce__(self):
        return type(self), ()


cdef class Classes(Task):
    """Base of classification tasks with a margin: one number for all classes, or one per class.

    With `weighted`, the weight k of an example acts on its half-space, too, because where C limits no step a factor on
    C has no effect: with the margin m and the loss l > 0, the step aims at the margin m + (k - 1) min(l, m). A mistake
    is thus moved to the margin k m, as by a cost of k^2 ([JMLR] sec. 8), and without loss nothing moves.
    """

    cdef ask(self, margin):
        """Set the margin; an array is copied."""
        self.owner = np.array(margin, dtype=np.float64, ndmin=1)
        if not self.owner.size:
            raise ValueError("margin must be a number or one number per class; got an empty array")
        self.margin = self.owner if np.ndim(margin) else float(margin)
        self.margins = <double*>address(self.owner, "d", self.owner.size)
        self.last = self.owner.size - 1

    def decode(self, scores):
        return scores.argmax(axis=1)


cdef class Binary(Classes):
    """Binary classification: y in {-1, +1}, one column, loss [margin_y - y s]_+ ([JMLR] sec. 3). A score of 0 is a
    mistake.

    With `eager`, the half-space is emitted even if it is satisfied, for steps that require more.
    """

    def __init__(self, margin=1.0, bint eager=False, bint weighted=False):
        self.kind = BINARY if type(self) is Binary else OTHER
        self.ask(margin)
        self.eager = eager
        self.weighted = weighted

    def __reduce__(self):
        return type(self), (self.margin, self.eager, self.weighted)

    cdef void constrain(self, Round* r) noexcept nogil:
        self.require(r)

    cdef void vote(self, const double* s, Py_ssize_t n, double weight, double* votes) noexcept nogil:
        votes[0] += weight if s[0] >= 0 else -weight

    def decode(self, scores):
        return (scores[:, 0] >= 0).astype(np.intp)


cdef class Regression(Task):
    """Regression: y real, one column, loss [|y - s| - epsilon]_+ ([JMLR] sec. 5). Outside the tube is a mistake."""

    def __init__(self, double epsilon):
        self.kind = REGRESSION if type(self) is Regression else OTHER
        self.epsilon = epsilon

    def __reduce__(self):
        return type(self), (self.epsilon,)

    cdef void constrain(self, Round* r) noexcept nogil:
        self.require(r)

    cdef void vote(self, const double* s, Py_ssize_t n, double weight, double* votes) noexcept nogil:
        votes[0] += weight * s[0]

    def decode(self, scores):
        return scores[:, 0]


cdef class Quantile(Regression):
    """Regression of a quantile q: y real, one column, loss q [y - s - epsilon]_+ + (1 - q) [s - y - epsilon]_+.

    The prices of the half-spaces are 1 / q and 1 / (1 - q): a step is at most C q upward, and C (1 - q) downward.
    """

    cdef readonly double quantile
    cdef double[2] prices  # downward, upward

    def __init__(self, double epsilon, double quantile):
        super().__init__(epsilon)
        if not 0 < quantile < 1:
            raise ValueError(f"quantile must be between 0 and 1; got {quantile}")
        self.quantile = quantile
        self.prices[0], self.prices[1] = 1 / (1 - quantile), 1 / quantile

    def __reduce__(self):
        return type(self), (self.epsilon, self.quantile)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef double y = r.y[0], loss = fabs(y - r.s[0]) - self.epsilon
        cdef bint upward = y > r.s[0]
        r.prices = &self.prices[upward]
        r.mistake = loss > 0
        if loss > 0:
            demand_of_one(r, upward, loss, True)
            suffer(r, loss / self.prices[upward])


cdef class Uniclass(Task):
    """Uniclass: a ball of the given radius must contain the row, loss [d - radius]_+ ([JMLR] sec. 6).

    The scores are the distance d from the center and its part `height` that no row can change (see Center). The cost
    of the round is the distance from the ball among the rows, [|x - c| - sqrt(radius^2 - height^2)]_+.
    """

    cdef readonly double radius

    def __init__(self, double radius):
        self.radius = radius

    def __reduce__(self):
        return type(self), (self.radius,)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef double d = r.s[0], height = r.s[1], loss = d - self.radius, apart, reach
        r.mistake = not loss <= 0
        if loss > 0:
            apart = sqrt((d - height) * (d + height))
            reach = sqrt((self.radius - height) * (self.radius + height))
            r.cost = loss * (d + self.radius) / (apart + reach)
            demand(r, -1, 0, loss, True)
            suffer(r, loss)

    def decode(self, scores):
        return np.where(scores[:, 0] <= self.radius, 1, -1)


cdef class Multiclass(Classes):
    """Multiclass: y a column, one prototype per class, loss [margin_y - (s_y - max_{r != y} s_r)]_+ ([JMLR] sec. 7).

    The half-space of the best rival only, or with `every` those of all rivals: a trial for simultaneous projections
    ([SIMPROJ] sec. 2). With `eager`, they are emitted even if they are satisfied, for steps that require more.
    """

    cdef readonly bint every

    def __init__(self, margin=1.0, bint every=False, bint eager=False, bint weighted=False):
        self.ask(margin)
        self.every = every
        self.eager = eager
        self.weighted = weighted

    def __reduce__(self):
        return type(self), (self.margin, self.every, self.eager, self.weighted)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef const double* s = r.s
        cdef Py_ssize_t c, right = <Py_ssize_t>r.y[0], rival
        cdef double asked = self.asked(right), loss
        if r.n_scores < 2:
            return
        rival = best_rival(s, r.n_scores, right)
        loss = asked - (s[right] - s[rival])
        r.mistake = not s[right] > s[rival]
        if loss <= 0 and not self.eager:
            return
        suffer(r, max(loss, 0))
        if not self.every:
            demand(r, right, rival, self.weigh(r, loss, asked), r.mistake)
            return
        for c in range(r.n_scores):
            if c != right:
                loss = asked - (s[right] - s[c])
                demand(r, right, c, self.weigh(r, loss, asked) if loss > 0 else loss, not s[right] > s[c])

    cdef void vote(self, const double* s, Py_ssize_t n, double weight, double* votes) noexcept nogil:
        votes[first_best(s, n)] += weight


cdef class OneVsRest(Multiclass):
    """One-vs-rest: y a column, each column a binary problem of its class against all others.

    All columns have the margin of the example's class. Loss and squared loss are summed over the columns; a
    mistake is a wrong joint prediction.
    """

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef const double* s = r.s
        cdef Py_ssize_t c, right = <Py_ssize_t>r.y[0]
        cdef double asked = self.asked(right), margin, loss
        for c in range(r.n_scores):
            margin = s[c] if c == right else -s[c]
            if margin < asked or self.eager:
                loss = self.weigh(r, asked - margin, asked)
                demand(r, c if c == right else -1, -1 if c == right else c, loss, not margin > 0)
                suffer(r, max(asked - margin, 0))
            if c != right and not s[right] > s[c]:
                r.mistake = True


cdef class CostSensitive(Multiclass):
    """Cost-sensitive multiclass: rho[y, q] is the cost of predicting q, loss s_q - s_y + sqrt(rho(y, q)) ([JMLR] sec.
    8).

    q is the prediction, or with `max_loss` the class of largest loss. The cost of the round is that of the prediction.
    Two classes have one column, which is the difference of their scores, and targets -1 and +1.
    """

    cdef readonly object cost
    cdef readonly bint max_loss
    cdef double* rho

    def __init__(self, cost, bint max_loss, bint weighted=False):
        super().__init__(weighted=weighted)
        self.cost = square(cost)
        self.max_loss = max_loss
        self.rho = <double*>address(self.cost, "d", self.cost.size)

    def __reduce__(self):
        return type(self), (self.cost, self.max_loss, self.weighted)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef double[2] two
        cdef double y = r.y[0]
        if r.n_scores == 1:
            two[0], two[1] = 0, r.s[0]
            self.choose(two, 2, y > 0, r.s[0] >= 0, r)
            if r.n_halfspaces > 0:
                r.halfspaces.up, r.halfspaces.down = (0, -1) if y > 0 else (-1, 0)
        else:
            self.choose(r.s, r.n_scores, <Py_ssize_t>y, first_best(r.s, r.n_scores), r)

    cdef void choose(
        self, const double* s, Py_ssize_t k, Py_ssize_t right, Py_ssize_t predicted, Round* r
    ) noexcept nogil:
        cdef const double* rho = self.rho + right * k
        cdef Py_ssize_t c, q = 0 if self.max_loss else predicted
        if self.max_loss:
            for c in range(1, k):
                if s[c] + sqrt(rho[c]) > s[q] + sqrt(rho[q]):
                    q = c
        r.mistake = not s[right] > s[best_rival(s, k, right)]
        r.cost = rho[predicted]
        cdef double loss = s[q] - s[right] + sqrt(rho[q])
        if q != right and loss > 0:
            demand(r, right, q, self.weigh(r, loss, sqrt(rho[q])), r.mistake)
            suffer(r, loss)

    def decode(self, scores):
        return (scores[:, 0] >= 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)


cdef class Structured(Task):
    """Structures: the row is phi(x, y) - phi(x, z), the target sqrt(rho(y, z)) and the cost of the round ([JMLR] sec.
    8).

    Loss [sqrt(rho(y, z)) - s]_+. The rival z and the prediction were searched for elsewhere; a prediction that costs
    anything is a mistake.
    """

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef double loss = r.y[0] - r.s[0]
        r.cost = r.y[1]
        r.mistake = r.cost > 0
        if loss > 0:
            demand(r, 0, -1, loss, r.mistake)
            suffer(r, loss)

    def decode(self, scores):
        """Return by how much the right structure is ahead."""
        return scores[:, 0]


cdef class Softmax(Task):
    """Logistic regression: y a column, or -1 and +1 with one column, loss -ln p_y with p the softmax of the scores.

    One half-space per column that the gradient moves, with the slope as its `loss`: 1 - p_y up, p_c down. A step along
    each by a rate times that is gradient descent. Columns whose slope is at most `smallest` do not move: that would
    cost as much as moving those of probable classes.
    """

    cdef readonly double smallest

    def __init__(self, double smallest=1e-3):
        self.smallest = smallest

    def __reduce__(self):
        return type(self), (self.smallest,)

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef const double* s = r.s
        cdef Py_ssize_t c, n = r.n_scores, right = <Py_ssize_t>r.y[0]
        cdef double top, total = 0, p, margin
        if n == 1:
            margin = r.y[0] * s[0]
            r.mistake = not margin > 0
            p = 1 / (1 + exp(margin)) if margin > -700 else 1  # probability of the wrong class
            if p > self.smallest:
                demand_of_one(r, r.y[0] > 0, p, r.mistake)
            suffer(r, log1p(exp(-margin)) if margin > 0 else log1p(exp(margin)) - margin)
            return
        top = s[0]
        for c in range(n):
            top = max(top, s[c])
            r.mistake = r.mistake or (c != right and not s[right] > s[c])
        for c in range(n):
            total += exp(s[c] - top)
        for c in range(n):
            p = exp(s[c] - top) / total
            if c == right and 1 - p > self.smallest:
                demand(r, c, -1, 1 - p, r.mistake)
            elif c != right and p > self.smallest:
                demand(r, -1, c, p, r.mistake)
        suffer(r, log(total) + top - s[right])

    cdef void vote(self, const double* s, Py_ssize_t n, double weight, double* votes) noexcept nogil:
        cdef Py_ssize_t c, best = 0
        if n == 1:
            votes[0] += weight if s[0] >= 0 else -weight
            return
        for c in range(1, n):
            if s[c] > s[best]:
                best = c
        votes[best] += weight

    def decode(self, scores):
        return (scores[:, 0] >= 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)


cdef class Indicators(Softmax):
    """Least squares on class indicators: the target score is 1 for column y and 0 for the others; -1 or +1 with one
    column.

    One half-space per column, with the distance from the target as its `loss`. The highest score predicts.
    """

    cdef void constrain(self, Round* r) noexcept nogil:
        cdef const double* s = r.s
        cdef Py_ssize_t c, right = <Py_ssize_t>r.y[0]
        cdef double residual
        if r.n_scores == 1:
            r.mistake = not r.y[0] * s[0] > 0
        for c in range(r.n_scores):
            residual = (r.y[0] if r.n_scores == 1 else <double>(c == right)) - s[c]
            demand(r, c if residual > 0 else -1, -1 if residual > 0 else c, fabs(residual), False)
            suffer(r, fabs(residual))
            if r.n_scores > 1 and c != right and not s[right] > s[c]:
                r.mistake = True
