"""Words of a text, and what they count."""

from libc.stdint cimport int64_t


cdef class Text:
    cdef readonly bint lowercase
    cdef readonly int shortest, longest   # words of an n-gram
    cdef readonly str weighting
    cdef readonly bint normalize
    cdef bint binary, logarithmic
    cdef bytearray memory                 # the words in lower case, a blank after each, as UTF-8
    cdef Py_ssize_t* bounds               # where each begins, and after them where the last ends
    cdef bytearray bounds_memory
    cdef Py_ssize_t n_words

    cdef int split(self, str text) except -1


cdef class Frequencies:
    cdef readonly int64_t documents
    cdef readonly object counts   # of documents by feature
    cdef int64_t* c
    cdef Py_ssize_t n

    cdef int reserve(self, Py_ssize_t n) except -1
    cdef double factor(self, Py_ssize_t feature) noexcept nogil
