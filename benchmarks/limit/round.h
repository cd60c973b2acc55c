/* What the programs of this folder share. REAL is float or double, set by the build.

   Each program runs the rounds of PA-I with C = 1 on the caller's arrays, an intercept inside the norm included, and
   counts mistakes. It checks nothing, keeps no other totals and knows one task: a limit that a library can approach. */
#ifndef LIMIT_ROUND_H
#define LIMIT_ROUND_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef REAL
#define REAL float
#endif
#define LANES ((long)(32 / sizeof(REAL)))
#define AHEAD 24 /* non-zeros that weights are fetched ahead */

typedef REAL Vector __attribute__((vector_size(32)));

static inline Vector load(const REAL *from)
{
    Vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void store(REAL *to, Vector v) { memcpy(to, &v, sizeof v); }

static inline REAL sum(Vector v)
{
    REAL total = 0;
    for (long l = 0; l < LANES; l++)
        total += v[l];
    return total;
}

/* The square of the intercept coordinate, which is 0.3 times the norm of the first row. */
static inline double squared_bias(const REAL *x, long n)
{
    double total = 0;
    for (long k = 0; k < n; k++)
        total += (double)x[k] * x[k];
    return 0.09 * total;
}

static inline double projected(double loss, double squares) { return fmin(1.0, loss / squares); }

#endif
