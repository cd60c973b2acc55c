"""Features known by name: an index of names that grows, or one of fixed size that hashes them."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint32_t, uint64_t


cdef extern from "names.h":
    bint names_equal(PyObject* a, PyObject* b) noexcept


cdef extern from "entries.h" nogil:
    ctypedef struct Entry:
        int32_t index
        double value

    void entries_sort(Entry* entries, Entry* spare, Py_ssize_t n)


cdef struct Feature:
    PyObject* name      # of an example, which holds it
    uint64_t hashed
    double value


cdef class Index:
    cdef Py_ssize_t size
    cdef Py_ssize_t find(self, Feature* features, Py_ssize_t n, bint grow, Entry* found) except -1
    cdef Py_ssize_t slice(self, const char* text, Py_ssize_t n, bint grow) except -2


cdef struct Slot:
    PyObject* name    # NULL: free
    uint32_t hashed   # half of the hash that Python keeps with a string
    int32_t place


cdef class Names(Index):
    cdef readonly list names
    cdef bytearray memory
    cdef Slot* slots
    cdef uint64_t mask

    cdef index(self)
    cdef put(self, str name, Py_ssize_t place)
    cdef Py_ssize_t add(self, str name) except -2

    cdef inline Slot* next(self, Slot* slot) noexcept:
        return slot + 1 if slot < self.slots + self.mask else self.slots

    cdef inline Slot* slot(self, PyObject* name, uint64_t hashed) noexcept:
        """That of a name, or the free one where it would be."""
        cdef Slot* slot = &self.slots[hashed & self.mask]
        while slot.name != NULL:
            if slot.name == name or (slot.hashed == <uint32_t>(hashed >> 32) and names_equal(slot.name, name)):
                break
            slot = self.next(slot)
        return slot


cdef class Hashed(Index):
    cdef readonly int bits
