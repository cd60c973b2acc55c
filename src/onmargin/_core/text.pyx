"""Words of a text, and what they count."""

from functools import partial

import numpy as np

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from libc.math cimport log
from libc.stdint cimport int64_t, uint32_t

from onmargin._core.row cimport address


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, void* data, Py_ssize_t index)
    bint Py_UNICODE_ISALNUM(Py_UCS4 c)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4 c)


cdef inline Py_ssize_t encode(uint32_t c, char* out) noexcept:
    """A character as UTF-8; the number of its bytes."""
    if c < 0x80:
        out[0] = <char>c
        return 1
    if c < 0x800:
        out[0], out[1] = <char>(0xC0 | c >> 6), <char>(0x80 | c & 0x3F)
        return 2
    if c < 0x10000:
        out[0], out[1] = <char>(0xE0 | c >> 12), <char>(0x80 | c >> 6 & 0x3F)
        out[2] = <char>(0x80 | c & 0x3F)
        return 3
    out[0], out[1] = <char>(0xF0 | c >> 18), <char>(0x80 | c >> 12 & 0x3F)
    out[2], out[3] = <char>(0x80 | c >> 6 & 0x3F), <char>(0x80 | c & 0x3F)
    return 4


# What a word is made of among the characters of ASCII: the character, in lower case or as it is; 0: it ends a word.
cdef char[128] LOWER, AS_IS
for ascii in range(128):
    known = chr(ascii).isalnum() or chr(ascii) == "_"
    LOWER[ascii], AS_IS[ascii] = ord(chr(ascii).lower()) if known else 0, ascii if known else 0


cdef class Text:
    """How texts become features: words of two letters, digits or underscores at least, alone and in n-grams.

    An n-gram has `shortest` to `longest` words. `weighting` is what a feature of a text counts: "binary" 1,
    "tf" how often it occurs, "log" one plus the logarithm of that. With `normalize` rows have length 1.
    """

    def __init__(self, *, bint lowercase=True, int shortest=1, int longest=1, str weighting="tf",
                 bint normalize=True):
        self.lowercase = lowercase
        self.shortest, self.longest = shortest, longest
        self.weighting = weighting
        self.normalize = normalize
        self.binary, self.logarithmic = weighting == "binary", weighting == "log"
        self.memory, self.bounds_memory = bytearray(4096), bytearray(4096)

    def __reduce__(self):
        settings = {"lowercase": self.lowercase, "shortest": self.shortest, "longest": self.longest,
                    "weighting": self.weighting, "normalize": self.normalize}
        return partial(type(self), **settings), ()

    def words(self, str text):
        """The words of a text."""
        self.split(text)
        return bytes(self.memory[:self.bounds[self.n_words]]).decode("utf-8").split()

    cdef int split(self, str text) except -1:
        """Write the words one after the other, a blank after each, so that n-grams are slices."""
        cdef Py_ssize_t i, n = PyUnicode_GET_LENGTH(text), used = 0, start = 0, letters = 0
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        cdef Py_UCS4 c
        cdef char* out
        cdef const char* table = &LOWER[0] if self.lowercase else &AS_IS[0]
        if PyByteArray_GET_SIZE(self.memory) < 4 * n + 1:
            PyByteArray_Resize(self.memory, 4 * n + 1)
        if PyByteArray_GET_SIZE(self.bounds_memory) < (n // 2 + 3) * <Py_ssize_t>sizeof(Py_ssize_t):
            PyByteArray_Resize(self.bounds_memory, (n // 2 + 3) * sizeof(Py_ssize_t))
        out = PyByteArray_AS_STRING(self.memory)
        self.bounds = <Py_ssize_t*>PyByteArray_AS_STRING(self.bounds_memory)
        self.n_words = 0
        for i in range(n + 1):
            c = PyUnicode_READ(kind, data, i) if i < n else c' '
            if c < 128:
                out[used] = table[c]
                if table[c]:
                    letters += 1
                    used += 1
                    continue
            elif Py_UNICODE_ISALNUM(c):
                letters += 1
                used += encode(Py_UNICODE_TOLOWER(c) if self.lowercase else c, out + used)
                continue
            if letters >= 2:
                self.bounds[self.n_words] = start
                self.n_words += 1
                out[used] = c' '
                used += 1
                start = used
            used, letters = start, 0
        self.bounds[self.n_words] = start
        return 0


cdef class Frequencies:
    """In how many of the documents met so far each feature occurs, and how much it counts for that.

    A feature in d of n documents counts 1 + ln((1 + n) / (1 + d)): the fewer have it, the more.
    """

    def __init__(self):
        self.counts = np.zeros(0, np.int64)

    def __reduce__(self):
        return type(self), (), {"documents": self.documents, "counts": self.counts}

    def __setstate__(self, state):
        self.documents, self.counts = state["documents"], np.zeros(0, np.int64)
        self.reserve(len(state["counts"]))
        self.counts[:] = state["counts"]

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Room for n features."""
        if n > self.n:
            counts = np.zeros(n, np.int64)
            counts[:self.n] = self.counts
            self.counts, self.n = counts, n
            self.c = <int64_t*>address(counts, "lq", n, writable=True)
        return 0

    cdef double factor(self, Py_ssize_t feature) noexcept nogil:
        return 1 + log((1. + self.documents) / (1. + (self.c[feature] if feature < self.n else 0)))
