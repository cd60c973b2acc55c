"""Words of a text and their weights."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t

from onmargin._core.text.names cimport Entry, Span


cdef class Text:
    cdef readonly bint lowercase, symbols
    cdef readonly int shortest, longest   # words of an n-gram
    cdef readonly str weighting
    cdef readonly bint normalize
    cdef bint binary, logarithmic
    cdef bytearray letters_memory, copied_memory, spans_memory
    cdef char* letters                    # the words in UTF-8, with room behind them
    cdef char* copied                     # the words as they stand in the text, before they are joined for n-grams
    cdef Span* spans                      # position of each word in `letters`
    cdef Py_ssize_t n_words
    cdef Py_ssize_t longest_text          # characters that there is room for

    cdef int split(self, PyObject* text) except -1 nogil
    cdef int reserve(self, Py_ssize_t n) except -1 with gil
    cdef void split_any(self, PyObject* text) noexcept nogil
    cdef Py_ssize_t end_word(self, Py_ssize_t start, Py_ssize_t end, Py_ssize_t letters) noexcept nogil
    cdef void weigh(self, Entry* entries, Py_ssize_t n, Frequencies frequencies) noexcept nogil


cdef class Frequencies:
    cdef readonly int64_t documents
    cdef readonly object counts   # number of documents per feature
    cdef int64_t* c
    cdef Py_ssize_t n
    cdef bytearray counted_memory
    cdef int32_t* counted         # features of the last document
    cdef Py_ssize_t n_counted, most_counted
    cdef bint pending             # whether it is not learned yet

    cdef int reserve(self, Py_ssize_t n) except -1 with gil
    cdef int reserve_document(self, Py_ssize_t n) except -1 with gil
    cdef int count(self, const Entry* entries, Py_ssize_t n, Py_ssize_t n_features) except -1 nogil
    cdef double factor(self, Py_ssize_t feature) noexcept nogil
