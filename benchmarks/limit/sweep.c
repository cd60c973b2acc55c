/* A sweep: workload A with eight values of C at once, one column of weights each. The mistakes are the leader's: each
   row is predicted by the column of the fewest mistakes so far. */
#include "round.h"

#define MODELS 8
#define VECTORS (MODELS * (long)sizeof(REAL) / 32)

long learn(long n_rows, const int32_t *indptr, const int32_t *indices, const REAL *values, const int64_t *y, REAL *W,
           const double *C)
{
    const double b2 = squared_bias(values, indptr[1]);
    const long stored = indptr[n_rows];
    double b[MODELS] = {0};
    REAL s[MODELS], tau[MODELS];
    long wrong[MODELS] = {0}, mistakes = 0, leader = 0;
    for (long i = 0; i < n_rows; i++) {
        const int32_t *j = indices + indptr[i];
        const REAL *v = values + indptr[i];
        const long n = indptr[i + 1] - indptr[i], safe = stored - indptr[i] - 2 * AHEAD;
        Vector chain[4][VECTORS] = {{{0}}}, step[VECTORS];
        REAL q = 0;
        long k = 0, moved = 0;
        for (; k + 4 <= n; k += 4) {
            if (k + 4 <= safe)
                for (int u = 0; u < 4; u++)
                    __builtin_prefetch(W + j[k + u + 2 * AHEAD] * MODELS);
            for (int u = 0; u < 4; u++) {
                for (int r = 0; r < VECTORS; r++)
                    chain[u][r] += v[k + u] * load(W + j[k + u] * MODELS + r * LANES);
                q += v[k + u] * v[k + u];
            }
        }
        for (; k < n; k++) {
            for (int r = 0; r < VECTORS; r++)
                chain[0][r] += v[k] * load(W + j[k] * MODELS + r * LANES);
            q += v[k] * v[k];
        }
        for (int r = 0; r < VECTORS; r++)
            store(s + r * LANES, chain[0][r] + chain[1][r] + (chain[2][r] + chain[3][r]));
        const double sign = y[i] > 0 ? 1 : -1;
        mistakes += sign * (s[leader] + b[leader]) <= 0;
        for (int m = 0; m < MODELS; m++) {
            const double margin = sign * (s[m] + b[m]), length = fmin(C[m], (1 - margin) / (q + b2));
            wrong[m] += margin <= 0;
            tau[m] = margin < 1 ? sign * length : 0;
            b[m] += tau[m] * b2;
            moved += margin < 1;
        }
        for (int m = 0; m < MODELS; m++)
            if (wrong[m] < wrong[leader])
                leader = m;
        if (moved == 0)
            continue;
        for (int r = 0; r < VECTORS; r++)
            step[r] = load(tau + r * LANES);
        for (k = 0; k < n; k++)
            for (int r = 0; r < VECTORS; r++) {
                REAL *w = W + j[k] * MODELS + r * LANES;
                store(w, load(w) + v[k] * step[r]);
            }
    }
    return mistakes;
}
