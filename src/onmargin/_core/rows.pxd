"""One example at a time: the row, and the matrix it is read from."""

from libc.stdint cimport int32_t, int64_t


cdef extern from "row.h" nogil:
    ctypedef struct Row:
        const void* values
        const int32_t* indices
        Py_ssize_t n
        Py_ssize_t ahead
        double squared_norm

    void row_check(const Row* x, Py_ssize_t i, Py_ssize_t n_rows, Py_ssize_t n_features)

    ctypedef struct Weights:
        void* W
        Py_ssize_t columns
        Py_ssize_t stride
        Py_ssize_t gap

    ctypedef struct Vec:
        double (*squared_norm)(const Row* x) noexcept nogil
        double (*dot)(const Row* a, const Row* b) noexcept nogil
        double (*squared_distance)(const Row* a, const Row* b) noexcept nogil
        void (*scores)(const Row* x, const Weights* w, double* s) noexcept nogil
        double (*scores_and_norm)(const Row* x, const Weights* w, const double* b, double* s) noexcept nogil
        void (*add)(const Row* x, const Weights* w, Py_ssize_t up, Py_ssize_t down, double a) noexcept nogil
        void (*add_all)(const Row* x, const Weights* w, const double* t) noexcept nogil
        int (*is_canonical)(const Row* x, Py_ssize_t n_features) noexcept nogil


cdef extern from "vec.h" nogil:
    const Vec* vec_for(Py_ssize_t itemsize)
    Py_ssize_t vec_padded(Py_ssize_t columns, Py_ssize_t itemsize)
    void VEC_PREFETCH(const void* where)


cdef void* address(object array, str format, Py_ssize_t size, bint writable=*) except? NULL


cdef class Rows:
    cdef readonly tuple owners             # owners of the memory: values, indices, indptr
    cdef readonly Py_ssize_t n_rows, n_features, itemsize
    cdef readonly Py_ssize_t first, total  # of a part: its first row, and the number of rows of the whole
    cdef const char* values
    cdef const int32_t* indices
    cdef const int32_t* indptr32
    cdef const int64_t* indptr64
    cdef Py_ssize_t n_stored

    cdef bint is_increasing(self, Py_ssize_t start, Py_ssize_t stop) noexcept nogil

    cdef inline Py_ssize_t start(self, Py_ssize_t i) noexcept nogil:
        return self.indptr32[i] if self.indptr32 != NULL else self.indptr64[i]

    cdef inline void row(self, Py_ssize_t i, Row* x) noexcept nogil:
        cdef Py_ssize_t start
        if self.indices == NULL:
            x.values = self.values + i * self.n_features * self.itemsize
            x.indices = NULL
            x.n = self.n_features
        else:
            start = self.start(i)
            x.values = self.values + start * self.itemsize
            x.indices = self.indices + start
            x.n = self.start(i + 1) - start
            x.ahead = self.n_stored - start
        row_check(x, i, self.n_rows, self.n_features)
