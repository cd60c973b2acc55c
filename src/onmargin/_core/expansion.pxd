"""The loops over kernel values of expansions: see expansion.h."""


cdef extern from "expansion.h" nogil:
    ctypedef struct Expansions:
        void (*polynomial)(void* values, Py_ssize_t n, double gamma, double coef0, Py_ssize_t degree) noexcept nogil
        void (*squared_norms)(const void* rows, Py_ssize_t n_rows, Py_ssize_t n, double* norms) noexcept nogil
        void (*expand)(
            const void* values, Py_ssize_t n, const double* coef, Py_ssize_t stride, Py_ssize_t supports,
            Py_ssize_t columns, double* sums
        ) noexcept nogil

    const Expansions* expansions_for(Py_ssize_t itemsize)
