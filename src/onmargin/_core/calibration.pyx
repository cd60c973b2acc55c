"""Probabilities of classes, calibrated on the stream itself.

The scores of a round are computed before its example is learned, so no hold-out set is needed. With s_k
the score of class k and v_k the score of the vote, if several models vote on more than two classes and s is the score
of the leading one,

    p_k = softmax_k(a s_k / dev(s) + b v_k / dev(v) + c_k).

Scores are centered over the classes; two classes have one score s, which stands for -s / 2 and s / 2. dev is the
running root mean square. Each pair (scores, label) is first judged, by log loss, Brier score and reliability, and then
learned: a, b and c follow the gradient of the log loss with AdaGrad ([ADAGRAD]). a and b stay above 0, so
that a higher score is never a lower probability.

Scores are rarely linear in the log odds, and many classes rarely share one temperature. So the odds o of the best
class are adjusted, and the other classes share the rest as before:

    ln o' = slope ln o + shift + bend max(ln o - 3/2, 0) + sum_j lift_j hat_j(ln o),

learned in the same way from whether the best class was right. hat_j is 1 at a knot, 0 at its neighbors and linear in
between. Two classes have their own lifts each, since a score may be surer of one of them. The log loss is convex in all
of these numbers, so that their regret against the best ones grows with the square root of the rounds. The map is kept
increasing.

The predicted class, that of highest score, need not have the largest p, because c corrects scores that favor a class.
Its p is then raised to the largest of the others, so that predictions and probabilities agree, until
the stream has disproved that: `doubt` is the log likelihood ratio of the p before and after, and from ln 1000
on nothing is raised. If the raised p were true, the ratio would be a martingale and reach 1000 with probability at
most 1/1000.

Rounds of a single model may take less time than a few exponentials. The first 4096 rounds are all used, then on average
one of 2, and half as many each time the rounds double: in the end one of 64. If several models learn side by side, it
is the first 8192, and in the end one of 16. A round represents the skipped ones, so that the noise of the reported
values stays the same. A hash of the round number determines how many are skipped after it, so that the choice is
independent of patterns in the stream.
"""

import numpy as np

from onmargin._core.restore import fill, whole, zeros

from libc.math cimport exp, isfinite, log, sqrt
from libc.stdint cimport uint64_t

from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Evidence, Round, finite
from onmargin._core.rows cimport address
from onmargin._core.tasks.task cimport Task

# The rate of AdaGrad and its initial sum of squared gradients.
cdef double RATE = 1.0, FIRST_SQUARES = 4.0
# The smallest factor of scores, the longest memory of their deviation in rounds, and the largest number of deviations
# used in a gradient.
cdef double LEAST_FACTOR = 0.01, MEMORY = 1024, MOST_DEVIATIONS = 8
# Number of first rounds that are all used, and the largest number that one represents: with one model, with several.
cdef double[2] THOROUGH = [4096, 8192]
cdef uint64_t[2] MOST = [64, 16]
# Where the log odds of the best class bend, and the rate of their adjustment.
cdef double KNEE = 1.5, SLOW = 0.3
# Log odds at which lifts are learned; in between they are interpolated, and beyond them they are constant.
cdef double[KNOTS] KNOT = [0, 1, 2, 4]
# The log likelihood ratio from which on the class of highest score need not be the most probable.
cdef double PROVEN = log(1000)
# Logits are clipped at this distance below the largest, so that no probability is 0.
cdef double DEPTH = 30
# The most by which a predicted class is raised above the most probable other one, as a fraction of that one's p.
cdef double AHEAD = 0.01


