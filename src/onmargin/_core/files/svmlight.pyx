"""Rows of svmlight text, one per line: `label qid:group index:value index:value ... # comment`.

Text is parsed without the GIL, into arrays that are large enough for any text of its length.
"""

import numpy as np

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_REFCNT
from libc.math cimport floor, isfinite
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint64_t

from onmargin._core.rows cimport address


cdef extern from "Python.h":
    double PyOS_string_to_double(const char* text, char** end, PyObject* overflow) except? -1.0

cdef extern from "decimal.h" nogil:
    enum:
        DECIMAL_BAD, DECIMAL_HARD, DECIMAL_LEAST, DECIMAL_MOST

    ctypedef struct Wide:
        uint64_t high, low

    Wide* decimal_fives
    const char* decimal_digits(const char* text, const char* end, uint64_t* number)
    int decimal_read(const char** text, const char* end, double* value)
    bint is_digit(char c)

cdef extern from "svmlight.h" nogil:
    enum:
        PLAIN_BEFORE

    ctypedef struct Marks:
        int n, next

    ctypedef struct Plain:
        const char* end
        int64_t first, limit
        int32_t* indices
        void* values
        bint single
        Py_ssize_t n_values
        Marks marks

    ctypedef const char* (*PlainFeatures)(Plain* plain, const char* p, int64_t* last) noexcept nogil

    void append_feature(Plain* plain, int64_t index, double value)
    const char* skip_blanks(const char* p)
    bint parts(char c)
    PlainFeatures plain_features_at(int level)


cdef enum:
    POOLED = 6  # more blocks than are usually referred to at once, one of them being parsed


cdef enum Fault:
    NO_FAULT, LABEL, WHOLE_LABEL, FEATURE, LARGE_INDEX, ZERO_INDEX, INDEX_ORDER, NEW_FEATURE, VALUE, QID, QID_SOMETIMES

cdef tuple FAULTS = (
    "",
    "a row must start with its label, a finite number",
    "the labels of a row must be whole numbers separated by commas",
    "a feature must be a whole number, a colon and a value",
    f"an index must be at most {INT32_MAX - 1}",
    "indices start at 1: set zero_based=True (--zero-based) if they start at 0",
    "the indices of a row must increase",
    "the index is beyond n_features",
    "a value must be a finite number",
    "a qid must be a whole number of at most 18 digits, given once",
    "either all rows or no row must have a qid",
)


cdef struct Block:
    const char* start  # of the text
    const char* p  # the next character
    const char* end
    double* labels
    int32_t* label_ends
    int32_t* row_ends
    int64_t* qids
    Py_ssize_t n_rows, n_labels, n_lines
    Plain features  # the indices and values of the rows


