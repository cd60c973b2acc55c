"""Features known by name: an index of names that grows, or one of fixed size that hashes them."""

from itertools import pairwise

import numpy as np

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.list cimport PyList_GET_ITEM
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memcpy


cdef extern from "Python.h":
    ctypedef struct PyASCIIObject:
        Py_hash_t hash

    Py_hash_t PyObject_Hash(object text) noexcept
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL


cdef extern from "vec.h" nogil:
    void VEC_PREFETCH(const void* where)


# Rows are indexed by 32-bit integers.
cdef Py_ssize_t MOST_NAMES = 2**31 - 1


# As many names as the first caches hold.
cdef Py_ssize_t FEW_NAMES = 4096


cdef inline uint64_t hash_of(PyObject* name) noexcept:
    """That which Python keeps with a string, once it was asked for; of strings it cannot fail."""
    cdef Py_hash_t kept = (<PyASCIIObject*>name).hash
    return <uint64_t>(kept if kept != -1 else PyObject_Hash(<object>name))


cdef class Index:
    """The interface: the places of features by their names. A new name is given one (`grow`), or has none.

    find   the places of the names of an example, looked up together; answers how many have one
    slice  the place of a name given by its UTF-8 bytes, or -1
    """

    cdef Py_ssize_t find(self, Feature* features, Py_ssize_t n, bint grow, Entry* found) except -1:
        return 0

    cdef Py_ssize_t slice(self, const char* text, Py_ssize_t n, bint grow) except -2:
        return -1

    def __len__(self):
        return self.size

    def get(self, str name):
        """The place of a name, or -1."""
        cdef Feature feature
        cdef Entry entry
        feature.name, feature.value = <PyObject*>name, 1
        return entry.index if self.find(&feature, 1, False, &entry) else -1

    def forget(self, Py_ssize_t n):
        """Keep the first n names only, where names are kept."""


cdef class Names(Index):
    """Names in the order in which they were first met; the place of each is the index of its feature.

    A table with open addressing, at most half full. A slot has half of the name's hash, so that nearly every name that
    is looked at is the one that is looked for.
    """

    def __init__(self, names=()):
        self.names = list(names)
        self.index()
        if any(self.get(name) != place for place, name in enumerate(self.names)):
            raise ValueError("names must be given once each")

    def __reduce__(self):
        texts = [name.encode("utf-8", "surrogatepass") for name in self.names]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return type(self), (), {"text": np.frombuffer(b"".join(texts), np.uint8), "ends": ends}

    def __setstate__(self, state):
        text, ends = state["text"].tobytes(), [0, *state["ends"].tolist()]
        self.names = [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]
        self.index()

    def forget(self, Py_ssize_t n):
        """Keep the first n names only. Taken out last first, none is on the way to one that stays."""
        while self.size > n:
            self.size -= 1
            name = self.names.pop()
            self.slot(<PyObject*>name, hash_of(<PyObject*>name)).name = NULL

    cdef index(self):
        """Make the table anew, with room for as many names again."""
        cdef uint64_t n = 1024
        cdef Py_ssize_t place
        self.size = len(self.names)
        while n < 4 * <uint64_t>self.size:
            n *= 2
        self.memory = bytearray(n * sizeof(Slot))
        self.slots = <Slot*>PyByteArray_AS_STRING(self.memory)
        self.mask = n - 1
        for place in range(self.size):
            self.put(<object>PyList_GET_ITEM(self.names, place), place)

    cdef put(self, str name, Py_ssize_t place):
        cdef uint64_t hashed = hash_of(<PyObject*>name)
        cdef Slot* slot = &self.slots[hashed & self.mask]
        while slot.name != NULL:
            slot = self.next(slot)
        slot.name, slot.hashed, slot.place = <PyObject*>name, <uint32_t>(hashed >> 32), <int32_t>place

    cdef Py_ssize_t find(self, Feature* features, Py_ssize_t n, bint grow, Entry* found) except -1:
        """In three rounds, so that each name can wait for memory while the others are under way."""
        cdef Py_ssize_t k, kept = 0
        cdef Slot* slot
        for k in range(n):
            features[k].hashed = hash_of(features[k].name)
            VEC_PREFETCH(&self.slots[features[k].hashed & self.mask])
        if self.size > FEW_NAMES:
            for k in range(n):
                VEC_PREFETCH(self.slots[features[k].hashed & self.mask].name)
        for k in range(n):
            slot = self.slot(features[k].name, features[k].hashed)
            if slot.name != NULL or grow:
                found[kept].index = slot.place if slot.name != NULL else <int32_t>self.add(<str>features[k].name)
                found[kept].value = features[k].value
                kept += 1
        return kept

    cdef Py_ssize_t slice(self, const char* text, Py_ssize_t n, bint grow) except -2:
        cdef str name = text[:n].decode("utf-8")
        cdef Slot* slot = self.slot(<PyObject*>name, hash_of(<PyObject*>name))
        if slot.name != NULL:
            return slot.place
        return self.add(name) if grow else -1

    cdef Py_ssize_t add(self, str name) except -2:
        cdef Py_ssize_t place = self.size
        if place == MOST_NAMES:
            raise ValueError(f"there are {place} names of features already, and no more can be indexed")
        self.names.append(name)
        if 2 * <uint64_t>place >= self.mask:
            self.index()
        else:
            self.put(name, place)
            self.size += 1
        return place


cdef class Hashed(Index):
    """Places among 2^bits by a hash that is the same everywhere: memory is bounded, and names may share a place."""

    def __init__(self, int bits):
        self.bits = bits
        self.size = 1 << bits

    def __reduce__(self):
        return type(self), (self.bits,)

    cdef Py_ssize_t find(self, Feature* features, Py_ssize_t n, bint grow, Entry* found) except -1:
        cdef Py_ssize_t k, size
        cdef const char* text
        for k in range(n):
            text = PyUnicode_AsUTF8AndSize(<object>features[k].name, &size)
            found[k].index, found[k].value = <int32_t>Hashed.slice(self, text, size, grow), features[k].value
        return n

    cdef Py_ssize_t slice(self, const char* text, Py_ssize_t n, bint grow) except -2:
        """Eight bytes at a time are mixed in by a multiplication, whose high bits know of all the bits below."""
        cdef uint64_t hashed = <uint64_t>n, word
        while n > 0:
            word = 0
            memcpy(&word, text, min(n, 8))
            hashed = (hashed ^ word) * <uint64_t>0x9E3779B97F4A7C15
            hashed ^= hashed >> 32
            text += 8
            n -= 8
        hashed *= <uint64_t>0xD6E8FEB86659FD93
        return <Py_ssize_t>(hashed >> (64 - self.bits))
