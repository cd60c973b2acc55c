/* The primitives of geometries with a diagonal metric: one number per weight that sets how far it moves.

   metric_body.h holds each once; metric.c compiles it for float and for double and, on x86-64, again for CPUs that have
   AVX2 and FMA. `metric_for` picks the table. Sums and products are double, where squares of floats do not overflow. */
#ifndef ONMARGIN_METRIC_H
#define ONMARGIN_METRIC_H

#include "vec.h"

/* Columns of several kinds side by side, at most METRIC_MOST: first those that keep roots, of which the last ones,
   `scaled`, have scales; then those that keep variances. */
#define METRIC_MOST 16
typedef struct {
    ptrdiff_t roots, scaled, columns;
} Kinds;

/* Results of the lengths that the moves along the same row reuse: the rates 1 / (m h') and the roots h', stored like weights
   are, of `metric_kept` columns for each value of the row. */
typedef struct {
    double *rates;
    void *roots;
} Kept;

/* Return the number of columns with roots, in whole vectors. */
static inline ptrdiff_t metric_kept(const Kinds *kinds)
{
    return (kinds->roots + 3) / 4 * 4;
}

/* What a move does to each column: W += a A x; 0: nothing, and the metric stays too. beta and growth as below. */
typedef struct {
    double a[METRIC_MOST], beta[METRIC_MOST], growth[METRIC_MOST];
} Moves;

/* Metric entries have the memory layout of the weights; x is a row, c a column of both.

   roots: the root h of a sum of squares, and for each feature a scale s, or NULL. With m = max(s, |x_j|), or 1 without
   scales, and h' = sqrt(h^2 + (g x_j)^2), where g is the slope of the loss, the metric is 1 / (m h'), and 0 for a
   coordinate that was always zero. Lengths are those for g = 1, the slope of hinge losses.
   variances: v, which is the metric itself. */
typedef struct {
    /* sum_j x_j^2 / (m h') */
    double (*root_length)(const Row *x, const Weights *h, ptrdiff_t c, const void *scales);
    /* h = h', and w += a x_j / (m h') */
    void (*root_move)(const Row *x, const Weights *w, const Weights *h, ptrdiff_t c, const void *scales, double a,
                      double g);
    /* l += a x_j / (m h), h being up to date */
    void (*root_add)(const Row *x, const Weights *l, const Weights *h, ptrdiff_t c, const void *scales, double a);
    /* s = m; sum_j x_j^2 / m^2 */
    double (*extend)(const Row *x, void *scales);
    /* sum_j x_j^2 v */
    double (*variance)(const Row *x, const Weights *v, ptrdiff_t c);
    /* w += a v x_j, and where x_j is not 0 v = growth v (1 - beta v x_j^2), at most 1; rates are beta and growth */
    void (*variance_move)(const Row *x, const Weights *w, const Weights *v, ptrdiff_t c, double a, const double *rates);
    /* l += a v x_j */
    void (*variance_add)(const Row *x, const Weights *l, const Weights *v, ptrdiff_t c, double a);
    /* The lengths q of columns of a feature-major layout, METRIC_MOST of them for whole vectors, and what is kept for
       moves. The slopes g say which: a column that is not asked for has 0, one with variances that is has 1 */
    void (*lengths)(const Row *x, const Kinds *kinds, const double *g, const Weights *m, const void *scales,
                    const Kept *kept, double *q);
    void (*moves)(const Row *x, const Kinds *kinds, const Weights *w, const Weights *m, const Kept *kept,
                  const Moves *by);
    /* Of n features over `rows` rows so far: means m, and sums of squared deviations from them, v.
       out = (x - m) / sqrt(v / rows), clipped at sqrt(rows) on either side, also if v = 0; out may be x */
    void (*standardize)(const void *x, ptrdiff_t n, const double *m, const double *v, double rows, void *out);
} Metric;

/* A variance never falls to zero, because it could not grow again. */
#define METRIC_LEAST 1e-30
/* A feature whose squared deviations sum to at most this has not varied. */
#define METRIC_SMALLEST_SPREAD 1e-300

/* Below this, the product of the size and the root of a feature has an inverse that is too large for a weight. */
#define METRIC_LEAST_PRODUCT(REAL) (sizeof(REAL) == sizeof(double) ? 1e-300 : 1e-60)

/* Return the primitives for weights of `itemsize` bytes (4: float, 8: double) on this CPU. */
const Metric *metric_for(ptrdiff_t itemsize);

#endif
