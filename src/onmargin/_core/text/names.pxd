"""Features by name: a growing index of names, or a hash of fixed size."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t, uint64_t


cdef extern from "names.h" nogil:
    ctypedef struct Spelling:
        const char* bytes
        Py_ssize_t n
        int kind

    Spelling name_spelling(PyObject* name)
    enum:
        SECRETS, SHORT_NAME

    ctypedef struct Slot:
        PyObject* name
        uint64_t head, tail
        uint32_t mark
        int32_t place

    Slot name_slot(Spelling name, uint64_t hashed, bint padded)
    bint slot_has(const Slot* slot, const Slot* wanted, Spelling name)
    uint64_t place_hash(const char* name, Py_ssize_t n, bint padded)
    uint64_t table_hash(const char* name, Py_ssize_t n, const uint64_t* secrets, bint padded)
    bint is_ascii(const char* text, Py_ssize_t n)


cdef extern from "words.h" nogil:
    ctypedef struct Span:
        Py_ssize_t start, end


cdef extern from "entries.h" nogil:
    ctypedef struct Entry:
        int32_t index
        double value

    void entries_sort(Entry* entries, Entry* spare, Py_ssize_t n)
    Py_ssize_t entries_count(int32_t* indices, int32_t* spare, Py_ssize_t n, Entry* entries)


cdef struct Feature:
    PyObject* name      # borrowed from the example
    uint64_t hashed
    double value


cdef class Index:
    cdef Py_ssize_t size
    cdef Py_ssize_t find(self, Feature* features, Py_ssize_t n, bint grow, Entry* found) except -1
    cdef Py_ssize_t find_words(
        self, const char* text, const Span* words, Py_ssize_t n, Py_ssize_t length, bint grow, int32_t* found
    ) except -1 nogil


cdef class Names(Index):
    cdef readonly list names
    cdef bytearray memory
    cdef Slot* slots
    cdef uint64_t mask

    cdef take_over(self, list names)
    cdef index(self)
    cdef put(self, str name, Py_ssize_t place)
    cdef Py_ssize_t add(self, str name) except -1
    cdef Py_ssize_t add_word(self, const char* text, Py_ssize_t n, bint grow) except -2 with gil

    cdef inline Slot* next(self, Slot* slot) noexcept nogil:
        return slot + 1 if slot < self.slots + self.mask else self.slots

    cdef inline Slot* slot(self, Spelling name, uint64_t hashed, bint padded=False) noexcept nogil:
        """Return the slot of a name, or the free slot where it belongs."""
        cdef Slot* slot = &self.slots[hashed & self.mask]
        cdef Slot wanted = name_slot(name, hashed, padded)
        while slot.name != NULL and not slot_has(slot, &wanted, name):
            slot = self.next(slot)
        return slot


cdef class Hashed(Index):
    cdef readonly int bits