@cython.final
cdef class Parser:
    """A parser of rows, which collects those of consecutive texts until they are taken.

    `n_features` is -1 if any index is accepted. `dtype` is the type of the values, float32 or float64. `level`
    limits the instructions: 0 are those of every CPU, 1 has AVX2, and 2 has AVX-512 as well, where the CPU has them.
    """

    cdef readonly Py_ssize_t width  # 1 + the largest index so far
    cdef readonly Py_ssize_t n_characters  # length of the texts whose rows are collected
    cdef readonly Py_ssize_t line_start  # where the line of the last error starts in its text
    cdef readonly Py_ssize_t capacity  # maximum length of those texts, if there are several
    cdef Block block
    cdef PlainFeatures plain_features
    cdef Py_ssize_t n_features
    cdef bint zero_based, multilabel
    cdef object dtype
    cdef int grouped  # whether rows have a qid; -1 before the first one
    cdef tuple scratch  # arrays of labels, their ends, ends of rows, and qids
    cdef tuple features  # arrays of indices and values
    cdef list pool  # pairs of such arrays, which are used again when nobody else refers to them

    def __init__(
        self, bint zero_based=False, bint multilabel=False, Py_ssize_t n_features=-1, dtype=np.float64,
        Py_ssize_t capacity=0, *, int level=2,
    ):
        self.plain_features = plain_features_at(level)
        self.zero_based = zero_based
        self.multilabel = multilabel
        self.n_features = n_features
        self.dtype = np.dtype(dtype)
        self.capacity = capacity
        self.grouped = -1
        self.pool = []
        self.block.features.first = not zero_based
        self.block.features.limit = INT32_MAX if n_features < 0 else n_features
        self.block.features.single = self.dtype == np.float32

    def parse(self, text, Py_ssize_t n):
        """Collect the rows of the first n characters of a text; return an error or None.

        The text is bytes or a bytearray; those characters end with the end of a line. If there is an error, the rows
        before it are collected, and it is in the line after those counted.
        """
        cdef Block* b = &self.block
        cdef Fault fault
        if not 0 < n <= min(len(text), INT32_MAX) or text[n - 1] not in b"\r\n":
            raise ValueError("expected whole lines of text, less than 2 GB")
        if not self.n_characters:
            self.make_room(n)
        elif n > self.capacity - self.n_characters:
            raise ValueError("there is no room for so much text: take the rows before it")
        self.n_characters += n
        b.start = b.p = <const char*>address(text, "B", len(text))
        b.end = b.features.end = b.p + n
        b.features.marks.n = b.features.marks.next = 0
        with nogil:
            fault = self.rows(b)
        return None if fault == NO_FAULT else f"{FAULTS[fault]}; got {token_at(text[:n], b.p - b.start)!r}"

    def take_rows(self):
        """Return labels, ends of labels, ends of rows, indices, values, qids or None, and the number of lines."""
        cdef Block* b = &self.block
        labels, label_ends, row_ends, qids = self.scratch
        indices, values = self.features
        n_values = b.row_ends[b.n_rows]
        indices, values = indices[:n_values], values[:n_values]
        if len(self.pool) == POOLED and self.features is self.pool[POOLED - 1]:
            indices, values = indices.copy(), values.copy()
        self.n_characters = 0
        return (
            labels[:b.label_ends[b.n_rows]].copy(),
            label_ends[:b.n_rows + 1].copy(),
            row_ends[:b.n_rows + 1].copy(),
            indices,
            values,
            qids[:b.n_rows].copy() if self.grouped == 1 else None,
            b.n_lines,
        )

    cdef int make_room(self, Py_ssize_t n) except -1:
        """Start a block with room for n characters: a label takes two with its separator, a row two and a feature four.

        Arrays are used again, because fresh memory costs as much as parsing.
        """
        cdef Block* b = &self.block
        if self.scratch is None or n > self.capacity:
            self.capacity = max(self.capacity, n)
            two = self.capacity // 2 + 2
            self.scratch = np.empty(two), np.empty(two, np.int32), np.empty(two, np.int32), np.empty(two, np.int64)
            self.pool = []
        labels, label_ends, row_ends, qids = self.scratch
        b.labels = <double*>address(labels, "d", len(labels), True)
        b.label_ends = <int32_t*>address(label_ends, "i", len(label_ends), True)
        b.row_ends = <int32_t*>address(row_ends, "i", len(row_ends), True)
        b.qids = <int64_t*>address(qids, "lq", len(qids), True)
        self.features = self.unused_pair()
        indices, values = self.features
        b.features.indices = <int32_t*>address(indices, "i", len(indices), True)
        b.features.values = address(values, "fd", len(values), True)
        b.n_rows = b.n_lines = b.label_ends[0] = b.row_ends[0] = 0
        return 0

    cdef tuple unused_pair(self):
        """Return arrays of indices and values that no block refers to any more.

        If all blocks are kept, it is the last pair, from which `take_rows` copies.
        """
        for pair in self.pool:
            indices, values = pair
            if Py_REFCNT(indices) == 2 and Py_REFCNT(values) == 2:  # the pair, and the variable here
                return pair
        if len(self.pool) < POOLED:
            four = self.capacity // 4 + 2
            self.pool.append((np.empty(four, np.int32), np.empty(four, self.dtype)))
        return self.pool[len(self.pool) - 1]

    cdef Fault rows(self, Block* b) noexcept nogil:
        cdef Fault fault
        cdef const char* start
        while b.p < b.end:
            start = b.p
            fault = self.row(b)
            if fault != NO_FAULT:
                self.line_start = start - b.start
                return fault
            b.p += 2 if b.p[0] == b"\r" and b.p[1] == b"\n" else 1
            b.n_lines += 1
        return NO_FAULT

    cdef Fault row(self, Block* b) noexcept nogil:
        """Parse one line up to its end, or up to an error."""
        cdef const char* start = b.p
        cdef Fault fault
        cdef bint has_qid = False
        cdef int64_t last = -1
        b.p = skip_blanks(b.p)
        if ends_line(b):
            return NO_FAULT
        b.n_labels = b.label_ends[b.n_rows]
        b.features.n_values = b.row_ends[b.n_rows]
        fault = self.targets(b, b.p > start)
        while fault == NO_FAULT:
            b.p = skip_blanks(b.p)
            if b.p - b.start >= PLAIN_BEFORE:
                b.p = self.plain_features(&b.features, b.p, &last)
                b.p = skip_blanks(b.p)
            if ends_line(b):
                break
            if b.p[0] == b"q":
                fault = QID if has_qid else qid(b)
                has_qid = True
            else:
                fault = self.feature(b, &last)
        if fault == NO_FAULT and self.grouped >= 0 and self.grouped != has_qid:
            b.p = start
            fault = QID_SOMETIMES
        if fault != NO_FAULT:
            return fault
        self.grouped = has_qid
        self.width = max(self.width, <Py_ssize_t>last + 1)
        b.n_rows += 1
        b.label_ends[b.n_rows] = <int32_t>b.n_labels
        b.row_ends[b.n_rows] = <int32_t>b.features.n_values
        return NO_FAULT

    cdef Fault targets(self, Block* b, bint indented) noexcept nogil:
        """Parse the label or labels; a multilabel row without labels starts with a blank or a feature."""
        cdef const char* start = b.p
        cdef double* y = b.labels + b.n_labels
        if self.multilabel and indented:
            return NO_FAULT
        while True:
            if not number(b, y):
                return WHOLE_LABEL if self.multilabel else LABEL
            if self.multilabel:
                if b.p[0] == b":" and b.p > start and y == b.labels + b.n_labels:
                    b.p = start
                    return NO_FAULT
                if floor(y[0]) != y[0]:
                    b.p = start
                    return WHOLE_LABEL
            y += 1
            if not (self.multilabel and b.p[0] == b","):
                break
            b.p += 1
        if not parts(b.p[0]):
            b.p = start
            return WHOLE_LABEL if self.multilabel else LABEL
        b.n_labels = y - b.labels
        return NO_FAULT

    cdef inline Fault feature(self, Block* b, int64_t* last) noexcept nogil:
        cdef const char* start = b.p
        cdef uint64_t digits = 0
        cdef int64_t index
        cdef double value
        cdef Fault fault = NO_FAULT
        b.p = decimal_digits(start, b.end, &digits)
        index = <int64_t>digits
        if b.p == start or b.p[0] != b":":
            fault = FEATURE
        elif digits >= INT32_MAX or b.p - start > 19:
            fault = LARGE_INDEX
        else:
            b.p += 1
            index -= not self.zero_based
            if index <= last[0]:
                fault = ZERO_INDEX if index < 0 else INDEX_ORDER
            elif 0 <= self.n_features <= index:
                fault = NEW_FEATURE
            elif not number(b, &value) or not parts(b.p[0]):
                fault = VALUE
        if fault != NO_FAULT:
            b.p = start
            return fault
        append_feature(&b.features, index, value)
        last[0] = index
        return NO_FAULT


