"""The primitives of geometries with a full matrix, and of random Fourier features: see matrix.h."""

from onmargin._core.rows cimport Row


cdef extern from "matrix.h" nogil:
    int MATRIX_ROWS

    ctypedef struct Matrix:
        void (*product)(const void* A, Py_ssize_t n, Py_ssize_t stride, const void* x, void* out) noexcept nogil
        void (*update)(void* A, Py_ssize_t n, Py_ssize_t stride, const void* u, double scale) noexcept nogil
        void (*advance)(
            void* A, Py_ssize_t n, Py_ssize_t stride, const void* u, double scale, const void* x, void* out
        ) noexcept nogil
        void (*phases)(
            const Row* x, const void* turns, const void* shifts, Py_ssize_t n, void* out
        ) noexcept nogil
        void (*cosines)(const void* phases, Py_ssize_t n, double scale, void* out) noexcept nogil

    Py_ssize_t matrix_stride(Py_ssize_t n, Py_ssize_t itemsize)
    const Matrix* matrix_for(Py_ssize_t itemsize)
