"""What a task, a step and a geometry pass to each other in one round."""

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint16_t

from onmargin._core.rows cimport Row


cdef inline double finite(double value) noexcept nogil:
    """Return the value, clipped to the largest double; NaN becomes the largest double."""
    if value < DBL_MAX:
        return value if value > -DBL_MAX else -DBL_MAX
    return DBL_MAX


cdef inline void keep_finite(double* s, Py_ssize_t n) noexcept nogil:
    """Clip scores that overflow to the largest double; sums of infinite parts of both signs are 0."""
    cdef Py_ssize_t c
    for c in range(n):
        if not -DBL_MAX <= s[c] <= DBL_MAX:
            s[c] = finite(s[c]) if s[c] == s[c] else 0


cdef struct HalfSpace:
    # 48 bytes: rounds of many models pass over many of them.
    # {W : s[up] - s[down] grows by at least `loss`}, where s are the scores. A side that is absent is -1. The scores
    # that the half-space of a sequence compares are those of two labelings (RIGHT and RIVAL of tasks/sequence.pxd).
    double loss       # set by the task: by how much the difference is too small; at most zero if it is large enough
    double q          # set by the geometry: the curvature along its direction; for plain weights, the squared length
    double tau        # set by the step: how far to move along its direction
    double beta       # set by steps for weights with variances: how much the move reduces the variances
    int32_t up        # the score that must rise
    int32_t down      # the score that must fall
    int32_t part      # the part of the trial that it belongs to; the parts share C equally
    uint16_t model    # the model that it belongs to, if several models learn in the same round
    uint8_t mistaken  # whether it makes the prediction wrong: not s[up] > s[down]


cdef struct Evidence:
    # The scores that probabilities are computed from. Two classes have one score.
    const double* s      # the scores; of the leading model if several models learn
    const double* v      # the scores of their vote; NULL if they do not vote
    Py_ssize_t n         # number of scores


cdef struct Round


cdef struct SequenceRound:
    # The fields that only rounds of sequences use. The scores of row i start at s + i * stride, one per label.
    Py_ssize_t n_labels
    Py_ssize_t stride             # distance between the scores of two consecutive rows: labels and padding
    const double* transitions     # scores of each pair of consecutive labels
    Py_ssize_t transition_stride  # distance between the transitions into two consecutive rows; 0 if all rows share them
    int32_t* rivals               # the labelings that the right one must beat, one label per row each
    Round* models                 # one round per model, if several models label the sequence


cdef struct Round:
    Py_ssize_t t              # index of the round in this call
    Row* x                    # the rows of the trial; a single row unless the task has trials of several
    Py_ssize_t n_rows
    const double* y           # the target: one number, or several
    Py_ssize_t n_y
    double weight             # weight of the example, which scales C
    bint seen                 # whether the rows were learned before, in an earlier pass
    double unit               # the unit of C, if the task sets one; otherwise 1
    const double* prices      # share of C that a step along the half-space of each row takes per length; NULL: 1
    double* s                 # the scores
    Py_ssize_t n_scores
    HalfSpace* halfspaces     # the violated half-spaces, and others if the step needs them
    Py_ssize_t n_halfspaces
    Py_ssize_t n_parts        # number of parts of the trial; each has an equal share of C
    double loss
    double squared_loss
    double cost
    bint mistake
    double* change            # scratch memory of the geometry, as long as the scores
    double* work              # scratch memory of the step
    const uint8_t* asleep     # set by a task when models fall asleep or wake up: one flag per score; otherwise NULL
    double* predicted         # room for the scores that predict, if they differ from those that learn
    SequenceRound sequence


cdef inline double price_of(const Round* r, const HalfSpace* h) noexcept nogil:
    """Return the share of C that a step of length 1 along a half-space takes."""
    return 1 if r.prices == NULL else r.prices[max(h.up, h.down)]


cdef inline double capped(const Round* r, const HalfSpace* h, double C) noexcept nogil:
    """Return the longest possible step along a single half-space."""
    cdef double price = price_of(r, h)
    return C / price if price > 0 else INFINITY


cdef inline void demand(Round* r, Py_ssize_t up, Py_ssize_t down, double loss, bint mistaken) noexcept nogil:
    """Add a half-space to the round."""
    cdef HalfSpace* h = &r.halfspaces[r.n_halfspaces]
    h.up = <int32_t>up
    h.down = <int32_t>down
    h.loss = loss
    h.part = 0
    h.model = 0
    h.mistaken = mistaken
    r.n_halfspaces += 1


cdef inline void demand_of_one(Round* r, bint rise, double loss, bint mistaken) noexcept nogil:
    """Add a half-space of the only score, which must rise or fall. It has no branch: no CPU could predict it."""
    demand(r, <Py_ssize_t>rise - 1, -<Py_ssize_t>rise, loss, mistaken)


cdef inline void suffer(Round* r, double loss) noexcept nogil:
    """Add a loss to the round."""
    r.loss += loss
    r.squared_loss += loss * loss