cdef extern from "odds.h" nogil:
    ctypedef struct Odds:
        double (*sum)(const double* s, Py_ssize_t n) noexcept nogil
        double (*largest)(const double* s, Py_ssize_t n) noexcept nogil
        double (*squares)(const double* s, Py_ssize_t n, double mean) noexcept nogil
        void (*blend)(
            const double* base, const double* s, Py_ssize_t n, double mean, double unit, double* out
        ) noexcept nogil
        void (*softmax)(double* p, Py_ssize_t n, double top, double depth) noexcept nogil
        double (*slope)(
            const double* g, const double* s, Py_ssize_t n, double mean, double unit, double most
        ) noexcept nogil
        void (*descend)(const double* g, Py_ssize_t n, double rate, double* c, double* squares) noexcept nogil

    const Odds* odds_for()

cdef const Odds* odds = odds_for()


cdef inline double mean_of(const double* s, Py_ssize_t n) noexcept nogil:
    return odds.sum(s, n) / n


cdef inline Centered centered(const Evidence* e, double* room) noexcept nogil:
    """Evidence with a score for each class: the one score s of two classes stands for -s / 2 and s / 2."""
    if e.n != 1:
        return Centered(e.s, e.v, e.n, mean_of(e.s, e.n), 0 if e.v == NULL else mean_of(e.v, e.n))
    room[0], room[1] = -e.s[0] / 2, e.s[0] / 2
    if e.v == NULL:
        return Centered(room, NULL, 2, 0, 0)
    room[2], room[3] = -e.v[0] / 2, e.v[0] / 2
    return Centered(room, room + 2, 2, 0, 0)


# Two classes are the most frequent case: a call of a kernel would take longer than the arithmetic.

