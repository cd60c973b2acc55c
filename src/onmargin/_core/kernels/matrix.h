/* The primitives of geometries with a full matrix, and of random Fourier features.

   matrix_body.h holds each once; matrix.c compiles it for float and for double and, on x86-64, again for CPUs that have
   AVX2 and FMA. `matrix_for` picks the table. Symmetric matrices have a multiple of MATRIX_ROWS rows of `stride`
   numbers, a whole number of cache lines; only the part from the diagonal on is read and written. Their vectors have
   `stride` numbers, too. All rows, columns and entries beyond the first n are zero. */
#ifndef ONMARGIN_MATRIX_H
#define ONMARGIN_MATRIX_H

#include "vec.h"

#define MATRIX_ROWS 4

typedef struct {
    /* out = A x */
    void (*product)(const void *A, ptrdiff_t n, ptrdiff_t stride, const void *x, void *out);
    /* A += scale u u' */
    void (*update)(void *A, ptrdiff_t n, ptrdiff_t stride, const void *u, double scale);
    /* `update` and then `product`, in one pass over the matrix, with the same result to the last bit */
    void (*advance)(void *A, ptrdiff_t n, ptrdiff_t stride, const void *u, double scale, const void *x, void *out);
    /* out = shifts + sum_j x_j turns[j], rows of `turns` being n numbers: phases in whole turns */
    void (*phases)(const Row *x, const void *turns, const void *shifts, ptrdiff_t n, void *out);
    /* out = scale cos(2 pi phases), n numbers; out may be phases */
    void (*cosines)(const void *phases, ptrdiff_t n, double scale, void *out);
} Matrix;

/* Return the stride for rows of n numbers of `itemsize` bytes, so that rows start at cache lines. */
static inline ptrdiff_t matrix_stride(ptrdiff_t n, ptrdiff_t itemsize)
{
    ptrdiff_t line = 64 / itemsize;
    return (n + line - 1) / line * line;
}

/* Return the primitives for numbers of `itemsize` bytes (4: float, 8: double) on this CPU. */
const Matrix *matrix_for(ptrdiff_t itemsize);

#endif
