"""Features by name: a growing index of names, or a hash of fixed size."""

import os
from itertools import pairwise

import numpy as np

from onmargin._core.restore import whole

from cpython.list cimport PyList_GET_ITEM
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint64_t, uintptr_t
from libc.string cimport memcpy

from onmargin._core.rows cimport VEC_PREFETCH, address


cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    str PyUnicode_FromKindAndData(int kind, const void* characters, Py_ssize_t n)


# Rows are indexed by 32-bit integers.
cdef Py_ssize_t MOST_NAMES = 2**31 - 1

# The number of names that fit the first-level caches.
cdef Py_ssize_t FEW_NAMES = 4096

# Different in each process, so that nobody can prepare names that collide.
cdef uint64_t[SECRETS] secrets
cdef bytes _random = os.urandom(sizeof(secrets))
memcpy(secrets, <char*>_random, sizeof(secrets))

cdef enum:
    GROUP = 64  # words that are looked up together
    CACHE_LINE = 64


cdef inline uint64_t hash_of(Spelling name) noexcept nogil:
    return table_hash(name.bytes, name.n, secrets, False)


cdef class Index:
    """Base class: places of features by name. With `grow`, a new name gets a place; otherwise it has none.

    find      look up the places of n names together; -1 if unknown
    look_up   look up n runs of `length` words of a text, in UTF-8 with 15 extra bytes behind it; -1 if unknown. Return
              how many are. Threads may look up words while one adds names, each in the table that it was given, as long
              as its `memory` is kept
    add_words set the places of n words that were not found; -1 if they have none
    """

    def __cinit__(self):
        self.integers = {}

    cdef int find(self, Feature* features, Py_ssize_t n, bint grow, int32_t* places) except -1:
        return 0

    cdef Py_ssize_t look_up(
        self, Table table, const char* text, const Span* words, Py_ssize_t n, Py_ssize_t length, int32_t* found
    ) noexcept nogil:
        return 0

    cdef int add_words(
        self, const char* text, Missing* missing, Py_ssize_t n, bint grow, int32_t* places
    ) except -1 with gil:
        return 0

    def __len__(self):
        return self.size

    def get(self, str name):
        """Return the place of a name, or -1."""
        cdef Feature feature
        cdef int32_t place
        feature.name, feature.value = <PyObject*>name, 1
        self.find(&feature, 1, False, &place)
        return place

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
        joined, sizes = "".join(self.names), map(len, self.names)
        if not joined.isascii():
            sizes = [len(name.encode("utf-8", "surrogatepass")) for name in self.names]
        text = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
        ends = np.cumsum(np.fromiter(sizes, np.int64, self.size))
        return type(self), (), {"text": text, "ends": ends.astype(np.min_scalar_type(len(text)))}

    def __setstate__(self, state):
        text, ends = state["text"].tobytes(), [0, *state["ends"].tolist()]
        if any([a > b for a, b in pairwise(ends)]) or ends[len(ends) - 1] != len(text):
            raise ValueError(f"the ends of names must rise up to the {len(text)} bytes that they have")
        self.take_over([text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)])

    def forget(self, Py_ssize_t n):
        """Keep only the first n names. The others are removed last first, so that no probe sequence is broken."""
        while self.size > n:
            self.size -= 1
            name = self.names.pop()
            self.slot(<PyObject*>name).name = NULL

    cdef Slot* slot(self, PyObject* name) noexcept:
        """Return the slot of a name, or the free slot where it belongs."""
        return table_slot(self.table, name_spelling(name), hash_of(name_spelling(name)), False)

    def probes(self):
        """Return how many slots are probed to find every name once, a measure of how well the hash spreads them."""
        cdef Py_ssize_t n = 0
        cdef uint64_t place
        for name in self.names:
            place = hash_of(name_spelling(<PyObject*>name)) & self.table.mask
            n += 1
            while self.table.slots[place].name != <PyObject*>name:
                place = (place + 1) & self.table.mask
                n += 1
        return n

    cdef index(self):
        """Rebuild the table, with room for half as many names again at least."""
        cdef uint64_t n = 1024
        cdef Py_ssize_t place
        cdef PyObject* name
        cdef char* start
        self.size = len(self.names)
        while n < 3 * <uint64_t>self.size:
            n *= 2
        # NumPy asks the system for large pages, which make random access faster.
        self.memory = np.zeros(n * sizeof(Slot) + CACHE_LINE, np.uint8)
        start = <char*>address(self.memory, "B", self.memory.size, writable=True)
        # No slot lies in two cache lines.
        self.table.slots = <Slot*>(start + CACHE_LINE - <uintptr_t>start % CACHE_LINE)
        self.table.mask = n - 1
        for place in range(self.size):
            name = PyList_GET_ITEM(self.names, place)
            self.put(name, hash_of(name_spelling(name)), place)

    cdef void put(self, PyObject* name, uint64_t hashed, Py_ssize_t place) noexcept:
        """Fill the first free slot for a name that is not in the table."""
        cdef uint64_t at = hashed & self.table.mask
        cdef Slot* slot
        while self.table.slots[at].name != NULL:
            at = (at + 1) & self.table.mask
        slot = &self.table.slots[at]
        slot[0] = name_slot(name_spelling(name), hashed, False)
        slot.place = <int32_t>place
        slot_fill(slot, name)

    cdef int find(self, Feature* features, Py_ssize_t n, bint grow, int32_t* places) except -1:
        """Look up in three passes, so that memory accesses of different names overlap."""
        cdef Py_ssize_t k
        cdef Slot* slot
        for k in range(n):
            features[k].hashed = hash_of(name_spelling(features[k].name))
            VEC_PREFETCH(&self.table.slots[features[k].hashed & self.table.mask])
        if self.size > FEW_NAMES:
            for k in range(n):
                VEC_PREFETCH(self.table.slots[features[k].hashed & self.table.mask].name)
                VEC_PREFETCH(<char*>self.table.slots[features[k].hashed & self.table.mask].name + CACHE_LINE)
        for k in range(n):
            slot = table_slot(self.table, name_spelling(features[k].name), features[k].hashed, False)
            places[k] = slot.place if slot.name != NULL else -1
            if places[k] < 0 and grow:
                places[k] = <int32_t>self.add(<str>features[k].name, features[k].hashed)
        return 0

    cdef Py_ssize_t look_up(
        self, Table table, const char* text, const Span* words, Py_ssize_t n, Py_ssize_t length, int32_t* found
    ) noexcept nogil:
        """In rounds as well. Most words are short and in ASCII."""
        cdef Py_ssize_t first = 0, k, size, known = 0
        cdef Spelling[GROUP] names
        cdef Slot[GROUP] wanted
        cdef uint64_t[GROUP] hashed
        cdef char[GROUP][RESPELLED_ROOM] rooms
        cdef Slot* slot
        while first < n:
            size = min(n - first, <Py_ssize_t>GROUP)
            for k in range(size):
                names[k].bytes = text + words[first + k].start
                names[k].n = words[first + k + length - 1].end - words[first + k].start
                names[k].kind = 1
                if names[k].n <= SHORT_NAME:
                    wanted[k] = short_slot(names[k].bytes, names[k].n, secrets, &hashed[k])
                if names[k].n > SHORT_NAME or not slot_is_ascii(&wanted[k]):
                    names[k] = word_spelling(names[k].bytes, names[k].n, rooms[k])
                    hashed[k] = table_hash(names[k].bytes, names[k].n, secrets, True)
                    wanted[k] = name_slot(names[k], hashed[k], True)
                VEC_PREFETCH(&table.slots[hashed[k] & table.mask])
            for k in range(size):
                if names[k].n > SHORT_NAME or names[k].kind != 1:
                    VEC_PREFETCH(slot_name(&table.slots[hashed[k] & table.mask]))
            for k in range(size):
                slot = table_seek(table, names[k], hashed[k], &wanted[k])
                found[first + k] = -1
                if slot_name(slot) != NULL and names[k].kind > 0:
                    found[first + k] = slot.place
                    known += 1
            first += size
        return n - known

    cdef int add_words(
        self, const char* text, Missing* missing, Py_ssize_t n, bint grow, int32_t* places
    ) except -1 with gil:
        """A word may be known by now. Slots are fetched first, as in `find`."""
        cdef char[RESPELLED_ROOM] room
        cdef Spelling name
        cdef Py_ssize_t k
        for k in range(n):
            name = word_spelling(text + missing[k].start, missing[k].size, room)
            missing[k].hashed = table_hash(name.bytes, name.n, secrets, True)
            VEC_PREFETCH(&self.table.slots[missing[k].hashed & self.table.mask])
        for k in range(n):
            name = word_spelling(text + missing[k].start, missing[k].size, room)
            places[missing[k].position] = <int32_t>self.add_word(name, missing[k].hashed, grow)
        return 0

    cdef Py_ssize_t add_word(self, Spelling word, uint64_t hashed, bint grow) except -2:
        cdef str name = None
        cdef Slot* slot
        if word.kind == 0:
            name = word.bytes[:word.n].decode("utf-8")
            word = name_spelling(<PyObject*>name)
            hashed = hash_of(word)
        slot = table_slot(self.table, word, hashed, False)
        if slot.name != NULL:
            return slot.place
        if not grow:
            return -1
        if name is None:
            name = PyUnicode_FromKindAndData(word.kind, word.bytes, word.n // word.kind)
        return self.add(name, hashed)

    cdef Py_ssize_t add(self, str name, uint64_t hashed) except -1:
        cdef Py_ssize_t place = self.size
        if place == MOST_NAMES:
            raise ValueError(f"there are {place} names of features already, and no more can be indexed")
        self.names.append(name)
        if 2 * <uint64_t>place >= self.table.mask:
            self.index()
        else:
            self.put(<PyObject*>name, hashed, place)
            self.size += 1
        return place


cdef class Hashed(Index):
    """Places among 2^bits by a fixed hash: memory is bounded, and names may share a place."""

    def __init__(self, int bits):
        self.bits = whole(bits, "bits", least=1, most=30)
        self.size = <Py_ssize_t>1 << self.bits

    def __reduce__(self):
        return type(self), (self.bits,)

    cdef int find(self, Feature* features, Py_ssize_t n, bint grow, int32_t* places) except -1:
        cdef Py_ssize_t k, size
        cdef const char* text
        for k in range(n):
            text = PyUnicode_AsUTF8AndSize(<object>features[k].name, &size)
            places[k] = <int32_t>(place_hash(text, size, False) >> (64 - self.bits))
        return 0

    cdef Py_ssize_t look_up(
        self, Table table, const char* text, const Span* words, Py_ssize_t n, Py_ssize_t length, int32_t* found
    ) noexcept nogil:
        cdef Py_ssize_t k, size
        for k in range(n):
            size = words[k + length - 1].end - words[k].start
            found[k] = <int32_t>(place_hash(text + words[k].start, size, True) >> (64 - self.bits))
        return 0
