/* The inner loop of every dynamic program over a chain of labels. */
#ifndef ONMARGIN_CHAIN_H
#define ONMARGIN_CHAIN_H

#include <math.h>
#include <stddef.h>

/* best[b] = max_a from[a] + T[a * stride + b], for all b < stride. Written so that compilers turn it into vector maxima:
   no argument of the maximum is kept, it is found again for the few labels that a path goes through. */
#define CHAIN_RELAX(name)                                                                                              \
    static void name(const double *from, const double *T, ptrdiff_t labels, ptrdiff_t stride, double *best)            \
    {                                                                                                                  \
        for (ptrdiff_t b = 0; b < stride; b++)                                                                         \
            best[b] = -INFINITY;                                                                                       \
        for (ptrdiff_t a = 0; a < labels; a++) {                                                                       \
            const double *t = T + a * stride, start = from[a];                                                         \
            for (ptrdiff_t b = 0; b < stride; b++)                                                                     \
                best[b] = start + t[b] > best[b] ? start + t[b] : best[b];                                             \
        }                                                                                                              \
    }

typedef void (*Relax)(const double *from, const double *T, ptrdiff_t labels, ptrdiff_t stride, double *best);

CHAIN_RELAX(chain_relax)
#if defined(__GNUC__) && defined(__x86_64__)
__attribute__((target("avx2"))) CHAIN_RELAX(chain_relax_wide)
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
