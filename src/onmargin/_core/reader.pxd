"""Sparse rows read from dicts, lists of names, text and vectors."""

from libc.math cimport isfinite

from onmargin._core.names cimport Feature, Index
from onmargin._core.row cimport Row
from onmargin._core.text cimport Frequencies, Text


cdef class _Column:
    cdef bytearray memory
    cdef Py_ssize_t used

    cdef void* extend(self, Py_ssize_t size) except NULL
    cdef void* room(self, Py_ssize_t size) except NULL
    cdef array(self, dtype)


cdef class Reader:
    cdef readonly Index names
    cdef public bint grow
    cdef readonly object dtype
    cdef Text text
    cdef Frequencies frequencies
    cdef bint counting
    cdef Py_UCS4 separator
    cdef bint single
    cdef _Column values, indices, ends, features, entries, spare
    cdef Feature* next_feature         # that is to be taken
    cdef Py_ssize_t n_entries
    cdef list held

    cdef int fill(self, x) except -1
    cdef int take_pairs(self, x) except -1
    cdef int take_names(self, tuple x) except -1
    cdef int take_pair(self, name, value) except -1
    cdef int take_name(self, name) except -1
    cdef str plain(self, name)
    cdef hold(self, name)
    cdef tuple parted(self, str name, Py_ssize_t colon)
    cdef int take(self, name, double value) except -1
    cdef int find_places(self) except -1
    cdef int take_text(self, str text) except -1
    cdef int settle(self) except -1
    cdef int count(self) except -1
    cdef void weigh(self) noexcept

    cdef inline bint fits(self, double value) noexcept:
        """Whether a value is finite as the rows have it."""
        return isfinite(<float>value) if self.single else isfinite(value)

    cdef void rewind(self) noexcept
    cdef int row(self, Row* x) except -1
