"""Features by name: a growing index of names, or a hash of fixed size."""

import os
from itertools import pairwise

import numpy as np

from onmargin._core.restore import whole

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.list cimport PyList_GET_ITEM
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

from onmargin._core.rows cimport VEC_PREFETCH


cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL


# Rows are indexed by 32-bit integers.
cdef Py_ssize_t MOST_NAMES = 2**31 - 1

# The number of names that fit the first-level caches.
cdef Py_ssize_t FEW_NAMES = 4096

# Different in each process, so that nobody can prepare names that collide.
cdef uint64_t[SECRETS] secrets
cdef bytes _random = os.urandom(sizeof(secrets))
memcpy(secrets, <char*>_random, sizeof(secrets))

cdef enum:
    GROUP = 16  # words that are looked up together


cdef inline uint64_t hash_of(Spelling name) noexcept nogil:
    return table_hash(name.bytes, name.n, secrets, False)


cdef class Index:
    """Base class: places of features by name. With `grow`, a new name gets a place; otherwise it has none.

    find        look up the places of the names of an example together; return how many have one
    find_words  the same for n runs of `length` words of a text, in UTF-8 with 7 extra bytes behind it
    """

    cdef Py_ssize_t find(self, Feature* features, Py_ssize_t n, bint grow, Entry* found) except -1:
        return 0

    cdef Py_ssize_t find_words(
        self, const char* text, const Span* words, Py_ssize_t n, Py_ssize_t length, bint grow, int32_t* found
    ) except -1 nogil:
        return 0

    def __len__(self):
        return self.size

    def get(self, str name):
        """Return the place of a name, or -1."""
        cdef Feature feature
        cdef Entry entry
        feature.name, feature.value = <PyObject*>name, 1
        return entry.index if self.find(&feature, 1, False, &entry) else -1

    def forget(self, Py_ssize_t n):
        """Keep only the first n names, if names are stored."""


