/* The primitives of odds.h for one vector size in BYTES (0: one lane, plain C) and one compiler TARGET. Included several
   times. */
#define NAME(f) VEC_PASTE(f, REAL, WIDTH)
#include "lanes.h"

TARGET static double NAME(sum)(const double *s, ptrdiff_t n)
{
    V total = {0};
    double rest = 0;
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES)
        total += NAME(get)(s + k);
    for (; k < n; k++)
        rest += s[k];
    return rest + NAME(added)(total);
}

TARGET static double NAME(largest)(const double *s, ptrdiff_t n)
{
    V best[4];
    double lane[sizeof(V) / sizeof(double)], top = -INFINITY;
    ptrdiff_t k = 0;
    if (n >= LANES) { /* in four chains: each comparison waits for the one before */
        for (int u = 0; u < 4; u++)
            best[u] = NAME(get)(s);
        for (; k + 4 * LANES <= n; k += 4 * LANES)
            VEC_UNROLL
            for (int u = 0; u < 4; u++)
                best[u] = NAME(larger)(NAME(get)(s + k + u * LANES), best[u]);
        for (; k + LANES <= n; k += LANES)
            best[0] = NAME(larger)(NAME(get)(s + k), best[0]);
        best[1] = NAME(larger)(NAME(get)(s + n - LANES), best[1]); /* the rest, and some of those before */
        best[0] = NAME(larger)(NAME(larger)(best[0], best[1]), NAME(larger)(best[2], best[3]));
        memcpy(lane, best, sizeof(V));
        for (ptrdiff_t l = 0; l < LANES; l++)
            top = lane[l] > top ? lane[l] : top;
        return top;
    }
    for (; k < n; k++)
        top = s[k] > top ? s[k] : top;
    return top;
}

TARGET static double NAME(squares)(const double *s, ptrdiff_t n, double mean)
{
    V total = {0};
    double rest = 0;
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        const V z = NAME(get)(s + k) - mean;
        total += z * z;
    }
    for (; k < n; k++)
        rest += (s[k] - mean) * (s[k] - mean);
    return rest + NAME(added)(total);
}

TARGET static void NAME(blend)(const double *base, const double *s, ptrdiff_t n, double mean, double unit, double *out)
{
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES)
        NAME(put)(out + k, NAME(get)(base + k) + unit * (NAME(get)(s + k) - mean));
    for (; k < n; k++)
        out[k] = base[k] + unit * (s[k] - mean);
}

/* The last classes are filled up to a vector, unless all are less than one: equal logits have equal exponentials. */
TARGET static void NAME(softmax)(double *p, ptrdiff_t n, double top, double depth)
{
    const V deepest = NAME(all)(-depth);
    double total, last[sizeof(V) / sizeof(double)] = {0};
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES)
        NAME(put)(p + k, NAME(exponential)(NAME(larger)(NAME(get)(p + k) - top, deepest)));
    if (n < LANES)
        for (; k < n; k++)
            p[k] = p[k] == top ? 1 : exp(p[k] - top > -depth ? p[k] - top : -depth);
    else if (k < n) {
        for (ptrdiff_t l = k; l < n; l++)
            last[l - k] = p[l];
        NAME(put)(last, NAME(exponential)(NAME(larger)(NAME(get)(last) - top, deepest)));
        for (ptrdiff_t l = k; l < n; l++)
            p[l] = last[l - k];
    }
    total = 1 / NAME(sum)(p, n);
    for (k = 0; k < n; k++)
        p[k] *= total;
}

TARGET static double NAME(slope)(const double *g, const double *s, ptrdiff_t n, double mean, double unit, double most)
{
    const V high = NAME(all)(most);
    V total = {0};
    double rest = 0;
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        const V z = unit * (NAME(get)(s + k) - mean);
        total += NAME(get)(g + k) * -NAME(larger)(-NAME(larger)(z, -high), -high);
    }
    for (; k < n; k++) {
        const double z = unit * (s[k] - mean);
        rest += g[k] * (z < -most ? -most : z > most ? most : z);
    }
    return rest + NAME(added)(total);
}

TARGET static void NAME(descend)(const double *g, ptrdiff_t n, double rate, double *c, double *squares)
{
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        const V slope = NAME(get)(g + k), sum = NAME(get)(squares + k) + slope * slope;
        NAME(put)(squares + k, sum);
        NAME(put)(c + k, NAME(get)(c + k) - rate * slope / NAME(root)(sum));
    }
    for (; k < n; k++) {
        squares[k] += g[k] * g[k];
        c[k] -= rate * g[k] / sqrt(squares[k]);
    }
}

static const Odds NAME(odds) = {
    NAME(sum), NAME(largest), NAME(squares), NAME(blend), NAME(softmax), NAME(slope), NAME(descend),
};

#include "lanes_end.h"
#undef NAME
