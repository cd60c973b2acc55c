/* Workload A: two classes, sparse rows. The score and the norm of a row are one pass over it. */
#include "round.h"

long learn(long n_rows, const int32_t *indptr, const int32_t *indices, const REAL *values, const int64_t *y, REAL *w)
{
    const double b2 = squared_bias(values, indptr[1]);
    const long stored = indptr[n_rows];
    double b = 0;
    long mistakes = 0;
    for (long i = 0; i < n_rows; i++) {
        const int32_t *j = indices + indptr[i];
        const REAL *v = values + indptr[i];
        const long n = indptr[i + 1] - indptr[i], safe = stored - indptr[i] - AHEAD;
        REAL s[4] = {0, 0, 0, 0}, q[4] = {0, 0, 0, 0};
        long k = 0;
        for (; k + 4 <= n; k += 4) {
            if (k + 4 <= safe)
                for (int u = 0; u < 4; u++)
                    __builtin_prefetch(w + j[k + u + AHEAD]);
            for (int u = 0; u < 4; u++) {
                s[u] += v[k + u] * w[j[k + u]];
                q[u] += v[k + u] * v[k + u];
            }
        }
        for (; k < n; k++) {
            s[0] += v[k] * w[j[k]];
            q[0] += v[k] * v[k];
        }
        const double sign = y[i] > 0 ? 1 : -1, margin = sign * (s[0] + s[1] + s[2] + s[3] + b);
        mistakes += margin <= 0;
        if (margin < 1) {
            const double tau = sign * projected(1 - margin, q[0] + q[1] + q[2] + q[3] + b2);
            const REAL a = tau;
            for (k = 0; k < n; k++)
                w[j[k]] += a * v[k];
            b += tau * b2;
        }
    }
    return mistakes;
}
