"""What a task, a step and a geometry hand to each other in one round."""

from libc.stdint cimport int32_t

from onmargin._core.rows cimport Row


cdef struct HalfSpace:
    # {W : s[up] - s[down] must grow by at least `loss`}, s being the scores; -1: that side is absent.
    double loss       # at most zero if it is met already
    double q          # squared length of its direction: the geometry's answer
    double tau        # how far to go along it: the step's answer
    double beta       # how much less uncertain it makes the weights: the step's answer, where they have variances
    int32_t up
    int32_t down
    int32_t part      # of a trial that falls into parts: which
    bint mistaken     # violated by so much that it makes the prediction wrong


cdef struct Round:
    Py_ssize_t t              # which of the rounds played now
    Row* x                    # the rows of the trial: one, but for blocks
    Py_ssize_t n_rows
    const double* y           # the target: one number, or several
    Py_ssize_t n_y
    double weight             # of the example; scales C
    double* s                 # the scores
    Py_ssize_t n_scores
    Py_ssize_t stride         # of a sequence: from the scores of one row to those of the next
    const double* transitions  # of a sequence: the scores from one row's label to the next one's
    Py_ssize_t pace           # of a sequence: from the transitions to one row to those to the next; 0: the same
    int32_t* rival            # of a sequence: the labels to be beaten
    Round* models             # of a sequence that several models label: the round of each
    HalfSpace* halfspaces     # all that are violated, and more where a step may need them
    Py_ssize_t n_halfspaces
    Py_ssize_t n_parts        # each part of the trial has an equal share of C
    double loss
    double squared_loss
    double cost
    bint mistake
    double* change            # scratch for the geometry, as long as the scores
    double* work              # scratch for the step


cdef inline void demand(Round* r, Py_ssize_t up, Py_ssize_t down, double loss, bint mistaken) noexcept nogil:
    """Add a half-space to the round."""
    cdef HalfSpace* h = &r.halfspaces[r.n_halfspaces]
    h.up = <int32_t>up
    h.down = <int32_t>down
    h.loss = loss
    h.part = 0
    h.mistaken = mistaken
    r.n_halfspaces += 1


cdef inline void suffer(Round* r, double loss) noexcept nogil:
    r.loss += loss
    r.squared_loss += loss * loss
