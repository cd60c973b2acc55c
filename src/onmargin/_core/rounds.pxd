"""The loop over rounds."""

from libc.float cimport DBL_MAX

from onmargin._core.background cimport Work
from onmargin._core.calibration cimport Calibration
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Round
from onmargin._core.rows cimport Rows
from onmargin._core.steps.step cimport Step
from onmargin._core.tasks.task cimport Task


cdef inline double bounded(double value) noexcept nogil:
    """Return what is not negative, or NaN, clipped to the largest double: one instruction, unlike `finite`."""
    return value if value < DBL_MAX else DBL_MAX


cdef class Totals:
    cdef public long long rounds, mistakes, updates
    cdef public double loss, squared_loss, dual_value, max_squared_norm, cost
    cdef public Calibration calibration  # calibration of class probabilities; None without classes
    cdef public bint predict_only  # whether what is needed to learn was left out
    cdef public bint seen          # whether the next rows were learned before, in an earlier pass
    cdef object recorded           # an array with one flag per round: whether it was a mistake
    cdef unsigned char* next_flag
    cdef Py_ssize_t flags_left

    cpdef check_learns(self)
    cdef inline void count(self, const Round* r) noexcept nogil:
        cdef Py_ssize_t j
        self.rounds += 1
        self.mistakes += r.mistake
        self.loss = bounded(self.loss + r.loss)
        self.squared_loss = bounded(self.squared_loss + r.squared_loss)
        self.cost = bounded(self.cost + r.cost)
        for j in range(r.n_rows):
            self.max_squared_norm = max(self.max_squared_norm, bounded(r.x[j].squared_norm))
        if self.flags_left > 0:
            self.next_flag[0] = r.mistake
            self.next_flag += 1
            self.flags_left -= 1


cdef class Stage:
    cdef Round r
    cdef object owner       # of the memory of all parts
    cdef Py_ssize_t n_rows  # at most, of a trial
    cdef bint single        # whether weights are in single precision

    cdef inline void clear(self) noexcept nogil:
        """Clear the half-spaces and losses of a round."""
        self.r.n_halfspaces = self.r.mistake = 0
        self.r.n_parts = 1
        self.r.asleep = NULL
        self.r.loss = self.r.squared_loss = self.r.cost = 0


cdef struct Schedule:
    Py_ssize_t n, pace
    bint guarded
    const Py_ssize_t* row_of
    const Py_ssize_t* target_of
    const Py_ssize_t* order
    const double* target
    const double* weights


cdef class Rounds(Work):
    cdef Task task
    cdef Step step
    cdef Geometry geometry
    cdef Totals totals
    cdef Rows X
    cdef Stage stage
    cdef Schedule plan
    cdef tuple owners       # of the arrays

    cdef bint learn(self) except -1 nogil


cpdef set_asleep(Task task, Geometry geometry)
cdef void run_round(Task task, Step step, Geometry geometry, Totals totals, Stage stage) noexcept nogil
