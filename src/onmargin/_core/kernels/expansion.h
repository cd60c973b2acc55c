/* The loops over kernel values of expansions: see geometries/kernel.pyx.

   expansion_body.h holds each once; expansion.c compiles it for float and for double and, on x86-64, again for CPUs that
   have AVX2 and FMA. `expansions_for` picks the table. */
#ifndef ONMARGIN_EXPANSION_H
#define ONMARGIN_EXPANSION_H

#include "vec.h"

typedef struct {
    /* values = (gamma values + coef0)^degree, n numbers; degree >= 1 */
    void (*polynomial)(void *values, ptrdiff_t n, double gamma, double coef0, ptrdiff_t degree);
    /* norms = the squared norms of rows of n numbers, in double precision */
    void (*squared_norms)(const void *rows, ptrdiff_t n_rows, ptrdiff_t n, double *norms);
    /* sums[c] += sum_i coef[i][c] values[i] for all columns c: rows of n sums, and of n values per support. Each is
       added up in the order of the supports. The coefficients of a support are followed by zeros up to the stride */
    void (*expand)(const void *values, ptrdiff_t n, const double *coef, ptrdiff_t stride, ptrdiff_t supports,
                   ptrdiff_t columns, double *sums);
} Expansions;

/* Return the primitives for numbers of `itemsize` bytes (4: float, 8: double) on this CPU. */
const Expansions *expansions_for(ptrdiff_t itemsize);

#endif
