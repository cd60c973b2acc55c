/* Workload C: ten classes, dense rows. One pass has ten chains of scores and one of the norm. */
#include "round.h"

#define CLASSES 10

long learn(long n_rows, long n, const REAL *X, const int64_t *y, REAL *W)
{
    const double b2 = squared_bias(X, n);
    double b[CLASSES] = {0}, s[CLASSES];
    long mistakes = 0;
    for (long i = 0; i < n_rows; i++) {
        const REAL *v = X + i * n;
        Vector chain[CLASSES + 1] = {{0}};
        long k = 0;
        for (; k + LANES <= n; k += LANES) {
            const Vector x = load(v + k);
#pragma GCC unroll 10
            for (int c = 0; c < CLASSES; c++)
                chain[c] += x * load(W + c * n + k);
            chain[CLASSES] += x * x;
        }
        REAL q = sum(chain[CLASSES]);
#pragma GCC unroll 10
        for (int c = 0; c < CLASSES; c++)
            s[c] = sum(chain[c]) + b[c];
        for (; k < n; k++) {
            for (int c = 0; c < CLASSES; c++)
                s[c] += v[k] * W[c * n + k];
            q += v[k] * v[k];
        }
        const long right = y[i];
        long rival = right == 0;
        for (int c = 0; c < CLASSES; c++)
            if (c != right && s[c] > s[rival])
                rival = c;
        const double margin = s[right] - s[rival];
        mistakes += margin <= 0;
        if (margin < 1) {
            const double tau = projected(1 - margin, 2 * (q + b2));
            REAL *up = W + right * n, *down = W + rival * n;
            for (k = 0; k < n; k++) {
                const REAL step = (REAL)tau * v[k];
                up[k] += step;
                down[k] -= step;
            }
            b[right] += tau * b2;
            b[rival] -= tau * b2;
        }
    }
    return mistakes;
}
