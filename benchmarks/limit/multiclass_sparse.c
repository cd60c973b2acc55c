/* Workload B: 50 classes, sparse rows, one prototype per class. Weights lie feature-major, padded to whole vectors. */
#include "round.h"

#define CLASSES 50
#define VECTORS ((CLASSES + 32 / (long)sizeof(REAL) - 1) / (32 / (long)sizeof(REAL)))

long stride(void) { return VECTORS * LANES; }

long learn(long n_rows, const int32_t *indptr, const int32_t *indices, const REAL *values, const int64_t *y, REAL *W)
{
    const double b2 = squared_bias(values, indptr[1]);
    const long stored = indptr[n_rows], wide = VECTORS * LANES, line = 64 / sizeof(REAL);
    double b[CLASSES] = {0};
    REAL s[VECTORS * 32 / sizeof(REAL)];
    long mistakes = 0;
    for (long i = 0; i < n_rows; i++) {
        const int32_t *j = indices + indptr[i];
        const REAL *v = values + indptr[i];
        const long n = indptr[i + 1] - indptr[i], safe = stored - indptr[i] - AHEAD;
        REAL q = 0;
        for (long first = 0; first < VECTORS; first += 7) { /* as many chains as registers hold */
            const long vectors = VECTORS - first < 7 ? VECTORS - first : 7;
            Vector chain[7] = {{0}};
            for (long k = 0; k < n; k++) {
                const REAL *w = W + j[k] * wide + first * LANES;
                if (k < safe)
                    for (long c = 0; c < vectors * LANES; c += line)
                        __builtin_prefetch(W + j[k + AHEAD] * wide + first * LANES + c);
                if (vectors == 7)
                    for (int r = 0; r < 7; r++)
                        chain[r] += v[k] * load(w + r * LANES);
                else
                    for (int r = 0; r < 6; r++)
                        if (r < vectors)
                            chain[r] += v[k] * load(w + r * LANES);
                if (first == 0)
                    q += v[k] * v[k];
            }
            for (long r = 0; r < vectors; r++)
                store(s + (first + r) * LANES, chain[r]);
        }
        const long right = y[i];
        long rival = right == 0;
        for (long c = 0; c < CLASSES; c++)
            if (c != right && s[c] + b[c] > s[rival] + b[rival])
                rival = c;
        const double margin = s[right] + b[right] - s[rival] - b[rival];
        mistakes += margin <= 0;
        if (margin < 1) {
            const double tau = projected(1 - margin, 2 * (q + b2));
            for (long k = 0; k < n; k++) {
                const REAL step = (REAL)tau * v[k];
                W[j[k] * wide + right] += step;
                W[j[k] * wide + rival] -= step;
            }
            b[right] += tau * b2;
            b[rival] -= tau * b2;
        }
    }
    return mistakes;
}
