"""Words of a text, and what they count."""


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