cdef inline double sum_but(const double* p, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """The sum of all numbers but one."""
    if n == 2:
        return p[1 - k]
    return odds.sum(p, k) + odds.sum(p + k + 1, n - k - 1)


cdef inline double largest_but(const double* p, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """The largest of all numbers but one."""
    if n == 2:
        return p[1 - k]
    return max(odds.largest(p, k), odds.largest(p + k + 1, n - k - 1))


cdef inline Py_ssize_t first_largest(const double* p, Py_ssize_t n) noexcept nogil:
    cdef double top = odds.largest(p, n)
    cdef Py_ssize_t k
    for k in range(n):
        if p[k] == top:
            return k
    return 0


cdef inline double unit_of(double square) noexcept nogil:
    return 1 / sqrt(square) if square > 0 else 0


cdef inline double squares_of(const double* s, Py_ssize_t n, double mean) noexcept nogil:
    """The sum of squared distances from the mean."""
    if n == 2:
        return (s[0] - mean) * (s[0] - mean) + (s[1] - mean) * (s[1] - mean)
    return odds.squares(s, n, mean)


cdef inline double followed(double before, const double* s, Py_ssize_t n, double mean, double n_seen) noexcept nogil:
    """Return the running mean square after these scores, clipped at 100 times the usual size."""
    cdef double square = finite(squares_of(s, n, mean) / n)
    if before > 0:
        square = min(square, 1e4 * before)
    return before + (square - before) / min(n_seen, MEMORY)


cdef inline double raised(double p, double top) noexcept nogil:
    return top + AHEAD / (1 + AHEAD) * p


cdef inline double raise_best(double* p, Py_ssize_t n, Py_ssize_t best, double top) noexcept nogil:
    """Make a class the most probable one; `top` is the largest p of the others, whose new largest one is returned.

    p increases with the score from p[best] = 0, which becomes `top`, to (1 + AHEAD) top, from where on it is kept.
    """
    cdef Py_ssize_t k
    cdef double sum
    if p[best] >= (1 + AHEAD) * top:
        return top
    sum = sum_but(p, n, best)
    p[best] = raised(p[best], top)
    sum += p[best]
    for k in range(n):
        p[k] /= sum
    return top / sum


cdef inline void descend(double* value, double* squares, double g) noexcept nogil:
    """One step of AdaGrad."""
    squares[0] += g * g
    value[0] -= SLOW * g / sqrt(squares[0])


cdef class Calibration:
    """Calibrated probabilities of `n_classes` classes, learned from the scores of rounds and evaluated before.

    With `learning` off, only the deviations of scores are updated: in later passes over the same examples, scores are
    computed by weights that have learned these examples, and do not measure how often predictions are right.
    """

    def __init__(self, Py_ssize_t n_classes=0):
        cdef Py_ssize_t k
        self.n_classes = whole(n_classes, "n_classes")
        self.a = self.b = 0.5
        self.a_squares = self.b_squares = FIRST_SQUARES
        self.slope, self.shift, self.bend = 1, 0, 0
        self.slope_squares = self.shift_squares = self.bend_squares = FIRST_SQUARES
        for k in range(2 * KNOTS):
            self.lifts[k], self.lift_squares[k] = 0, FIRST_SQUARES
        self.learning = True
        self.use_memory(zeros((3, n_classes)))
        self.memory[1] = FIRST_SQUARES

    cdef use_memory(self, memory):
        self.memory = memory
        self.c = <double*>address(memory, "d", memory.size, writable=True)
        self.c_squares = self.c + self.n_classes
        self.p = self.c_squares + self.n_classes

    def __copy__(self):
        cdef Calibration other = Calibration.__new__(Calibration)
        other.mirror = None if self.mirror is None else self.mirror.__copy__()
        other.n_classes, other.rounds, other.judged = self.n_classes, self.rounds, self.judged
        other.learning, other.wait, other.doubt = self.learning, self.wait, self.doubt
        other.slope, other.shift, other.bend = self.slope, self.shift, self.bend
        other.slope_squares, other.shift_squares = self.slope_squares, self.shift_squares
        other.bend_squares = self.bend_squares
        other.lifts, other.lift_squares = self.lifts, self.lift_squares
        other.a, other.b, other.a_squares, other.b_squares = self.a, self.b, self.a_squares, self.b_squares
        other.s_square, other.v_square = self.s_square, self.v_square
        other.weight, other.log_loss, other.brier, other.bins = self.weight, self.log_loss, self.brier, self.bins
        other.use_memory(self.memory.copy())
        return other

    def for_classes(self, places, Py_ssize_t n_classes, double stretch=1.0):
        """Return a copy for more classes; the classes known so far move to `places`.

        Their odds do not change, except for the adjustment of the best class. `stretch` is the factor by which
        differences of scores grow. A new class starts with the smallest offset.

        If two classes change places, what was learned of them in the other order takes over: the `mirror`.
        """
        cdef Calibration other = self.__copy__()
        cdef Py_ssize_t j
        if self.mirror is not None and n_classes == 2 and places[0] == 1:
            other = other.mirror
            other.rounds, other.wait, other.learning = self.rounds, self.wait, self.learning
            return other
        other.mirror = None
        if self.n_classes == n_classes == 2:
            return other
        if self.n_classes == 2 and n_classes > 2:  # which of the two was best no longer matters
            for j in range(KNOTS):
                other.lifts[j] = (self.lifts[j] + self.lifts[KNOTS + j]) / 2
        offsets = self.memory[:2]
        other.n_classes = n_classes
        other.use_memory(zeros((3, n_classes)))
        other.memory[0] = offsets[0].min(initial=0)
        other.memory[1] = FIRST_SQUARES
        other.memory[:2, places] = offsets
        other.s_square = finite(other.s_square * (stretch * stretch))
        return other

    def __reduce__(self):
        state = {
            "rounds": self.rounds, "judged": self.judged, "wait": self.wait, "offsets": self.memory[:2].copy(),
            "factors": np.array([self.a, self.b, self.a_squares, self.b_squares]),
            "best": np.array([self.slope, self.shift, self.bend]),
            "best_squares": np.array([self.slope_squares, self.shift_squares, self.bend_squares]),
            "lifts": np.array([self.lifts, self.lift_squares]),
            "squares": np.array([self.s_square, self.v_square]), "doubt": np.array([self.doubt]),
            "sums": np.array([self.weight, self.log_loss, self.brier]), "bins": self.bins_so_far(),
        }
        return type(self), (self.n_classes,), state | ({} if self.mirror is None else {"mirror": self.mirror})

    def reflect(self):
        """Also calibrate the two classes in the other order, until `for_classes`: only one of them has a name yet."""
        self.mirror = Calibration(self.n_classes)

    def __setstate__(self, state):
        mirror = state.get("mirror")
        if mirror is not None and not (isinstance(mirror, Calibration) and self.n_classes == mirror.n_classes == 2):
            raise ValueError(f"the mirror of a calibration must be one of two classes; got {mirror!r:.60}")
        self.mirror = mirror
        cdef Py_ssize_t k
        factors, squares, sums, bins = np.empty(4), np.empty(2), np.empty(3), np.empty((3, BINS))
        best, best_squares, doubt, lifts = np.empty(3), np.empty(3), np.empty(1), np.empty((2, 2 * KNOTS))
        for array, name in (
            (factors, "factors"), (squares, "squares"), (sums, "sums"), (bins, "bins"), (self.memory[:2], "offsets"),
            (best, "best"), (best_squares, "best_squares"), (doubt, "doubt"), (lifts, "lifts"),
        ):
            fill(array, state, name, least=-np.inf if name in {"best", "doubt", "lifts", "offsets"} else 0)
        if not min(factors.min(), best_squares.min(), lifts[1].min(), self.memory[1].min(initial=np.inf)) > 0:
            raise ValueError("factors and sums of squared gradients must be positive")
        self.rounds, self.judged = whole(state["rounds"], "rounds"), whole(state["judged"], "judged")
        self.wait = whole(state["wait"], "wait", most=128)
        self.a, self.b, self.a_squares, self.b_squares = factors
        self.s_square, self.v_square = squares
        self.slope, self.shift, self.bend = best
        self.slope_squares, self.shift_squares, self.bend_squares = best_squares
        self.doubt = doubt[0]
        for k in range(2 * KNOTS):
            self.lifts[k], self.lift_squares[k] = lifts[0, k], lifts[1, k]
        self.weight, self.log_loss, self.brier = sums
        for k in range(3 * BINS):
            self.bins[k] = bins.flat[k]

    def bins_so_far(self):
        """Return rounds, sum of probabilities and number of right classes of each bin of probabilities."""
        cdef Py_ssize_t k
        return np.array([self.bins[k] for k in range(3 * BINS)]).reshape(3, BINS)

    def state(self):
        """Return the learned numbers by name, without the mirror."""
        state = self.__reduce__()[2]
        state.pop("mirror", None)
        return state

    cdef Py_ssize_t next_due(self, Py_ssize_t n_scores) noexcept nogil:
        """Return how many rounds a used round represents; also set how many are skipped after it."""
        cdef bint several = n_scores > self.n_classes
        cdef uint64_t h, stands_for = 1, most = MOST[several]
        cdef double until = THOROUGH[several]
        if self.n_classes < 2:
            return 0
        self.rounds += 1
        if self.learning:
            while stands_for < most and self.weight >= until:
                stands_for *= 2
                until *= 2
        else:
            stands_for = most
        if stands_for > 1:
            h = <uint64_t>self.rounds * <uint64_t>0x9E3779B97F4A7C15
            h = (h ^ (h >> 32)) * <uint64_t>0xD6E8FEB86659FD93
            self.wait = 1 + (h >> 32) % (2 * stands_for - 1)
        return stands_for

    cdef void observe(self, Task task, Geometry geometry, Round* r, Py_ssize_t weight) noexcept nogil:
        """Evaluate the probabilities of a round and learn from its scores; the round counts as `weight` rounds."""
        cdef double* s = r.s
        cdef Py_ssize_t right = r.y[0] > 0 if self.n_classes == 2 else <Py_ssize_t>r.y[0]
        if geometry.averages():
            geometry.mean_scores(r.x, r.predicted, r.change)
            s = r.predicted
        cdef Evidence found = task.evidence(s, r.n_scores, r.change)
        cdef double opposite
        if found.n != (1 if self.n_classes == 2 else self.n_classes):
            return
        self.note(&found, right, weight)
        if self.mirror is not None:
            opposite = -found.s[0]
            found.s = &opposite
            self.mirror.learning = self.learning
            self.mirror.note(&found, 1 - right, weight)

    cdef void note(self, const Evidence* found, Py_ssize_t right, Py_ssize_t weight) noexcept nogil:
        """Evaluate the probabilities and learn from the evidence of a round."""
        cdef double[4] room
        cdef Centered e = centered(found, room)
        if not self.infer(&e, self.p):
            return
        if self.learning:
            self.judged += 1
            self.learn(&e, right)
            self.judge(self.settle(&e, self.p, right), right, weight)
        self.s_square = followed(self.s_square, e.s, e.n, e.s_mean, self.judged)
        if e.v != NULL:
            self.v_square = followed(self.v_square, e.v, e.n, e.v_mean, self.judged)

    cdef void show(self, const Evidence* evidence, double* p) noexcept nogil:
        """Set p to the probabilities of the classes."""
        cdef double[4] room
        cdef Centered e = centered(evidence, room)
        self.infer(&e, p)
        self.settle(&e, p)

    cdef bint infer(self, const Centered* e, double* p) noexcept nogil:
        """Set p, before it is settled; return False, with equal probabilities, if the scores are not finite."""
        cdef Py_ssize_t k
        odds.blend(self.c, e.s, e.n, e.s_mean, self.a * unit_of(self.s_square), p)
        if e.v != NULL:
            odds.blend(p, e.v, e.n, e.v_mean, self.b * unit_of(self.v_square), p)
        if not isfinite(p[0] + p[1] if e.n == 2 else odds.sum(p, e.n)):
            for k in range(e.n):
                p[k] = 1.0 / e.n
            return False
        odds.softmax(p, e.n, max(p[0], p[1]) if e.n == 2 else odds.largest(p, e.n), DEPTH)
        return True

    cdef Py_ssize_t settle(self, const Centered* e, double* p, Py_ssize_t right=-1) noexcept nogil:
        """Make the predicted class the most probable one, unless disproved, and adjust the odds of the best class.

        Return the best class, the most probable one. If the `right` class is given, learn the adjustment.
        """
        cdef const double* s = e.s if e.v == NULL else e.v
        cdef Py_ssize_t best = s[1] >= s[0] if e.n == 2 else first_largest(s, e.n)
        cdef double top = largest_but(p, e.n, best), high = p[best]
        cdef bint agrees = self.doubt < PROVEN
        if p[best] < (1 + AHEAD) * top:
            if right >= 0:
                high = raised(p[best], top)
                high = (high if right == best else p[right]) / (1 - p[best] + high)
                self.doubt += log(p[right] / high)
            if agrees:
                top = raise_best(p, e.n, best, top)
            elif p[best] < top:
                best = first_largest(p, e.n)
                top = largest_but(p, e.n, best)
        top *= self.adjust(p, best, right)
        raise_best(p, e.n, best, top)
        return best

    cdef double adjust(self, double* p, Py_ssize_t best, Py_ssize_t right) noexcept nogil:
        """Adjust the odds of the best class; return the factor of the other probabilities."""
        cdef Py_ssize_t k, side = KNOTS if self.n_classes == 2 and best == 1 else 0, j = 0
        cdef double rest = sum_but(p, self.n_classes, best), z, beyond, w, share, factor, g
        z = log(p[best] / rest)
        beyond = max(z - KNEE, 0)
        for k in range(1, KNOTS - 1):
            j += z >= KNOT[k]
        w = min(max((z - KNOT[j]) / (KNOT[j + 1] - KNOT[j]), 0), 1)
        j += side
        share = self.slope * z + self.shift + self.bend * beyond + (1 - w) * self.lifts[j] + w * self.lifts[j + 1]
        share = 1 / (1 + exp(-min(max(share, -DEPTH), DEPTH)))
        if right >= 0:
            g = share - (best == right)
            descend(&self.slope, &self.slope_squares, g * z)
            self.slope = max(self.slope, LEAST_FACTOR)
            descend(&self.shift, &self.shift_squares, g)
            descend(&self.bend, &self.bend_squares, g * beyond)
            self.bend = max(self.bend, LEAST_FACTOR - self.slope)
            descend(&self.lifts[j], &self.lift_squares[j], g * (1 - w))
            descend(&self.lifts[j + 1], &self.lift_squares[j + 1], g * w)
            self.keep_increasing()
        factor = (1 - share) / rest
        for k in range(self.n_classes):
            p[k] *= factor
        p[best] = share
        return factor

    cdef void keep_increasing(self) noexcept nogil:
        """Raise lifts that fall by more than the rest of the map grows."""
        cdef Py_ssize_t j
        cdef double fall, least = min(self.slope, self.slope + self.bend) - LEAST_FACTOR / 2
        for j in range(1, KNOTS):
            fall = least * (KNOT[j] - KNOT[j - 1])
            self.lifts[j] = max(self.lifts[j], self.lifts[j - 1] - fall)
            self.lifts[KNOTS + j] = max(self.lifts[KNOTS + j], self.lifts[KNOTS + j - 1] - fall)

    cdef void judge(self, Py_ssize_t best, Py_ssize_t right, double weight) noexcept nogil:
        cdef Py_ssize_t place
        cdef double likelihood = self.p[right], square
        if self.n_classes == 2:
            best = 1
        self.p[right] -= 1
        square = squares_of(self.p, self.n_classes, 0)
        self.p[right] = likelihood
        self.weight += weight
        self.log_loss -= weight * log(self.p[right])
        self.brier += weight * (square / 2 if self.n_classes == 2 else square)
        place = <Py_ssize_t>(BINS * self.p[best]) if 0 <= self.p[best] < 1 else BINS - 1
        self.bins[place] += weight
        self.bins[BINS + place] += weight * self.p[best]
        self.bins[2 * BINS + place] += weight * (best == right)

    cdef void learn(self, const Centered* e, Py_ssize_t right) noexcept nogil:
        cdef double s_gradient, v_gradient = 0, likelihood = self.p[right]
        self.p[right] -= 1  # the gradient of the log loss
        s_gradient = odds.slope(self.p, e.s, e.n, e.s_mean, unit_of(self.s_square), MOST_DEVIATIONS)
        if e.v != NULL:
            v_gradient = odds.slope(self.p, e.v, e.n, e.v_mean, unit_of(self.v_square), MOST_DEVIATIONS)
        odds.descend(self.p, e.n, RATE, self.c, self.c_squares)
        self.p[right] = likelihood
        self.a_squares += s_gradient * s_gradient
        self.a = max(self.a - RATE * s_gradient / sqrt(self.a_squares), LEAST_FACTOR)
        if e.v != NULL:
            self.b_squares += v_gradient * v_gradient
            self.b = max(self.b - RATE * v_gradient / sqrt(self.b_squares), LEAST_FACTOR)

    def probabilities(self, Task task, scores):
        """Return the probabilities of the classes, one row per example; `scores` are those of all combined models."""
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        cdef Py_ssize_t i, n_scores = scores.shape[1]
        out, votes = np.ones((len(scores), self.n_classes)), np.empty(n_scores)
        cdef double* s = <double*>address(scores, "d", scores.size)
        cdef double* p = <double*>address(out, "d", out.size, writable=True)
        cdef double* room = <double*>address(votes, "d", votes.size, writable=True)
        cdef Evidence e
        if self.n_classes > 1:
            for i in range(len(scores)):
                e = task.evidence(s + i * n_scores, n_scores, room)
                if e.n != (1 if self.n_classes == 2 else self.n_classes):
                    raise ValueError(f"{e.n} scores are not those of {self.n_classes} classes")
                self.show(&e, p + i * self.n_classes)
        return out
