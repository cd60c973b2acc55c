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

    enum:
        RESPELLED_ROOM

    Slot name_slot(Spelling name, uint64_t hashed, bint padded)
    Slot short_slot(const char* name, Py_ssize_t n, const uint64_t* secrets, uint64_t* hashed)
    bint slot_is_ascii(const Slot* slot)
    PyObject* slot_name(const Slot* slot)
    void slot_fill(Slot* slot, PyObject* name)
    Spelling word_spelling(const char* text, Py_ssize_t n, char* room)
    bint slot_has(const Slot* slot, const Slot* wanted, Spelling name)
    uint64_t place_hash(const char* name, Py_ssize_t n, bint padded)
    uint64_t table_hash(const char* name, Py_ssize_t n, const uint64_t* secrets, bint padded)


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


cdef struct Missing:         # an n-gram of a text without a place
    Py_ssize_t position      # among the n-grams
    Py_ssize_t start, size   # in the letters of the text
    uint64_t hashed


cdef struct Table:
    Slot* slots
    uint64_t mask


cdef inline Slot* table_seek(Table table, Spelling name, uint64_t hashed, const Slot* wanted) noexcept nogil:
    cdef uint64_t place = hashed & table.mask
    while slot_name(&table.slots[place]) != NULL and not slot_has(&table.slots[place], wanted, name):
        place = (place + 1) & table.mask
    return &table.slots[place]


cdef inline Slot* table_slot(Table table, Spelling name, uint64_t hashed, bint padded) noexcept nogil:
    """Return the slot of a name, or the free slot where it belongs."""
    cdef Slot wanted = name_slot(name, hashed, padded)
    return table_seek(table, name, hashed, &wanted)


cdef class Index:
    cdef Py_ssize_t size
    cdef Table table            # of names that are stored
    cdef object memory          # its slots
    cdef dict integers          # hashes of the categories that are integers, by feature; None after a warning

    cdef int find(self, Feature* features, Py_ssize_t n, bint grow, int32_t* places) except -1
    cdef Py_ssize_t look_up(
        self, Table table, const char* text, const Span* words, Py_ssize_t n, Py_ssize_t length, int32_t* found
    ) noexcept nogil
    cdef int add_words(
        self, const char* text, Missing* missing, Py_ssize_t n, bint grow, int32_t* places
    ) except -1 with gil


cdef class Names(Index):
    cdef readonly list names

    cdef take_over(self, list names)
    cdef Slot* slot(self, PyObject* name) noexcept
    cdef index(self)
    cdef void put(self, PyObject* name, uint64_t hashed, Py_ssize_t place) noexcept
    cdef Py_ssize_t add_word(self, Spelling word, uint64_t hashed, bint grow) except -2
    cdef Py_ssize_t add(self, str name, uint64_t hashed) except -1


cdef class Hashed(Index):
    cdef readonly int bits
