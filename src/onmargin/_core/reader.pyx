"""Sparse rows read from dicts, lists of names, text and vectors."""

import numpy as np

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.dict cimport PyDict_Next
from cpython.object cimport PyObject
from libc.math cimport isfinite, log, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport qsort

from onmargin._core.names cimport Index
from onmargin._core.row cimport Row
from onmargin._core.text cimport Text


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_FindChar(object text, Py_UCS4 c, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    Py_ssize_t PyUnicode_GET_LENGTH(object text)


cdef int by_index(const void* a, const void* b) noexcept nogil:
    cdef int32_t i = (<const Entry*>a).index, j = (<const Entry*>b).index
    return (i > j) - (i < j)


cdef void sort(Entry* entries, Py_ssize_t n) noexcept nogil:
    """By index. Most rows are short, and many are nearly sorted."""
    cdef Py_ssize_t k, place
    cdef Entry entry
    if n > 64:
        qsort(entries, n, sizeof(Entry), by_index)
        return
    for k in range(1, n):
        entry = entries[k]
        place = k
        while place > 0 and entries[place - 1].index > entry.index:
            entries[place] = entries[place - 1]
            place -= 1
        entries[place] = entry


cdef class _Column:
    """Memory that is appended to."""

    def __cinit__(self):
        self.memory = bytearray(4096)

    cdef void* extend(self, Py_ssize_t size) except NULL:
        """Room for `size` more bytes, to be filled in."""
        cdef Py_ssize_t start = self.used
        if start + size > PyByteArray_GET_SIZE(self.memory):
            PyByteArray_Resize(self.memory, 2 * (start + size))
        self.used += size
        return PyByteArray_AS_STRING(self.memory) + start

    cdef array(self, dtype):
        """The numbers in it, not copied; then it can grow no more."""
        PyByteArray_Resize(self.memory, self.used)
        return np.frombuffer(self.memory, dtype)


cdef class Reader:
    """Rows of a sparse matrix, read from dicts {name: number or category}, lists of names, and strings of text.

    A category is the feature "name=category" of value 1. In a list, "name:value" has a value; with no `separator`
    names stand for themselves. Values of the same name are added up. Names that are not known are learned (`grow`), or
    left out. Without `text`, strings are no rows.
    """

    def __init__(self, Index names, *, bint grow, dtype, separator=None, Text text=None):
        self.names = names
        self.grow = grow
        self.dtype = np.dtype(dtype)
        self.single = self.dtype.itemsize == 4
        self.separator = ord(separator) if separator else 0
        self.text = text
        self.held = []
        self.values, self.indices, self.ends = _Column(), _Column(), _Column()
        self.features, self.entries = _Column(), _Column()
        (<int64_t*>self.ends.extend(sizeof(int64_t)))[0] = 0

    def arrays(self):
        """The values, indices and row ends of a CSR matrix; then no more can be read."""
        return self.values.array(self.dtype), self.indices.array(np.int32), self.ends.array(np.int64)

    def read(self, x):
        """Append a row."""
        cdef Row row
        self.fill(x)
        self.row(&row)
        (<int64_t*>self.ends.extend(sizeof(int64_t)))[0] = self.indices.used // <Py_ssize_t>sizeof(int32_t)

    cdef fill(self, x):
        """Take the features of an example."""
        cdef PyObject* key
        cdef PyObject* value
        cdef Py_ssize_t position = 0
        self.n_entries = self.entries.used = self.features.used = 0
        if isinstance(x, dict):
            while PyDict_Next(x, &position, &key, &value):
                self.take_pair(<object>key, <object>value)
        elif isinstance(x, str) and self.text is not None:
            self.take_text(x)
        elif isinstance(x, str | bytes) or not hasattr(x, "__iter__"):
            raise TypeError(f"expected a dict of features or a list of their names, got {x!r:.100}")
        elif hasattr(x, "items"):
            x = dict(x.items())
            while PyDict_Next(x, &position, &key, &value):
                self.take_pair(<object>key, <object>value)
        else:
            if not isinstance(x, list | tuple):
                x = list(x)  # its names must live until they are looked up
            for name in x:
                self.take_name(name)
        self.find_places()
        self.settle()
        if isinstance(x, str):
            self.weigh()

    cdef int take_pair(self, name, value) except -1:
        if type(value) is float:
            return self.take(name, <double>value)
        if isinstance(value, str):
            return self.take(self.hold(f"{name}={value}"), 1)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"the value of feature {name!r} must be a number or a string, got {value!r}") from None
        return self.take(name, number)

    cdef int take_name(self, name) except -1:
        cdef Py_ssize_t colon
        if type(name) is not str:
            name = self.plain(name)
        if self.separator:
            colon = PyUnicode_FindChar(name, self.separator, 0, PyUnicode_GET_LENGTH(name), -1)
            if colon > 0:
                name, number = self.parted(name, colon)
                return self.take(self.hold(name), number)
        return self.take(name, 1)

    cdef str plain(self, name):
        """A name that is another kind of string, such as one of NumPy."""
        if not isinstance(name, str):
            raise TypeError(f"names of features must be strings, got {name!r}")
        return self.hold(str(name))

    cdef hold(self, name):
        """Keep a name that no one else does."""
        self.held.append(name)
        return name

    cdef tuple parted(self, str name, Py_ssize_t colon):
        """The name and the value of "name:value"; a name that has no number after it, or "\\:" before, is a name."""
        tail = name[colon + 1:]
        if name[colon - 1] != "\\" and tail[:1] in "0123456789.+-" and tail:
            try:
                return name[:colon].replace("\\" + name[colon], name[colon]), float(tail)
            except ValueError:
                pass
        return name.replace("\\" + name[colon], name[colon]), 1.0

    cdef int take(self, name, double value) except -1:
        cdef Feature* feature
        if type(name) is not str:
            name = self.plain(name)
        if not isfinite(value) or (self.single and not isfinite(<float>value)):
            raise ValueError(f"the value of feature {name!r} must be a finite number, got {value}")
        if value != 0:
            feature = <Feature*>self.features.extend(sizeof(Feature))
            feature.name, feature.value, feature.prepared = <PyObject*>name, value, self.names.prepare(name)
        return 0

    cdef int find_places(self) except -1:
        """Look up the names that were taken."""
        cdef Feature* feature = <Feature*>PyByteArray_AS_STRING(self.features.memory)
        cdef Py_ssize_t k, n = self.features.used // <Py_ssize_t>sizeof(Feature)
        for k in range(n):
            self.names.approach(feature[k].prepared)
        for k in range(n):
            self.put(self.names.place(<str>feature[k].name, feature[k].prepared, self.grow), feature[k].value)
        if self.held:
            self.held.clear()
        return 0

    cdef take_text(self, str text):
        """Every n-gram of words, once for each time it occurs."""
        cdef Text words = self.text
        cdef Py_ssize_t i, n
        cdef const char* data
        words.split(text)
        data = PyByteArray_AS_STRING(words.memory)
        for n in range(words.shortest, words.longest + 1):
            for i in range(words.n_words - n + 1):
                self.put(
                    self.names.slice(data + words.bounds[i], words.bounds[i + n] - words.bounds[i] - 1, self.grow), 1
                )

    cdef int put(self, Py_ssize_t place, double value) except -1:
        cdef Entry* entry
        if place >= 0:
            entry = <Entry*>self.entries.extend(sizeof(Entry))
            entry.index, entry.value = <int32_t>place, value
            self.n_entries += 1
        return 0

    cdef void settle(self) noexcept:
        """Sort the entries, and add up what is of one feature."""
        cdef Entry* entries = <Entry*>PyByteArray_AS_STRING(self.entries.memory)
        cdef Py_ssize_t k, kept = 0
        sort(entries, self.n_entries)
        for k in range(self.n_entries):
            if kept > 0 and entries[kept - 1].index == entries[k].index:
                entries[kept - 1].value += entries[k].value
            else:
                entries[kept] = entries[k]
                kept += 1
        self.n_entries = kept

    cdef void weigh(self) noexcept:
        """What the features of a text count."""
        cdef Entry* entries = <Entry*>PyByteArray_AS_STRING(self.entries.memory)
        cdef Py_ssize_t k
        cdef double squares = 0, scale = 1
        for k in range(self.n_entries):
            if self.text.binary:
                entries[k].value = 1
            elif self.text.logarithmic:
                entries[k].value = 1 + log(entries[k].value)
            squares += entries[k].value * entries[k].value
        if self.text.normalize and squares > 0:
            scale = 1 / sqrt(squares)
            for k in range(self.n_entries):
                entries[k].value *= scale

    cdef int row(self, Row* x) except -1:
        """Append the entries to the columns, and look at them as a row there."""
        cdef Entry* entries = <Entry*>PyByteArray_AS_STRING(self.entries.memory)
        cdef Py_ssize_t k, n = self.n_entries
        cdef int32_t* index = <int32_t*>self.indices.extend(n * sizeof(int32_t))
        cdef void* value = self.values.extend(n * (4 if self.single else 8))
        for k in range(n):
            index[k] = entries[k].index
            if self.single:
                (<float*>value)[k] = <float>entries[k].value
            else:
                (<double*>value)[k] = entries[k].value
        x.values, x.indices, x.n, x.ahead = value, index, n, n
        return 0

    cdef void rewind(self) noexcept:
        """Forget the rows appended."""
        self.indices.used = self.values.used = 0
