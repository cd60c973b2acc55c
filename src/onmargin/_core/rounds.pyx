"""The loop over rounds."""

from copy import copy

import numpy as np

from onmargin._core.restore import number, whole

from cpython.exc cimport PyErr_CheckSignals
from libc.float cimport DBL_MAX, FLT_MAX
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t

from onmargin._core.background cimport Background, Work
from onmargin._core.geometries.geometry cimport Geometry, measure, move, scores
from onmargin._core.round cimport HalfSpace, Round, finite, keep_finite
from onmargin._core.rows cimport Row, Rows, Vec, address, vec_for
from onmargin._core.steps.step cimport Step, solve
from onmargin._core.tasks.task cimport Task, constrain


# A round with a larger gain moves nothing: its step times the number of rounds must be finite, for averages.
cdef double MOST_GAIN = 1e290
# The same for weights in single precision, and for the squared length of each step.
cdef double MOST_SINGLE = 1e70


cdef class Totals:
    """Totals of the rounds so far. Sums that overflow stay at the largest double."""

    def record_mistakes(self, out):
        """Record in `out` whether each of the next len(out) rounds is a mistake."""
        self.next_flag = <unsigned char*>address(out, "?", len(out), writable=True)
        self.flags_left = len(out)
        self.recorded = out

    def __copy__(self):
        """Return a copy to continue with, which records into the same array."""
        cdef Totals other = Totals()
        other.rounds, other.mistakes, other.updates = self.rounds, self.mistakes, self.updates
        other.loss, other.squared_loss, other.dual_value = self.loss, self.squared_loss, self.dual_value
        other.max_squared_norm, other.cost = self.max_squared_norm, self.cost
        other.seen, other.predict_only = self.seen, self.predict_only
        other.calibration = None if self.calibration is None else self.calibration.__copy__()
        other.recorded, other.next_flag, other.flags_left = self.recorded, self.next_flag, self.flags_left
        return other

    def __getstate__(self):
        return {
            "rounds": self.rounds, "mistakes": self.mistakes, "updates": self.updates, "loss": self.loss,
            "squared_loss": self.squared_loss, "dual_value": self.dual_value,
            "max_squared_norm": self.max_squared_norm, "cost": self.cost,
        }

    def __setstate__(self, state):
        for name in ("rounds", "mistakes", "updates"):
            setattr(self, name, whole(state[name], name))
        for name in ("loss", "squared_loss", "max_squared_norm", "cost"):
            setattr(self, name, number(state[name], name, least=0))
        self.dual_value = number(state["dual_value"], "dual_value")
        self.calibration = state.get("calibration", self.calibration)
        self.predict_only = state.get("predict_only", False)

    def __reduce__(self):
        more = {} if self.calibration is None else {"calibration": self.calibration}
        if self.predict_only:
            more["predict_only"] = True
        return type(self), (), self.__getstate__() | more

    cpdef check_learns(self):
        """Refuse to learn if what is needed to learn was left out."""
        if self.predict_only:
            raise ValueError(
                "this model can only predict: it was saved with predict_only=True. Continue with a file of the model "
                "that was saved without it"
            )

    def add_classes(self, places, Py_ssize_t n_classes, double stretch=1.0):
        """Return a copy for more classes, as `Calibration.for_classes`."""
        other = copy(self)
        other.calibration = self.calibration.for_classes(places, n_classes, stretch)
        return other


cdef check_fit(Geometry geometry, Rows X):
    if X.n_features != geometry.n_features or X.itemsize != geometry.dtype.itemsize:
        raise ValueError(
            f"rows of {X.n_features} features in {8 * X.itemsize}-bit numbers do not fit weights for "
            f"{geometry.n_features} features in {geometry.dtype}"
        )


cdef class Stage:
    """A round, and the memory of all its parts."""

    def __init__(self, Task task, Geometry geometry, Step step=None, trials=None):
        cdef Py_ssize_t rows = 1 if trials is None else int(np.diff(trials).max(initial=0))
        cdef Py_ssize_t width = rows * geometry.n_scores
        cdef Py_ssize_t halfspaces = task.most_halfspaces(width)
        cdef Py_ssize_t room = 0 if step is None else step.room(halfspaces)
        # All in one array of doubles; the last part, of int32, takes half of one per row.
        cdef Py_ssize_t size = rows * sizeof(Row) // 8 + halfspaces * sizeof(HalfSpace) // 8 + 3 * width + rows
        size += geometry.n_spare + room
        self.owner = np.zeros(size)
        self.n_rows = rows
        self.single = geometry.dtype.itemsize == 4
        self.r.x = <Row*>address(self.owner, "d", size, writable=True)
        self.r.halfspaces = <HalfSpace*>(self.r.x + rows)
        self.r.s = <double*>(self.r.halfspaces + halfspaces)
        self.r.change = self.r.s + width
        self.r.predicted = self.r.change + width + geometry.n_spare
        self.r.work = self.r.predicted + width
        self.r.sequence.rivals = <int32_t*>(self.r.work + room)
        self.r.weight = self.r.unit = self.r.n_rows = self.r.n_y = 1


