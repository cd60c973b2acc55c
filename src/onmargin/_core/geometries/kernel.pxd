"""Weights as an expansion over rows that were learned: all of them, or at most a budget."""

from onmargin._core.geometries.geometry cimport Columns
from onmargin._core.round cimport Round
from onmargin._core.rows cimport Vec, Weights


cdef class Expansion(Columns):
    cdef readonly Py_ssize_t average      # as for Euclidean
    cdef readonly Py_ssize_t clock
    cdef readonly object intercept        # bias^2 times the sum of the coefficients
    cdef readonly object lag_intercept
    cdef bint in_turn                     # whether slots are to have the order in which their supports came
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
    cdef Py_ssize_t n_before              # rows of the block that come before its first round: from -n_before to -1
    cdef double* values                   # K(row, support of each slot)
    cdef double* within                   # K(row, row)
    cdef double* diagonal                 # K(row, itself)
    cdef Py_ssize_t* block_key
    cdef Py_ssize_t* known                # the slot of a row that is a support already; -1: it is none

    cdef inline double product(self, Py_ssize_t t, Py_ssize_t u) noexcept nogil:
        """K of two rows of the block."""
        return self.diagonal[t] if t == u else self.within[t * self.n_rows + u]

    cdef double* against(self, Py_ssize_t t) noexcept nogil
    cdef void expand(self, const double* values, const Weights* c, double* s) noexcept nogil
    cdef Py_ssize_t slot(self, Py_ssize_t t) noexcept nogil
    cdef void forget(self, Py_ssize_t t) noexcept nogil
    cdef void remove(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t first(self) noexcept nogil
    cdef void add(self, Py_ssize_t slot, const Round* r) noexcept nogil