cdef inline bint ends_line(Block* b) noexcept nogil:
    """Return whether only a comment is left of the line; if so, go to its end."""
    if b.p[0] == b"#":
        while b.p[0] != b"\n" and b.p[0] != b"\r":
            b.p += 1
    return b.p[0] == b"\n" or b.p[0] == b"\r"


cdef Fault qid(Block* b) noexcept nogil:
    cdef const char* start = b.p
    cdef const char* digits = b.p + 4
    cdef int64_t group = 0
    if b.p[1] == b"i" and b.p[2] == b"d" and b.p[3] == b":":
        b.p = digits
        while is_digit(b.p[0]) and b.p - digits < 18:
            group = 10 * group + (b.p[0] - 48)
            b.p += 1
        if b.p > digits and parts(b.p[0]):
            b.qids[b.n_rows] = group
            return NO_FAULT
    b.p = start
    return QID


cdef inline bint number(Block* b, double* value) noexcept nogil:
    """Read a number and go behind it; stay if there is none, or if it is not finite."""
    cdef const char* start = b.p
    cdef int outcome = decimal_read(&b.p, b.end, value)
    if outcome == DECIMAL_HARD:
        value[0] = read_by_python(start)
    if outcome == DECIMAL_BAD or not isfinite(value[0]):
        b.p = start
        return False
    return True


cdef double read_by_python(const char* text) noexcept with gil:
    cdef char* end
    return PyOS_string_to_double(text, &end, NULL)


cdef str token_at(text, Py_ssize_t start):
    """Return the text at this place for an error message, at most 60 characters."""
    return text[start:start + 60].splitlines()[0].decode("utf-8", "replace").split(" ")[0]


cdef void fill_fives():
    """Return the leading 128 bits of 5^e. Reciprocals down to 5^-27 are rounded up, which makes ties exact."""
    for e in range(DECIMAL_LEAST, DECIMAL_MOST + 1):
        power = 5 ** abs(e)
        if e < 0:
            power = (1 << (power.bit_length() + 127)) // power + (e >= -27)
        else:
            power = (power << 128) >> power.bit_length()
        decimal_fives[e - DECIMAL_LEAST].high = power >> 64
        decimal_fives[e - DECIMAL_LEAST].low = power & 0xFFFFFFFFFFFFFFFF


fill_fives()
