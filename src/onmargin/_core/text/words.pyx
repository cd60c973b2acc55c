"""Words of a text and their weights."""

from functools import partial

import numpy as np

from onmargin._core.restore import fill, whole

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.object cimport PyObject
from libc.math cimport log, sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t

from onmargin._core.rows cimport address
from onmargin._core.text.names cimport Entry, Span


cdef extern from "Python.h" nogil:
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject* text)
    int PyUnicode_KIND(PyObject* text)
    void* PyUnicode_DATA(PyObject* text)
    bint PyUnicode_IS_ASCII(PyObject* text)
    Py_UCS4 PyUnicode_READ(int kind, void* data, Py_ssize_t index)
    bint Py_UNICODE_ISALNUM(Py_UCS4 c)
    bint Py_UNICODE_ISSPACE(Py_UCS4 c)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4 c)


cdef extern from "words.h" nogil:
    enum:
        WORDS_PADDING

    Py_ssize_t words_find(const char* text, Py_ssize_t n, bint lower, bint symbols, char* out, Span* spans)
    void words_join(const char* text, Span* spans, Py_ssize_t n, char* out)


cdef inline Py_ssize_t encode(uint32_t c, char* out) noexcept nogil:
    """Write a character in UTF-8; return the number of its bytes."""
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


cdef inline bint is_symbol(Py_UCS4 c) noexcept nogil:
    """Whether a character that is not one of words is visible, and can be encoded."""
    return c > c' ' and c != 0x7F and not 0xD800 <= c < 0xE000 and not Py_UNICODE_ISSPACE(c)


cdef class Text:
    """Features of texts: words of letters, digits or underscores, alone and in n-grams.

    With `symbols`, every character that is not blank is in a word: other characters are words of their own. Without
    `symbols`, words have at least two characters, and all others are left out.

    An n-gram has `shortest` to `longest` words. `weighting` is the value of a feature: "binary" 1,
    "tf" how often it occurs, "log" one plus the logarithm of that. With `normalize`, rows have length 1.
    """

    def __init__(self, *, bint lowercase=True, bint symbols=False, int shortest=1, int longest=1, str weighting="tf",
                 bint normalize=True):
        self.lowercase, self.symbols = lowercase, symbols
        self.shortest, self.longest = shortest, longest
        self.weighting = weighting
        self.normalize = normalize
        self.binary, self.logarithmic = weighting == "binary", weighting == "log"
        self.reserve(1024)

    def __reduce__(self):
        settings = {"lowercase": self.lowercase, "symbols": self.symbols, "shortest": self.shortest,
                    "longest": self.longest, "weighting": self.weighting, "normalize": self.normalize}
        return partial(type(self), **settings), ()

    def words(self, str text):
        """Return the words of a text."""
        cdef Py_ssize_t k
        self.split(<PyObject*>text)
        return [self.letters[self.spans[k].start:self.spans[k].end].decode() for k in range(self.n_words)]

    cdef int reserve(self, Py_ssize_t n) except -1 with gil:
        """Make room for the words of n characters of at most four bytes each."""
        self.letters_memory = bytearray(5 * (n + 1) + WORDS_PADDING)  # each may have a blank behind it
        self.copied_memory = bytearray(n + WORDS_PADDING if self.longest > 1 else 0)
        self.spans_memory = bytearray((n + 2) * sizeof(Span))
        self.letters = PyByteArray_AS_STRING(self.letters_memory)
        self.copied = PyByteArray_AS_STRING(self.copied_memory)
        self.spans = <Span*>PyByteArray_AS_STRING(self.spans_memory)
        self.longest_text = n
        return 0

    cdef int split(self, PyObject* text) except -1 nogil:
        """Find the words; for n-grams they are joined with spaces, so that n-grams are slices."""
        cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
        cdef char* copied
        if n > self.longest_text:
            self.reserve(2 * n)
        if PyUnicode_IS_ASCII(text):
            copied = self.copied if self.longest > 1 else self.letters
            self.n_words = words_find(
                <char*>PyUnicode_DATA(text), n, self.lowercase, self.symbols, copied, self.spans
            )
            if self.longest > 1:
                words_join(copied, self.spans, self.n_words, self.letters)
        else:
            self.split_any(text)
        return 0

    cdef void split_any(self, PyObject* text) noexcept nogil:
        """The same for the letters and digits of all scripts."""
        cdef Py_ssize_t i, n = PyUnicode_GET_LENGTH(text), used = 0, start = 0, letters = 0
        cdef int kind = PyUnicode_KIND(text)
        cdef void* data = PyUnicode_DATA(text)
        cdef Py_UCS4 c
        self.n_words = 0
        for i in range(n + 1):
            c = PyUnicode_READ(kind, data, i) if i < n else c' '
            if Py_UNICODE_ISALNUM(c) or c == c'_':
                letters += 1
                used += encode(Py_UNICODE_TOLOWER(c) if self.lowercase else c, self.letters + used)
                continue
            start = self.end_word(start, used, letters)
            used, letters = start, 0
            if self.symbols and is_symbol(c):
                start = used = self.end_word(start, used + encode(c, self.letters + used), 2)

    cdef inline Py_ssize_t end_word(self, Py_ssize_t start, Py_ssize_t end, Py_ssize_t letters) noexcept nogil:
        """Note a word of so many letters, if it is long enough; return where the next one starts."""
        if letters < 2 - self.symbols:
            return start
        self.spans[self.n_words].start, self.spans[self.n_words].end = start, end
        self.n_words += 1
        self.letters[end] = c' '
        return end + 1

    cdef void weigh(self, Entry* entries, Py_ssize_t n, Frequencies frequencies) noexcept nogil:
        """Weight the features of a text, whose values are their counts."""
        cdef Py_ssize_t k
        cdef double squares = 0, scale
        for k in range(n):
            if self.binary:
                entries[k].value = 1
            elif self.logarithmic:
                entries[k].value = 1 + log(entries[k].value)
            if frequencies is not None:
                entries[k].value *= frequencies.factor(entries[k].index)
            squares += entries[k].value * entries[k].value
        if self.normalize and squares > 0:
            scale = 1 / sqrt(squares)
            for k in range(n):
                entries[k].value *= scale