cdef inline void calibrate(Task task, Geometry geometry, Totals totals, Round* r) noexcept nogil:
    """Update the calibration of probabilities with the round, if there is one."""
    cdef Py_ssize_t stands_for
    if totals.calibration is not None:
        stands_for = totals.calibration.due(r.n_scores)
        if stands_for > 0:
            totals.calibration.observe(task, geometry, r, stands_for)


cdef bint is_beyond_single(const Round* r, double gain) noexcept nogil:
    """Return whether the steps of a round may overflow weights in single precision."""
    cdef Py_ssize_t i
    cdef const HalfSpace* h
    for i in range(r.n_halfspaces):
        h = &r.halfspaces[i]
        if not h.tau * (h.tau * r.x.squared_norm) < MOST_SINGLE:
            return True
    return not gain < MOST_SINGLE


cdef void run_round(Task task, Step step, Geometry geometry, Totals totals, Stage stage) noexcept nogil:
    """Play one round with the rows, the target and the weight of the stage."""
    cdef Round* r = &stage.r
    cdef double gain
    r.seen = totals.seen
    scores(geometry, r)                          # predict
    calibrate(task, geometry, totals, r)           # with its probability
    measure(geometry, r)
    stage.clear()
    constrain(task, r)                           # suffer the loss
    if r.loss > 0 or step.eager:                 # otherwise passive
        gain = solve(step, r, geometry)
        if 0 < gain < MOST_GAIN and not (stage.single and is_beyond_single(r, gain)):
            # aggressive, unless the numbers overflow
            totals.updates += 1
            totals.dual_value = finite(totals.dual_value + (gain - move(geometry, r) / 2))
    if r.asleep != NULL:
        geometry.put_to_sleep(r.asleep)
    totals.count(r)


cpdef set_asleep(Task task, Geometry geometry):
    """Set which models of a geometry sleep, which a copy, or a geometry from a file, does not know yet."""
    geometry.put_to_sleep(task.asleep())


cdef inline int check_signals(Py_ssize_t done, Py_ssize_t pace) except -1 nogil:
    """Handle signals once every `pace` rows, or never if 0. A handler may raise, as that of Ctrl-C does."""
    if pace > 0 and done > 0 and done % pace == 0:
        with gil:
            PyErr_CheckSignals()
    return 0


cdef bint is_finite(const Row* x, Py_ssize_t itemsize) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(x.n):
        if not isfinite((<const float*>x.values)[k] if itemsize == 4 else (<const double*>x.values)[k]):
            return False
    return True


cdef bint run_all(
    Task task, Step step, Geometry geometry, Totals totals, Rows X, Stage stage, const Schedule* plan
) except -1 nogil:
    """Play the rounds of a plan; return whether all rows were valid, as far as they were to be checked."""
    cdef Round* r = &stage.r
    cdef const Vec* vec = vec_for(X.itemsize)
    cdef double most = FLT_MAX if X.itemsize == 4 else DBL_MAX
    cdef bint guarded = plan.guarded
    cdef Py_ssize_t t, i, j, n = plan.n, pace = plan.pace
    cdef const Py_ssize_t* row_of = plan.row_of
    cdef const Py_ssize_t* target_of = plan.target_of
    cdef const Py_ssize_t* order = plan.order
    cdef const double* target = plan.target
    cdef const double* weights = plan.weights
    for t in range(n):
        check_signals(t, pace)
        i = t if order == NULL else order[t]
        if weights != NULL:
            r.weight = weights[i]
            if r.weight == 0:
                continue
        r.t = t
        if row_of != NULL:
            r.n_rows = row_of[i + 1] - row_of[i]
        for j in range(r.n_rows):                                     # receive x_t
            X.row((i if row_of == NULL else row_of[i]) + j, &r.x[j])
            r.x[j].squared_norm = 0                                   # not measured yet
        r.y = target + (i if target_of == NULL else target_of[i])     # and y_t
        if target_of != NULL:
            r.n_y = target_of[i + 1] - target_of[i]
        if guarded and not (fabs(r.y[0]) <= most and (r.x.indices == NULL or vec.is_canonical(r.x, X.n_features))):
            return False
        run_round(task, step, geometry, totals, stage)
        if guarded and not r.x.squared_norm < INFINITY and not is_finite(r.x, X.itemsize):
            return False
    return True


