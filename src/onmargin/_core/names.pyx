"""Features known by name: an index of names that grows, and rows read from dicts and lists of names through it."""

import numpy as np

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.dict cimport PyDict_Next
from cpython.list cimport PyList_GET_ITEM
from cpython.object cimport PyObject, PyObject_Hash
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcmp


cdef extern from "Python.h":
    Py_ssize_t PyUnicode_FindChar(object text, Py_UCS4 c, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)


# Rows are indexed by 32-bit integers.
cdef Py_ssize_t MOST_NAMES = 2**31 - 1


cdef struct Slot:
    PyObject* name    # NULL: free
    uint32_t hashed   # half of the hash that Python keeps with a string
    int32_t place


cdef inline bint equal(object a, object b) noexcept:
    """Whether two strings are the same."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(a)
    return n == PyUnicode_GET_LENGTH(b) and PyUnicode_KIND(a) == PyUnicode_KIND(b) and (
        memcmp(PyUnicode_DATA(a), PyUnicode_DATA(b), n * PyUnicode_KIND(a)) == 0
    )


cdef struct Entry:
    int32_t index
    double value


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

    cdef bytearray memory
    cdef Py_ssize_t used

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


cdef class Names:
    """Names in the order in which they were first met; the place of each is the index of its feature.

    A table with open addressing, at most half full. A slot has half of the name's hash, so that nearly every name that
    is looked at is the one that is looked for.
    """

    cdef readonly list names
    cdef bytearray memory
    cdef Slot* slots
    cdef uint64_t mask

    def __init__(self, names=()):
        self.names = list(names)
        self.index()
        if any(self.find(name) != place for place, name in enumerate(self.names)):
            raise ValueError("names must be given once each")

    def __reduce__(self):
        return type(self), (self.names,)

    def __len__(self):
        return len(self.names)

    def get(self, str name):
        """The place of a name, or -1."""
        return self.find(name)

    def forget(self, Py_ssize_t n):
        """Keep the first n names only."""
        if n < len(self.names):
            del self.names[n:]
            self.index()

    cdef index(self):
        """Make the table anew, with room for as many names again."""
        cdef uint64_t n = 1024
        cdef Py_ssize_t place
        while n < 4 * <uint64_t>len(self.names):
            n *= 2
        self.memory = bytearray(n * sizeof(Slot))
        self.slots = <Slot*>PyByteArray_AS_STRING(self.memory)
        self.mask = n - 1
        for place in range(len(self.names)):
            self.put(<object>PyList_GET_ITEM(self.names, place), place)

    cdef put(self, str name, Py_ssize_t place):
        cdef uint64_t hashed = <uint64_t>PyObject_Hash(name)
        cdef Slot* slot = &self.slots[hashed & self.mask]
        while slot.name != NULL:
            slot = self.next(slot)
        slot.name, slot.hashed, slot.place = <PyObject*>name, <uint32_t>(hashed >> 32), <int32_t>place

    cdef inline Slot* next(self, Slot* slot) noexcept:
        return slot + 1 if slot < self.slots + self.mask else self.slots

    cdef Py_ssize_t find(self, str name) except -2:
        """The place of a name, or -1."""
        cdef uint64_t hashed = <uint64_t>PyObject_Hash(name)
        cdef Slot* slot = &self.slots[hashed & self.mask]
        while slot.name != NULL:
            if slot.hashed == <uint32_t>(hashed >> 32) and equal(<object>slot.name, name):
                return slot.place
            slot = self.next(slot)
        return -1

    cdef Py_ssize_t add(self, str name) except -2:
        """The place of a name, which is given one if it has none."""
        cdef Py_ssize_t place = self.find(name)
        if place >= 0:
            return place
        place = len(self.names)
        if place == MOST_NAMES:
            raise ValueError(f"there are {place} names of features already, and no more can be indexed")
        self.names.append(name)
        if 2 * <uint64_t>place >= self.mask:
            self.index()
        else:
            self.put(name, place)
        return place


cdef class Reader:
    """Rows of a sparse matrix, read from dicts {name: number or category} and from lists of names.

    A category is the feature "name=category" of value 1. In a list, "name:value" has a value; after another character
    than ":", or none, names stand for themselves. Values of the same name are added up. Names that are not known are
    learned (`grow`), or left out.
    """

    cdef readonly Names names
    cdef readonly bint grow
    cdef readonly object dtype
    cdef Py_UCS4 separator
    cdef bint single
    cdef _Column values, indices, ends, entries
    cdef Py_ssize_t n_entries

    def __init__(self, Names names, *, bint grow, dtype, separator=None):
        self.names = names
        self.grow = grow
        self.dtype = np.dtype(dtype)
        self.single = self.dtype.itemsize == 4
        self.separator = ord(separator) if separator else 0
        self.values, self.indices, self.ends, self.entries = _Column(), _Column(), _Column(), _Column()
        (<int64_t*>self.ends.extend(sizeof(int64_t)))[0] = 0

    def arrays(self):
        """The values, indices and row ends of a CSR matrix; then no more can be read."""
        return self.values.array(self.dtype), self.indices.array(np.int32), self.ends.array(np.int64)

    def read(self, row):
        """Append a row."""
        cdef PyObject* key
        cdef PyObject* value
        cdef Py_ssize_t position = 0
        self.n_entries = self.entries.used = 0
        if isinstance(row, dict):
            while PyDict_Next(row, &position, &key, &value):
                self.take_pair(<object>key, <object>value)
        elif isinstance(row, str | bytes) or not hasattr(row, "__iter__"):
            raise TypeError(f"expected a dict of features or a list of their names, got {row!r}")
        elif hasattr(row, "items"):
            for name, number in row.items():
                self.take_pair(name, number)
        else:
            for name in row:
                self.take_name(name)
        self.close()

    cdef inline take_pair(self, name, value):
        if type(value) is float:
            self.take(name, <double>value)
        elif isinstance(value, str):
            self.take(f"{name}={value}", 1)
        else:
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                raise TypeError(f"the value of feature {name!r} must be a number or a string, got {value!r}") from None
            self.take(name, number)

    cdef inline take_name(self, name):
        cdef Py_ssize_t colon
        if type(name) is str and self.separator:
            colon = PyUnicode_FindChar(name, self.separator, 0, PyUnicode_GET_LENGTH(name), -1)
            if colon > 0:
                name, number = self.parted(name, colon)
                self.take(name, number)
                return
        self.take(name, 1)

    cdef tuple parted(self, str name, Py_ssize_t colon):
        """The name and the value of "name:value"; a name that has no number after it, or "\\:" before, is a name."""
        tail = name[colon + 1:]
        if name[colon - 1] != "\\" and tail[:1] in "0123456789.+-" and tail:
            try:
                return name[:colon].replace("\\" + name[colon], name[colon]), float(tail)
            except ValueError:
                pass
        return name.replace("\\" + name[colon], name[colon]), 1.0

    cdef take(self, name, double value):
        cdef Py_ssize_t place
        cdef Entry* entry
        if not isinstance(name, str):
            raise TypeError(f"names of features must be strings, got {name!r}")
        if not isfinite(value) or (self.single and not isfinite(<float>value)):
            raise ValueError(f"the value of feature {name!r} must be a finite number, got {value}")
        if value == 0:
            return
        place = self.names.add(name) if self.grow else self.names.find(name)
        if place >= 0:
            entry = <Entry*>self.entries.extend(sizeof(Entry))
            entry.index, entry.value = <int32_t>place, value
            self.n_entries += 1

    cdef close(self):
        """Sort the row, add up what is of one feature, and append it."""
        cdef Entry* entries = <Entry*>PyByteArray_AS_STRING(self.entries.memory)
        cdef Py_ssize_t k, kept = 0
        cdef int32_t* index
        cdef void* value
        sort(entries, self.n_entries)
        for k in range(self.n_entries):
            if kept > 0 and entries[kept - 1].index == entries[k].index:
                entries[kept - 1].value += entries[k].value
            else:
                entries[kept] = entries[k]
                kept += 1
        index = <int32_t*>self.indices.extend(kept * sizeof(int32_t))
        value = self.values.extend(kept * (4 if self.single else 8))
        for k in range(kept):
            index[k] = entries[k].index
            if self.single:
                (<float*>value)[k] = <float>entries[k].value
            else:
                (<double*>value)[k] = entries[k].value
        (<int64_t*>self.ends.extend(sizeof(int64_t)))[0] = self.indices.used // <Py_ssize_t>sizeof(int32_t)
