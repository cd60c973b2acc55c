/* The inner loop of every dynamic program over a chain of labels. */
#ifndef ONMARGIN_CHAIN_H
#define ONMARGIN_CHAIN_H

#include <math.h>
#include <stddef.h>
#include <string.h>

/* best[b] = max_a from[a] + T[a * stride + b], for all b < stride. No argument of the maximum is kept: it is found again
   for the few labels that a path goes through. */
typedef void (*Relax)(const double *from, const double *T, ptrdiff_t labels, ptrdiff_t stride, double *best);

/* Written so that compilers turn it into vector maxima. */
static void chain_relax(const double *from, const double *T, ptrdiff_t labels, ptrdiff_t stride, double *best)
{
    for (ptrdiff_t b = 0; b < stride; b++)
        best[b] = -INFINITY;
    for (ptrdiff_t a = 0; a < labels; a++) {
        const double *t = T + a * stride, start = from[a];
        for (ptrdiff_t b = 0; b < stride; b++)
            best[b] = start + t[b] > best[b] ? start + t[b] : best[b];
    }
}

#if defined(__GNUC__) && defined(__x86_64__)
#define CHAIN_TARGET __attribute__((target("avx2")))
#define CHAIN_INLINE static inline __attribute__((always_inline))
#define CHAIN_REGISTERS 8

typedef double ChainVector __attribute__((vector_size(32)));

CHAIN_TARGET CHAIN_INLINE ChainVector chain_larger(ChainVector a, ChainVector b)
{
    ChainVector c;
    for (int l = 0; l < 4; l++)
        c[l] = a[l] > b[l] ? a[l] : b[l]; /* one instruction */
    return c;
}

/* `width` vectors of labels whose maxima stay in registers. */
CHAIN_TARGET CHAIN_INLINE void chain_block(const int width, const double *from, const double *T, ptrdiff_t labels,
                                           ptrdiff_t stride, double *best)
{
    ChainVector most[CHAIN_REGISTERS];
    for (int r = 0; r < width; r++)
        most[r] = (ChainVector){-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (ptrdiff_t a = 0; a < labels; a++)
        for (int r = 0; r < width; r++) {
            ChainVector t;
            memcpy(&t, T + a * stride + 4 * r, sizeof t);
            most[r] = chain_larger(from[a] + t, most[r]);
        }
    for (int r = 0; r < width; r++)
        memcpy(best + 4 * r, &most[r], sizeof most[r]);
}

/* The same for strides of whole vectors, which those of scores are. */
CHAIN_TARGET static void chain_relax_wide(const double *from, const double *T, ptrdiff_t labels, ptrdiff_t stride,
                                          double *best)
{
    if (stride % 4 != 0) {
        chain_relax(from, T, labels, stride, best);
        return;
    }
    for (ptrdiff_t b = 0; b < stride; b += 4 * CHAIN_REGISTERS) {
        const ptrdiff_t left = (stride - b) / 4;
        switch (left < CHAIN_REGISTERS ? left : CHAIN_REGISTERS) {
        case 1: chain_block(1, from, T + b, labels, stride, best + b); break;
        case 2: chain_block(2, from, T + b, labels, stride, best + b); break;
        case 3: chain_block(3, from, T + b, labels, stride, best + b); break;
        case 4: chain_block(4, from, T + b, labels, stride, best + b); break;
        case 5: chain_block(5, from, T + b, labels, stride, best + b); break;
        case 6: chain_block(6, from, T + b, labels, stride, best + b); break;
        case 7: chain_block(7, from, T + b, labels, stride, best + b); break;
        default: chain_block(8, from, T + b, labels, stride, best + b); break;
        }
    }
}
#endif

static inline Relax chain_relax_here(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return chain_relax_wide;
#endif
    return chain_relax;
}

#endif