cdef class Names(Index):
    """Names in order of first appearance; the place of a name is the index of its feature.

    A table with open addressing, at most half full. A slot has a part of the name's hash, so that nearly every name
    that is looked at is the one that is looked for, and the bytes of a short name.
    """

    def __init__(self, names=()):
        self.take_over(list(names))

    cdef take_over(self, list names):
        self.names = names
        self.index()
        if len(set(names)) < len(names):
            raise ValueError("names must be unique")

    def __reduce__(self):
        texts = [name.encode("utf-8", "surrogatepass") for name in self.names]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return type(self), (), {"text": np.frombuffer(b"".join(texts), np.uint8), "ends": ends}

    def __setstate__(self, state):
        text, ends = state["text"].tobytes(), [0, *state["ends"].tolist()]
        if any(a > b for a, b in pairwise(ends)) or ends[len(ends) - 1] != len(text):
            raise ValueError(f"the ends of names must rise up to the {len(text)} bytes that they have")
        self.take_over([text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)])

    def forget(self, Py_ssize_t n):
        """Keep only the first n names. The others are removed last first, so that no probe sequence is broken."""
        while self.size > n:
            self.size -= 1
            name = self.names.pop()
            self.slot(name_spelling(<PyObject*>name), hash_of(name_spelling(<PyObject*>name))).name = NULL

    def probes(self):
        """Return how many slots are probed to find every name once, a measure of how well the hash spreads them."""
        cdef Py_ssize_t n = 0
        cdef Slot* slot
        for name in self.names:
            slot = &self.slots[hash_of(name_spelling(<PyObject*>name)) & self.mask]
            n += 1
            while slot.name != <PyObject*>name:
                slot = self.next(slot)
                n += 1
        return n

    cdef index(self):
        """Rebuild the table, with room for half as many names again at least."""
        cdef uint64_t n = 1024
        cdef Py_ssize_t place
        self.size = len(self.names)
        while n < 3 * <uint64_t>self.size:
            n *= 2
        self.memory = bytearray(n * sizeof(Slot))
        self.slots = <Slot*>PyByteArray_AS_STRING(self.memory)
        self.mask = n - 1
        for place in range(self.size):
            self.put(<object>PyList_GET_ITEM(self.names, place), place)

    cdef put(self, str name, Py_ssize_t place):
        cdef Spelling spelling = name_spelling(<PyObject*>name)
        cdef uint64_t hashed = hash_of(spelling)
        cdef Slot* slot = &self.slots[hashed & self.mask]
        while slot.name != NULL:
            slot = self.next(slot)
        slot[0] = name_slot(spelling, hashed, False)
        slot.name, slot.place = <PyObject*>name, <int32_t>place

    cdef Py_ssize_t find(self, Feature* features, Py_ssize_t n, bint grow, Entry* found) except -1:
        """Look up in three passes, so that memory accesses of different names overlap."""
        cdef Py_ssize_t k, kept = 0
        cdef Slot* slot
        for k in range(n):
            features[k].hashed = hash_of(name_spelling(features[k].name))
            VEC_PREFETCH(&self.slots[features[k].hashed & self.mask])
        if self.size > FEW_NAMES:
            for k in range(n):
                VEC_PREFETCH(self.slots[features[k].hashed & self.mask].name)
        for k in range(n):
            slot = self.slot(name_spelling(features[k].name), features[k].hashed)
            if slot.name != NULL or grow:
                found[kept].index = slot.place if slot.name != NULL else <int32_t>self.add(<str>features[k].name)
                found[kept].value = features[k].value
                kept += 1
        return kept

    cdef Py_ssize_t find_words(
        self, const char* text, const Span* words, Py_ssize_t n, Py_ssize_t length, bint grow, int32_t* found
    ) except -1 nogil:
        """In rounds as well. Of words in ASCII the bytes are those of their strings, which need not be made."""
        cdef Py_ssize_t first = 0, k, size, place, kept = 0
        cdef Spelling[GROUP] names
        cdef uint64_t[GROUP] hashed
        cdef Slot* slot
        while first < n:
            size = min(n - first, <Py_ssize_t>GROUP)
            for k in range(size):
                names[k].bytes = text + words[first + k].start
                names[k].n = words[first + k + length - 1].end - words[first + k].start
                names[k].kind = 1
                hashed[k] = table_hash(names[k].bytes, names[k].n, secrets, True)
                VEC_PREFETCH(&self.slots[hashed[k] & self.mask])
            for k in range(size):
                if names[k].n > SHORT_NAME:
                    VEC_PREFETCH(self.slots[hashed[k] & self.mask].name)
            for k in range(size):
                slot = self.slot(names[k], hashed[k], True) if is_ascii(names[k].bytes, names[k].n) else NULL
                if slot != NULL and slot.name != NULL:
                    place = slot.place
                else:
                    place = self.add_word(names[k].bytes, names[k].n, grow)
                if place >= 0:
                    found[kept] = <int32_t>place
                    kept += 1
            first += size
        return kept

    cdef Py_ssize_t add_word(self, const char* text, Py_ssize_t n, bint grow) except -2 with gil:
        """Return the place of a word that is new or not ASCII, or -1."""
        cdef str name = text[:n].decode("utf-8")
        cdef Spelling spelling = name_spelling(<PyObject*>name)
        cdef Slot* slot = self.slot(spelling, hash_of(spelling))
        if slot.name != NULL:
            return slot.place
        return self.add(name) if grow else -1

    cdef Py_ssize_t add(self, str name) except -1:
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
    """Places among 2^bits by a fixed hash: memory is bounded, and names may share a place."""

    def __init__(self, int bits):
        self.bits = whole(bits, "bits", least=1, most=30)
        self.size = <Py_ssize_t>1 << self.bits

    def __reduce__(self):
        return type(self), (self.bits,)

    cdef Py_ssize_t find(self, Feature* features, Py_ssize_t n, bint grow, Entry* found) except -1:
        cdef Py_ssize_t k, size
        cdef const char* text
        for k in range(n):
            text = PyUnicode_AsUTF8AndSize(<object>features[k].name, &size)
            found[k].index = <int32_t>(place_hash(text, size, False) >> (64 - self.bits))
            found[k].value = features[k].value
        return n

    cdef Py_ssize_t find_words(
        self, const char* text, const Span* words, Py_ssize_t n, Py_ssize_t length, bint grow, int32_t* found
    ) except -1 nogil:
        cdef Py_ssize_t k, size
        for k in range(n):
            size = words[k + length - 1].end - words[k].start
            found[k] = <int32_t>(place_hash(text + words[k].start, size, True) >> (64 - self.bits))
        return n