cdef class Rounds(Work):
    """Rounds that are ready to run once; see `run`. The arrays must not change until then."""

    def __init__(
        self, Task task, Step step, Geometry geometry, Totals totals, Rows X, y, weight=None, order=None, *,
        trials=None, targets=None, Py_ssize_t pace=0, bint guarded=False,
    ):
        cdef Py_ssize_t n_trials = X.n_rows if trials is None else len(trials) - 1
        cdef Schedule* plan = &self.plan
        check_fit(geometry, X)
        self.task, self.step, self.geometry, self.totals, self.X = task, step, geometry, totals, X
        self.stage = Stage(task, geometry, step, trials)
        task.reserve(self.stage.n_rows, geometry.n_scores)
        set_asleep(task, geometry)
        if trials is not None:
            geometry.reserve(self.stage.n_rows, X.most_stored(trials))
        self.owners = (y, weight, order, trials, targets)
        plan.n, plan.pace, plan.guarded = n_trials if order is None else len(order), pace, guarded
        plan.row_of = NULL if trials is None else <Py_ssize_t*>address(trials, "lq", n_trials + 1)
        plan.target_of = NULL if targets is None else <Py_ssize_t*>address(targets, "lq", n_trials + 1)
        plan.target = <double*>address(y, "d", n_trials if targets is None else len(y))
        plan.weights = NULL if weight is None else <double*>address(weight, "d", n_trials)
        plan.order = NULL if order is None else <Py_ssize_t*>address(order, "lq", plan.n)

    cdef bint learn(self) except -1 nogil:
        return run_all(self.task, self.step, self.geometry, self.totals, self.X, self.stage, &self.plan)

    cdef void run(self) noexcept nogil:
        self.learn()


def run(
    Task task, Step step, Geometry geometry, Totals totals, Rows X, y, weight=None, order=None, *, trials=None,
    targets=None, Py_ssize_t pace=0, bint guarded=False, Background background=None,
):
    """Learn the rows of X in the given order (None: as they are); `weight` scales C per row, and 0 skips a row.

    Nothing interrupts the loop unless `pace` is above 0: then signals are handled every `pace` rounds. A caller that
    sets it must drop the parts if a handler raises.

    With `trials`, trial i is the rows from trials[i] up to trials[i + 1], and weights and order refer to trials. With
    `targets`, its target is the numbers of y from targets[i] up to targets[i + 1].

    With `guarded`, for plain weights and one row per trial, X and the numbers in y were not checked. Each row is
    checked as it is learned: a row that is not finite has a norm that is not, and a target must fit the type of the
    weights. Return whether all were valid; if not, the first invalid one ended the loop, and the caller must drop
    everything that was learned.

    With `background`, which must have nothing to do, its thread runs them, without `pace` and `guarded`.
    """
    cdef Rounds rounds = Rounds(
        task, step, geometry, totals, X, y, weight, order, trials=trials, targets=targets, pace=pace, guarded=guarded
    )
    cdef bint sound = True
    if background is None:
        with nogil:
            sound = rounds.learn()
    else:
        background.start(rounds)
    return sound


def losses(Task task, Geometry geometry, Rows X, y, out, *, Py_ssize_t pace=0):
    """Fill `out` with the current loss of each row, without learning. `pace` is as for `run`."""
    check_fit(geometry, X)
    set_asleep(task, geometry)
    cdef Stage stage = Stage(task, geometry)
    cdef Py_ssize_t i
    cdef double* target = <double*>address(y, "d", X.n_rows)
    cdef double* loss = <double*>address(out, "d", X.n_rows, writable=True)
    with nogil:
        for i in range(X.n_rows):
            check_signals(i, pace)
            stage.r.t = i
            X.row(i, stage.r.x)
            geometry.scores(&stage.r)
            stage.r.y = target + i
            stage.clear()
            task.constrain(&stage.r)
            loss[i] = stage.r.loss


def score(Geometry geometry, Rows X, out, *, bint guarded=False):
    """Fill `out`, rows of X by scores of the geometry, with the scores that predict. Several threads may do so at once.

    Models that sleep have scores of 0: call `set_asleep` first. Scores that overflow are clipped. With `guarded`, X was
    not checked: then they are not, and return whether its indices are valid; if not, nothing is read beyond them, and
    `out` is undefined.
    """
    check_fit(geometry, X)
    scratch = np.empty(geometry.n_scores + geometry.n_spare)
    cdef Py_ssize_t i, n_scores = geometry.n_scores
    cdef double* s = <double*>address(out, "d", X.n_rows * n_scores, writable=True)
    cdef double* spare = <double*>address(scratch, "d", scratch.size, writable=True)
    cdef const Vec* vec = vec_for(X.itemsize)
    cdef bint sound = True
    cdef Row x
    with nogil:
        for i in range(X.n_rows):
            X.row(i, &x)
            if guarded and not vec.is_canonical(&x, X.n_features):
                sound = False
                break
            geometry.mean_scores(&x, s + i * n_scores, spare)
            if not guarded:
                keep_finite(s + i * n_scores, n_scores)
    return sound
