"""Sparse rows read from dicts, lists of names, text and vectors."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint64_t

from onmargin._core.names cimport Index
from onmargin._core.row cimport Row
from onmargin._core.text cimport Text


cdef struct Entry:
    int32_t index
    double value


cdef struct Feature:
    PyObject* name      # held by the example, or by the reader
    uint64_t prepared
    double value


cdef class _Column:
    cdef bytearray memory
    cdef Py_ssize_t used

    cdef void* extend(self, Py_ssize_t size) except NULL
    cdef array(self, dtype)


cdef class Reader:
    cdef readonly Index names
    cdef public bint grow
    cdef readonly object dtype
    cdef Text text
    cdef Py_UCS4 separator
    cdef bint single
    cdef _Column values, indices, ends, features, entries
    cdef Py_ssize_t n_entries
    cdef list held

    cdef fill(self, x)
    cdef int take_pair(self, name, value) except -1
    cdef int take_name(self, name) except -1
    cdef str plain(self, name)
    cdef hold(self, name)
    cdef tuple parted(self, str name, Py_ssize_t colon)
    cdef int take(self, name, double value) except -1
    cdef int find_places(self) except -1
    cdef int put(self, Py_ssize_t place, double value) except -1
    cdef take_text(self, str text)
    cdef void settle(self) noexcept
    cdef void weigh(self) noexcept
    cdef void rewind(self) noexcept
    cdef int row(self, Row* x) except -1
