"""Sparse rows read from dicts, lists of names, text and vectors."""

from cpython.object cimport PyObject
from libc.math cimport isfinite
from libc.stdint cimport int32_t

from onmargin._core.rows cimport Row
from onmargin._core.text.names cimport Feature, Index, Missing, Table
from onmargin._core.text.words cimport Frequencies, Text


cdef class _Column:
    cdef bytearray memory
    cdef char* start
    cdef Py_ssize_t size, used

    cdef int grow(self, Py_ssize_t size) except -1 with gil
    cdef array(self, dtype)

    cdef inline void* extend(self, Py_ssize_t size) except NULL nogil:
        """Return room for `size` more bytes."""
        if self.used + size > self.size:
            self.grow(2 * (self.used + size))
        self.used += size
        return self.start + self.used - size

    cdef inline void* room(self, Py_ssize_t size) except NULL nogil:
        """Return room for `size` bytes in total; the old content is lost."""
        self.used = 0
        return self.extend(size)


cdef class Reader:
    cdef readonly Index names
    cdef Index known
    cdef public bint grow, zeros, warns
    cdef readonly object dtype
    cdef object convert
    cdef dict parsers
    cdef frozenset missing_values
    cdef Text text
    cdef Frequencies frequencies
    cdef bint counting
    cdef Py_UCS4 separator
    cdef bint single
    cdef _Column values, indices, ends, features, entries, spare, places, missing, sizes
    cdef Feature* next_feature         # the next feature to fill
    cdef Py_ssize_t n_entries, n_missing
    cdef list held

    cdef int fill(self, x) except -1
    cdef int take_pairs(self, x) except -1
    cdef int take_names(self, tuple x) except -1
    cdef int take_pair(self, name, value) except -1
    cdef int take_time(self, name, value) except -1
    cdef bint is_known_number(self, name, value) except -1
    cdef int note_number(self, name, str value) except -1
    cdef int take_name(self, name) except -1
    cdef str plain(self, name)
    cdef hold(self, name)
    cdef tuple parted(self, str name, Py_ssize_t colon)
    cdef int add_entry(self, name, double value) except -1
    cdef int find_places(self) except -1
    cdef int take_text(self, PyObject* text) except -1 nogil
    cdef Py_ssize_t look_up(self, Table table, PyObject* text) except -1 nogil
    cdef int note_missing(
        self, const int32_t* places, Py_ssize_t first, Py_ssize_t n, Py_ssize_t length
    ) except -1 nogil
    cdef Py_ssize_t resolve(
        self, int32_t* places, Py_ssize_t n, const char* letters, Missing* missing, Py_ssize_t n_missing
    ) except -1 nogil
    cdef int weigh(self, int32_t* places, Py_ssize_t n) except -1 nogil
    cdef int settle(self, const Feature* features, const int32_t* places, Py_ssize_t n) except -1
    cdef bint borrow_names(self, x) except -1
    cdef int append_borrowed(self) except -1
    cdef int append(self) except -1

    cdef inline bint fits(self, double value) noexcept:
        """Return whether a value is finite in the precision of the rows."""
        return isfinite(<float>value) if self.single else isfinite(value)

    cdef forget(self, Py_ssize_t known)
    cdef void rewind(self) noexcept nogil
    cdef void drop(self, Py_ssize_t n) noexcept nogil
    cdef int row(self, Row* x) except -1 nogil
