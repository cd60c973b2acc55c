"""The loop over rounds."""

from onmargin._core.calibration cimport Calibration
from onmargin._core.geometries.geometry cimport Geometry
from onmargin._core.round cimport Round
from onmargin._core.steps.step cimport Step
from onmargin._core.tasks.task cimport Task


cdef class Totals:
    cdef public long long rounds, mistakes, updates
    cdef public double loss, squared_loss, dual_value, max_squared_norm, cost
    cdef public Calibration calibration  # of the probabilities of classes; None where there are no classes
    cdef object recorded           # an array with one flag per round: whether it was a mistake
    cdef unsigned char* next_flag
    cdef Py_ssize_t flags_left

    cdef void count(self, const Round* r) noexcept nogil


cdef class Stage:
    cdef Round r
    cdef tuple owners

    cdef inline void clear(self) noexcept nogil:
        """Nothing is asked yet, and nothing suffered."""
        self.r.n_halfspaces = self.r.mistake = 0
        self.r.n_parts = 1
        self.r.asleep = NULL
        self.r.loss = self.r.squared_loss = self.r.cost = 0


cdef seat(Task task, Geometry geometry)
cdef void play_round(Task task, Step step, Geometry geometry, Totals totals, Stage stage) noexcept nogil
