"""Kernel expansions: weights as a sum over support vectors, all of them or at most a budget."""

from onmargin._core.expansion cimport Expansions
from onmargin._core.geometries.geometry cimport Columns
from onmargin._core.round cimport Round
from onmargin._core.rows cimport Vec, Weights


cdef class Expansion(Columns):
    cdef readonly Py_ssize_t average      # first averaged round; 0: no averaging
    cdef readonly Py_ssize_t clock
    cdef readonly object intercept        # bias^2 times the sum of the coefficients
    cdef readonly object lag_intercept
    cdef bint in_turn                     # whether slots must keep the order of their supports
    cdef readonly bint needs_values       # whether a move changes the coefficients of other supports
    cdef readonly Py_ssize_t n_slots      # supports, including removed ones that still occupy a slot
    cdef Py_ssize_t n_old                 # slots whose kernel values were passed with the block
    cdef readonly Py_ssize_t width        # number of coefficients per support
    cdef Py_ssize_t stride
    cdef object coef_memory, lag_memory, key_memory, place_memory, live_memory
    cdef object block                     # owner of the memory below
    cdef const Vec* vec
    cdef const Expansions* expansions
    cdef Weights c
    cdef double* coef
    cdef double* lag
    cdef double* b
    cdef double* lb
    cdef Py_ssize_t* key                  # row number of each support in the stream
    cdef Py_ssize_t* place                # row in the block of a support that was added in it
    cdef char* live                       # whether a slot is in use
    cdef Py_ssize_t n_rows, n_values      # rows of the block, and room for kernel values per row
    cdef Py_ssize_t n_before              # rows of the block before its first round, numbered from -n_before to -1
    cdef double* sums                     # scores of the rows without intercept, columns by rows, or NULL
    cdef double* values                   # K(row, support of each slot), if there are no sums
    cdef double* within                   # K(row, row)
    cdef double* diagonal                 # K(row, itself)
    cdef Py_ssize_t* block_key
    cdef Py_ssize_t* known                # slot of a row that is already a support, or -1

    cdef inline double product(self, Py_ssize_t t, Py_ssize_t u) noexcept nogil:
        """Return K of two rows of the block."""
        return self.diagonal[t] if t == u else self.within[t * self.n_rows + u]

    cdef double* against(self, Py_ssize_t t) noexcept nogil
    cdef void expand(self, Py_ssize_t t, double* s) noexcept nogil
    cdef Py_ssize_t slot(self, Py_ssize_t t) noexcept nogil
    cdef void forget(self, Py_ssize_t t) noexcept nogil
    cdef void remove(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t first(self) noexcept nogil
    cdef void add(self, Py_ssize_t slot, const Round* r) noexcept nogil
