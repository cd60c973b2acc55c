/* Workload D: regression with epsilon = 0.1, short dense rows. A mistake is a target outside the tube. */
#include "round.h"

long learn(long n_rows, long n, const REAL *X, const double *y, REAL *w)
{
    const double b2 = squared_bias(X, n), epsilon = 0.1;
    double b = 0;
    long mistakes = 0;
    for (long i = 0; i < n_rows; i++) {
        const REAL *v = X + i * n;
        Vector s[2] = {{0}}, q[2] = {{0}};
        long k = 0;
        for (; k + 2 * LANES <= n; k += 2 * LANES)
            for (int u = 0; u < 2; u++) {
                const Vector x = load(v + k + u * LANES);
                s[u] += x * load(w + k + u * LANES);
                q[u] += x * x;
            }
        for (; k + LANES <= n; k += LANES) {
            const Vector x = load(v + k);
            s[0] += x * load(w + k);
            q[0] += x * x;
        }
        double score = sum(s[0] + s[1]) + b, squares = sum(q[0] + q[1]) + b2;
        for (; k < n; k++) {
            score += v[k] * w[k];
            squares += v[k] * v[k];
        }
        const double apart = y[i] - score, loss = fabs(apart) - epsilon;
        if (loss > 0) {
            const double tau = copysign(projected(loss, squares), apart);
            const REAL a = tau;
            for (k = 0; k + LANES <= n; k += LANES)
                store(w + k, load(w + k) + a * load(v + k));
            for (; k < n; k++)
                w[k] += a * v[k];
            b += tau * b2;
            mistakes++;
        }
    }
    return mistakes;
}
