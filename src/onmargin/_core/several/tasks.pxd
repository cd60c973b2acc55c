"""Several models that learn from the same examples: their tasks, and how their predictions are combined."""

from onmargin._core.round cimport Evidence, HalfSpace, Round
from onmargin._core.tasks.task cimport Task


cdef struct Outcome:
    double mistake
    double loss
    double squared_loss
    double cost


# Its numbers, in their order.
cdef enum:
    MISTAKE, LOSS, SQUARED_LOSS, COST


cdef inline void clear(Round* r) noexcept nogil:
    """Nothing is asked yet, and nothing suffered."""
    r.n_halfspaces = r.mistake = 0
    r.loss = r.squared_loss = r.cost = 0


cdef class TaskList:
    cdef Task task
    cdef Py_ssize_t n
    cdef TaskList rest

    cdef void vote(
        self, const double* s, const Py_ssize_t* place, Py_ssize_t width, const double* p, double* votes
    ) noexcept nogil
    cdef void constrain(
        self, Round* r, Round* own, const Py_ssize_t* place, Py_ssize_t first, Outcome* now
    ) noexcept nogil


cdef class Several(Task):
    cdef readonly tuple tasks
    cdef readonly object places
    cdef readonly Py_ssize_t width, experts
    cdef readonly Task judge
    cdef readonly bint hedge, by_loss, from_first, tempered, in_targets
    cdef readonly double per_norm
    cdef readonly double ceiling, gap, mixed, origin
    cdef readonly Py_ssize_t leader  # the model that has lost least, of several the first
    cdef double reach                # how far from the origin targets were so far, outliers aside; 0 if not known
    cdef double nearest              # and the nearest of the outliers since the last that was none, `n_far` of them
    cdef Py_ssize_t n_far
    cdef Py_ssize_t n
    cdef double log_experts
    cdef TaskList first
    cdef tuple owners
    cdef Py_ssize_t* place
    cdef Py_ssize_t judged           # which number of an outcome is what a model loses
    cdef Outcome* now
    cdef Outcome* total
    cdef double* p
    cdef double* votes
    cdef bint graded
    cdef double* squares             # of the scores of each model, summed; and how many there were
    cdef double* grades
    cdef HalfSpace* spare
    cdef double* sizes               # how many rows there were, and the sums of |x|^2, y and y^2

    cdef inline double lost(self, const Outcome* outcome) noexcept nogil:
        return (<const double*>outcome)[self.judged]

    cdef double mean_of(self, const double* s) noexcept nogil
    cdef void poll(self, const double* s, double* votes) noexcept nogil
    cdef void take_units(self, const double* s) noexcept nogil
    cdef void grade(self, const double* s, double* votes) noexcept nogil
    cdef double temper(self, double distance) noexcept nogil
    cdef bint is_wrong_origin(self, double target) noexcept nogil
    cdef void measure(self, const Round* r) noexcept nogil
    cdef bint scaled(self) noexcept nogil
    cdef double unit_of_C(self) noexcept nogil
    cdef double deviation(self) noexcept nogil
    cdef void begin(self, Round* r, Round* own) noexcept nogil
    cdef Py_ssize_t best(self) noexcept nogil
    cdef double rate(self) noexcept nogil
    cdef void weigh(self) noexcept nogil
