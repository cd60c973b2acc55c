/* One example, and the primitives on it. */
#ifndef ONMARGIN_ROW_H
#define ONMARGIN_ROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const void *values;     /* float or double, as the weights */
    const int32_t *indices; /* the feature of each value; NULL if dense: value k is that of feature k */
    ptrdiff_t n;            /* number of stored values */
    ptrdiff_t ahead;        /* indices that may be read from indices[0] on: lets prefetching run into later rows */
    double squared_norm;    /* of the whole row, intercept coordinate included */
} Row;

/* In a checked build (meson option `checked`) a row that would lead outside the weights ends the program. */
static inline void row_check(const Row *x, ptrdiff_t i, ptrdiff_t n_rows, ptrdiff_t n_features)
{
#ifdef ONMARGIN_CHECKED
    int good = 0 <= i && i < n_rows && 0 <= x->n && x->n <= n_features;
    for (ptrdiff_t k = 0; good && x->indices && k < x->n; k++)
        good = 0 <= x->indices[k] && x->indices[k] < n_features && k < x->ahead;
    if (!good) {
        fprintf(stderr, "onmargin: row %td is not within %td rows and %td features\n", i, n_rows, n_features);
        abort();
    }
#else
    (void)x, (void)i, (void)n_rows, (void)n_features;
#endif
}

/* Weights: feature j of column c is at W[j * stride + c * gap]. */
typedef struct {
    void *W;
    ptrdiff_t columns;
    ptrdiff_t stride;
    ptrdiff_t gap;
} Weights;

/* The vector primitives for one type of weights on one kind of CPU: see vec.h. A column of -1 is absent. */
typedef struct {
    double (*squared_norm)(const Row *x);
    /* of two rows, both dense or both sparse: a.b, and |a - b|^2, which is exactly zero for equal rows */
    double (*dot)(const Row *a, const Row *b);
    double (*squared_distance)(const Row *a, const Row *b);
    /* s[c] = sum_j x_j W[j, c]; padding columns, where the layout has them, are written too */
    void (*scores)(const Row *x, const Weights *w, double *s);
    /* the same scores plus b[c]; returns the squared norm of the row */
    double (*scores_and_norm)(const Row *x, const Weights *w, const double *b, double *s);
    /* W[j, up] += a x_j and W[j, down] -= a x_j */
    void (*add)(const Row *x, const Weights *w, ptrdiff_t up, ptrdiff_t down, double a);
    /* W[j, c] += t[c] x_j; t is as long as the scores */
    void (*add_all)(const Row *x, const Weights *w, const double *t);
    /* whether the indices of a sparse row increase, are within the features and are readable */
    int (*is_canonical)(const Row *x, ptrdiff_t n_features);
} Vec;

#endif
