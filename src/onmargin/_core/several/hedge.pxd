"""What several models have lost, and the weights of their votes."""

from onmargin._core.several.task_list cimport Outcome


cdef class Hedge:
    cdef readonly Py_ssize_t n, experts
    cdef readonly Py_ssize_t leader  # the model that has lost least, the first if there are several
    cdef readonly double ceiling, gap, mixed
    cdef readonly bint voting
    cdef Py_ssize_t judged           # which number of an outcome is what a model loses
    cdef double log_experts
    cdef tuple owners
    cdef Outcome* now                # outcomes of the round, one per model
    cdef Outcome* total
    cdef double* p

    cdef inline double lost(self, const Outcome* outcome) noexcept nogil:
        return (<const double*>outcome)[self.judged]

    cdef void restart(self) noexcept nogil
    cdef Py_ssize_t best(self) noexcept nogil
    cdef double rate(self) noexcept nogil
    cdef void weigh(self) noexcept nogil
