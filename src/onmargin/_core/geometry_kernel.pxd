"""Weights as an expansion over rows that were learned."""

from onmargin._core.geometry cimport Columns
from onmargin._core.row cimport Vec, Weights
from onmargin._core.task cimport Round


cdef class Expansion(Columns):
    cdef readonly Py_ssize_t average      # as for Euclidean
    cdef readonly Py_ssize_t clock
    cdef readonly double bias
    cdef readonly object intercept        # bias^2 times the sum of the coefficients
    cdef readonly object lag_intercept
    cdef readonly Py_ssize_t n_slots      # supports, and those removed that still take up their place
    cdef Py_ssize_t n_old                 # slots whose kernel values came with the block
    cdef Py_ssize_t width, stride         # coefficients of a support: how many, and how far apart
    cdef object coef_memory, lag_memory, key_memory, place_memory, live_memory
    cdef object block                     # keep what the pointers below point to
    cdef const Vec* vec
    cdef Weights c
    cdef double* coef
    cdef double* lag
    cdef double* b
    cdef double* lb
    cdef Py_ssize_t* key                  # which row of the stream a support is
    cdef Py_ssize_t* place                # of a support made in this block: its row of the block
    cdef char* live                       # whether a slot still counts
    cdef Py_ssize_t n_rows, n_values      # of the block: rows, and room for kernel values in each
    cdef double* values                   # K(row, support of each slot)
    cdef double* within                   # K(row, row)
    cdef double* diagonal                 # K(row, itself)
    cdef Py_ssize_t* block_key
    cdef Py_ssize_t* known                # the slot of a row that is a support already; -1: it is none

    cdef inline double squared_bias(self) noexcept nogil:
        return 0 if self.bias != self.bias else self.bias * self.bias

    cdef double* against(self, Py_ssize_t t) noexcept nogil
    cdef void expand(self, const double* values, const Weights* c, double* s) noexcept nogil
    cdef Py_ssize_t slot(self, Py_ssize_t t) noexcept nogil
    cdef void add(self, Py_ssize_t slot, const Round* r) noexcept nogil
