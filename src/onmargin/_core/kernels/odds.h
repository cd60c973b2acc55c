/* The loops over classes under calibrated probabilities, for numbers in double.

   odds_body.h holds each once; odds.c compiles it with 16-byte vectors and, on x86-64, again with 32-byte vectors for
   CPUs that have AVX2 and FMA. `odds_for` picks the table. */
#ifndef ONMARGIN_ODDS_H
#define ONMARGIN_ODDS_H

#include <stdint.h>

#include "vec.h"

typedef struct {
    double (*sum)(const double *s, ptrdiff_t n);
    /* the largest of n numbers, or -inf if there are none */
    double (*largest)(const double *s, ptrdiff_t n);
    /* sum_k (s_k - mean)^2 */
    double (*squares)(const double *s, ptrdiff_t n, double mean);
    /* out_k = base_k + unit (s_k - mean); out may be base */
    void (*blend)(const double *base, const double *s, ptrdiff_t n, double mean, double unit, double *out);
    /* p_k = exp(max(p_k - top, -depth)), divided by their sum; depth is at most 700 */
    void (*softmax)(double *p, ptrdiff_t n, double top, double depth);
    /* sum_k g_k z_k, where z_k is unit (s_k - mean), but at most `most` on either side */
    double (*slope)(const double *g, const double *s, ptrdiff_t n, double mean, double unit, double most);
    /* a step of AdaGrad: squares_k += g_k^2, and then c_k -= rate g_k / sqrt(squares_k) */
    void (*descend)(const double *g, ptrdiff_t n, double rate, double *c, double *squares);
} Odds;

/* Return the primitives for this CPU. */
const Odds *odds_for(void);

#endif
