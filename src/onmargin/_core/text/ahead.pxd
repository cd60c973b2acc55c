"""Features of texts, made in blocks ahead of the rounds by several threads."""

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_type_lock

from onmargin._core.rows cimport Row
from onmargin._core.text.names cimport Table
from onmargin._core.text.reader cimport Reader, _Column


cdef class TextBlock:
    cdef Reader reader                       # with the rows of the texts whose words all have places
    cdef _Column drafts, places, missing, letters
    cdef PyObject** texts
    cdef Py_ssize_t first, n                 # of those in the block
    cdef Py_ssize_t found                    # n-grams of the text that is read
    cdef bint made
    cdef bint one_by_one                     # whether the texts are read when they are finished
    cdef bint counted                        # whether documents are counted, which must be in order
    cdef Table table

    cdef void claim(self, PyObject** texts, Py_ssize_t first, Py_ssize_t n, Table table) noexcept nogil
    cdef Py_ssize_t stop(self) noexcept nogil
    cdef bint is_over(self) noexcept nogil
    cdef int make(self) except -1 nogil
    cdef int draft(self, PyObject* text, Reader reader) except -1 nogil
    cdef Py_ssize_t prepare(self, Py_ssize_t k, Reader reader) except -1 nogil
    cdef int row(self, Py_ssize_t k, Reader reader, Row* x) except -1 nogil


cdef class TextsAhead:
    cdef Reader reader
    cdef Py_ssize_t n_threads
    cdef list blocks                         # of which some are made ahead, in turn
    cdef Py_ssize_t depth
    cdef PyObject** ring
    cdef PyObject** texts
    cdef Py_ssize_t n_texts, next_text
    cdef Py_ssize_t claimed, finished          # numbers of blocks
    cdef Table table                         # for the next blocks
    cdef list tables                         # memory of tables that threads may use
    cdef bint closing, caller_waits, waking
    cdef Py_ssize_t started                  # threads since `begin`
    cdef Py_ssize_t helping, sleeping        # threads at work, and those of them that wait for room
    cdef PyThread_type_lock guard, ready, room

    cdef begin(self, PyObject** texts, Py_ssize_t n)
    cdef TextBlock current(self)
    cdef void advance(self) noexcept nogil
    cdef bint is_ready(self) noexcept nogil
    cdef bint is_finished(self, Py_ssize_t k) noexcept nogil
    cdef close(self)
    cdef bint is_late(self, Py_ssize_t number) noexcept nogil
    cdef add_thread(self)
    cdef deepen(self)
    cdef int wait(self) except -1 nogil
    cdef int help(self, Py_ssize_t* number) except -1 nogil
    cdef void leave(self) noexcept nogil
    cdef Py_ssize_t claim(self) noexcept nogil
    cdef void wake(self) noexcept nogil
    cdef void pause(self) noexcept nogil
    cdef void resume(self) noexcept nogil