cdef class Frequencies:
    """Inverse document frequencies: in how many documents so far each feature occurs, and its weight.

    A feature in d of n documents has the weight 1 + ln((1 + n) / (1 + d)).
    """

    def __init__(self):
        self.counts = np.zeros(0, np.int64)

    def __reduce__(self):
        return type(self), (), {"documents": self.documents, "counts": self.counts}

    def __setstate__(self, state):
        self.documents, self.counts, self.n = whole(state["documents"], "documents"), np.zeros(0, np.int64), 0
        self.reserve(len(state["counts"]))
        fill(self.counts, state, "counts")
        if self.n and not 0 <= self.counts.min():
            raise ValueError("counts must be at least 0")

    cdef int reserve(self, Py_ssize_t n) except -1 with gil:
        """Make room for n features."""
        if n > self.n:
            counts = np.zeros(n, np.int64)
            counts[:self.n] = self.counts
            self.counts, self.n = counts, n
            self.c = <int64_t*>address(counts, "lq", n, writable=True)
        return 0

    cdef int count(self, const Entry* entries, Py_ssize_t n, Py_ssize_t n_features) except -1 nogil:
        """Count one document with its features; until it is learned, it can be forgotten."""
        cdef Py_ssize_t k
        if n_features > self.n:
            self.reserve(max(n_features, 2 * self.n))
        if n > self.most_counted:
            self.reserve_document(2 * n)
        self.documents += 1
        self.n_counted, self.pending = n, True
        for k in range(n):
            self.counted[k] = entries[k].index
            self.c[entries[k].index] += 1
        return 0

    cdef int reserve_document(self, Py_ssize_t n) except -1 with gil:
        """Make room for the last document."""
        self.counted_memory = bytearray(n * sizeof(int32_t))
        self.counted, self.most_counted = <int32_t*>PyByteArray_AS_STRING(self.counted_memory), n
        return 0

    def forget(self):
        """Undo the count of a document that was not learned."""
        cdef Py_ssize_t k
        if self.pending:
            self.pending = False
            self.documents -= 1
            for k in range(self.n_counted):
                self.c[self.counted[k]] -= 1

    cdef double factor(self, Py_ssize_t feature) noexcept nogil:
        return 1 + log((1. + self.documents) / (1. + (self.c[feature] if feature < self.n else 0)))
