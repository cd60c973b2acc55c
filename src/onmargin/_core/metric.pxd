"""The primitives of geometries with a diagonal metric: see metric.h."""

from onmargin._core.rows cimport Row, Weights


cdef extern from "metric.h" nogil:
    int METRIC_MOST

    ctypedef struct Kinds:
        Py_ssize_t roots
        Py_ssize_t scaled
        Py_ssize_t columns

    ctypedef struct Kept:
        double* rates
        void* roots

    Py_ssize_t metric_kept(const Kinds* kinds)

    ctypedef struct Moves:
        double[16] a
        double[16] beta
        double[16] growth

    ctypedef struct Metric:
        double (*root_length)(const Row* x, const Weights* h, Py_ssize_t c, const void* scales) noexcept nogil
        void (*root_move)(
            const Row* x, const Weights* w, const Weights* h, Py_ssize_t c, const void* scales, double a, double g
        ) noexcept nogil
        void (*root_add)(
            const Row* x, const Weights* l, const Weights* h, Py_ssize_t c, const void* scales, double a
        ) noexcept nogil
        double (*extend)(const Row* x, void* scales) noexcept nogil
        double (*variance)(const Row* x, const Weights* v, Py_ssize_t c) noexcept nogil
        void (*variance_move)(
            const Row* x, const Weights* w, const Weights* v, Py_ssize_t c, double a, const double* rates
        ) noexcept nogil
        void (*variance_add)(
            const Row* x, const Weights* l, const Weights* v, Py_ssize_t c, double a
        ) noexcept nogil
        void (*lengths)(
            const Row* x, const Kinds* kinds, const double* g, const Weights* m, const void* scales, const Kept* kept,
            double* q
        ) noexcept nogil
        void (*moves)(
            const Row* x, const Kinds* kinds, const Weights* w, const Weights* m, const Kept* kept, const Moves* by
        ) noexcept nogil
        void (*standardize)(
            const void* x, Py_ssize_t n, const double* m, const double* v, double rows, void* out
        ) noexcept nogil

    const Metric* metric_for(Py_ssize_t itemsize)
    double METRIC_LEAST
    double METRIC_SMALLEST_SPREAD
