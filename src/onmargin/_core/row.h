/* One example, and what can be done with one. */
#ifndef ONMARGIN_ROW_H
#define ONMARGIN_ROW_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const void *values;  /* float or double, as the weights */
    const int32_t *indices; /* the feature of each value; NULL: dense, value k belongs to feature k */
    ptrdiff_t n;         /* number of stored values */
    ptrdiff_t ahead;     /* number of indices that may be read from indices[0] on: lets prefetching run into later rows */
    double squared_norm; /* of the whole row, intercept coordinate included */
} Row;

/* The vector primitives for one type of weights on one kind of CPU: see vec.h. */
typedef struct {
    double (*squared_norm)(const Row *x);
    /* s[c] = sum_j x_j W[j, c] for every column c < stride */
    void (*scores)(const Row *x, const void *W, ptrdiff_t stride, double *s);
    /* W[j, up] += a x_j and W[j, down] -= a x_j; a column of -1 is absent */
    void (*add)(const Row *x, void *W, ptrdiff_t stride, ptrdiff_t up, ptrdiff_t down, double a);
    /* W[j, c] += t[c] x_j for every column c < stride */
    void (*add_all)(const Row *x, void *W, ptrdiff_t stride, const double *t);
} Vec;

#endif
