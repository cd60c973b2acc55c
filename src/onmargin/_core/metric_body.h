/* The primitives of metric.h for one REAL (float or double) and one compiler TARGET. Included several times. */
#define NAME(f) VEC_PASTE(f, REAL, WIDTH)

/* Where value k of a row stands in a column of `stride`. */
TARGET VEC_INLINE ptrdiff_t NAME(place)(const Row *x, ptrdiff_t k, ptrdiff_t stride)
{
    return (x->indices ? x->indices[k] : k) * stride;
}

TARGET VEC_INLINE REAL *NAME(column)(const Weights *w, ptrdiff_t c)
{
    return (REAL *)w->W + c * w->gap;
}

/* Sparse rows wait for memory: ask for what comes later, in this row or in those after it. */
TARGET VEC_INLINE void NAME(fetch)(const Row *x, ptrdiff_t k, const REAL *w, ptrdiff_t stride)
{
    if (x->indices && k + VEC_AHEAD < x->ahead)
        VEC_PREFETCH(w + x->indices[k + VEC_AHEAD] * stride);
}

/* 1 / (m h), and 0 where that has no number; without a branch. */
TARGET VEC_INLINE double NAME(rate)(double m, double h)
{
    return 1 / (m * h > 1e-300 ? m * h : INFINITY);
}

TARGET VEC_INLINE double NAME(reach)(const Row *x, ptrdiff_t k, const REAL *s, double value)
{
    double size = fabs(value), seen = s ? s[x->indices ? x->indices[k] : k] : 0;
    return !s ? 1 : seen > size ? seen : size;
}

TARGET static double NAME(root_length)(const Row *x, const Weights *h, ptrdiff_t c, const void *scales)
{
    const REAL *v = x->values, *H = NAME(column)(h, c);
    double total = 0;
    for (ptrdiff_t k = 0; k < x->n; k++) {
        double value = v[k], old = H[NAME(place)(x, k, h->stride)];
        NAME(fetch)(x, k, H, h->stride);
        total += value * (value * NAME(rate)(NAME(reach)(x, k, scales, value), sqrt(old * old + value * value)));
    }
    return total;
}

TARGET static void NAME(root_move)(const Row *x, const Weights *w, const Weights *h, ptrdiff_t c, const void *scales,
                                   double a)
{
    const REAL *v = x->values;
    REAL *W = NAME(column)(w, c), *H = NAME(column)(h, c);
    for (ptrdiff_t k = 0; k < x->n; k++) {
        ptrdiff_t j = NAME(place)(x, k, w->stride);
        double value = v[k], old = H[j], root = sqrt(old * old + value * value);
        H[j] = (REAL)root;
        W[j] += (REAL)(a * (value * NAME(rate)(NAME(reach)(x, k, scales, value), root)));
    }
}

TARGET static void NAME(root_add)(const Row *x, const Weights *l, const Weights *h, ptrdiff_t c, const void *scales,
                                  double a)
{
    const REAL *v = x->values, *H = NAME(column)(h, c);
    REAL *L = NAME(column)(l, c);
    for (ptrdiff_t k = 0; k < x->n; k++) {
        ptrdiff_t j = NAME(place)(x, k, l->stride);
        double value = v[k];
        L[j] += (REAL)(a * (value * NAME(rate)(NAME(reach)(x, k, scales, value), H[j])));
    }
}

TARGET static double NAME(extend)(const Row *x, void *scales)
{
    const REAL *v = x->values;
    REAL *s = scales;
    double total = 0;
    for (ptrdiff_t k = 0; k < x->n; k++) {
        double value = v[k], m = NAME(reach)(x, k, s, value);
        NAME(fetch)(x, k, s, 1);
        s[NAME(place)(x, k, 1)] = (REAL)m;
        total += m > 0 ? (value / m) * (value / m) : 0;
    }
    return total;
}

TARGET static double NAME(variance)(const Row *x, const Weights *variances, ptrdiff_t c)
{
    const REAL *v = x->values, *V = NAME(column)(variances, c);
    double chain[4] = {0, 0, 0, 0};
    ptrdiff_t k = 0;
    for (; k + 4 <= x->n; k += 4)
        VEC_UNROLL
        for (int u = 0; u < 4; u++) {
            double value = v[k + u];
            NAME(fetch)(x, k + u, V, variances->stride);
            chain[u] += value * value * V[NAME(place)(x, k + u, variances->stride)];
        }
    for (; k < x->n; k++)
        chain[0] += (double)v[k] * v[k] * V[NAME(place)(x, k, variances->stride)];
    return (chain[0] + chain[1]) + (chain[2] + chain[3]);
}

TARGET static void NAME(variance_move)(const Row *x, const Weights *w, const Weights *variances, ptrdiff_t c, double a,
                                       const double *rates)
{
    const REAL *v = x->values;
    REAL *W = NAME(column)(w, c), *V = NAME(column)(variances, c);
    const double beta = rates[0], growth = rates[1];
    for (ptrdiff_t k = 0; k < x->n; k++) {
        ptrdiff_t j = NAME(place)(x, k, w->stride);
        double value = v[k], old = V[j], step = old * value;
        double left = (value != 0 ? growth : 1) * (old - beta * (step * step)); /* zero is as good as not there */
        W[j] += (REAL)(a * step);
        V[j] = (REAL)(left > 1 ? 1 : left < METRIC_LEAST ? METRIC_LEAST : left);
    }
}

TARGET static void NAME(variance_add)(const Row *x, const Weights *l, const Weights *variances, ptrdiff_t c, double a)
{
    const REAL *v = x->values, *V = NAME(column)(variances, c);
    REAL *L = NAME(column)(l, c);
    for (ptrdiff_t k = 0; k < x->n; k++) {
        ptrdiff_t j = NAME(place)(x, k, l->stride);
        L[j] += (REAL)(a * ((double)V[j] * v[k]));
    }
}

/* Some columns at a time, in double. */
#define D NAME(lanes)
#define SOME NAME(some)
#if BYTES
#define LANES ((ptrdiff_t)(BYTES / sizeof(double)))
typedef double D __attribute__((vector_size(BYTES)));
typedef REAL SOME __attribute__((vector_size(BYTES / sizeof(double) * sizeof(REAL))));
typedef int64_t NAME(bits) __attribute__((vector_size(BYTES)));
#define CONVERT(v, type) __builtin_convertvector(v, type)
#define EITHER(condition, yes, no) \
    ((D)(((NAME(bits))(condition) & (NAME(bits))(yes)) | (~(NAME(bits))(condition) & (NAME(bits))(no))))
#else
#define LANES ((ptrdiff_t)1)
typedef double D;
typedef REAL SOME;
#define CONVERT(v, type) ((type)(v))
#define EITHER(condition, yes, no) ((condition) ? (yes) : (no))
#endif

TARGET VEC_INLINE D NAME(get)(const REAL *from)
{
    SOME v;
    memcpy(&v, from, sizeof v);
    return CONVERT(v, D);
}

TARGET VEC_INLINE void NAME(put)(REAL *to, D value)
{
    SOME v = CONVERT(value, SOME);
    memcpy(to, &v, sizeof v);
}

TARGET VEC_INLINE void NAME(rise)(REAL *to, D value)
{
    SOME v;
    memcpy(&v, to, sizeof v);
    v += CONVERT(value, SOME);
    memcpy(to, &v, sizeof v);
}

TARGET VEC_INLINE D NAME(recall)(const double *from)
{
    D v;
    memcpy(&v, from, sizeof v);
    return v;
}

TARGET VEC_INLINE D NAME(roots)(D v)
{
    double lane[sizeof(D) / sizeof(double)];
    memcpy(lane, &v, sizeof v);
    VEC_UNROLL
    for (ptrdiff_t l = 0; l < LANES; l++)
        lane[l] = sqrt(lane[l]);
    memcpy(&v, lane, sizeof v);
    return v;
}

/* Where both kinds of columns share a vector, each kind is written where it is. */
TARGET static void NAME(lengths)(const Row *x, const Kinds *kinds, const Weights *metric, const void *scales, double *rates,
                                 double *q)
{
    const REAL *v = x->values;
    const ptrdiff_t roots = kinds->roots, columns = kinds->columns, kept = metric_kept(kinds), even = x->n / 4 * 4;
    double plain[METRIC_MOST], scaled[METRIC_MOST], total[METRIC_MOST] = {0}, chain[4][METRIC_MOST] = {{0}};
    for (ptrdiff_t c = 0; c < METRIC_MOST; c++) {
        scaled[c] = c >= roots - kinds->scaled;
        plain[c] = 1 - scaled[c];
    }
    for (ptrdiff_t k = 0; k < x->n; k++) {
        const REAL *M = (const REAL *)metric->W + NAME(place)(x, k, metric->stride);
        const double value = v[k], square = value * value, reach = NAME(reach)(x, k, scales, value);
        double *rate = rates + k * 2 * kept, *root = rate + kept, *sums = chain[k < even ? k % 4 : 0];
        for (ptrdiff_t c = 0; c < roots; c += LANES) {
            D old = NAME(get)(M + c), h = NAME(roots)(old * old + square);
            D mh = (NAME(recall)(plain + c) + NAME(recall)(scaled + c) * reach) * h;
            D r = EITHER(mh > 1e-300, 1 / mh, 0 * h);
            D sum = NAME(recall)(total + c) + value * (value * r);
            memcpy(root + c, &h, sizeof h);
            memcpy(rate + c, &r, sizeof r);
            memcpy(total + c, &sum, sizeof sum);
        }
        for (ptrdiff_t c = roots / LANES * LANES; c < columns; c += LANES) {
            D sum = NAME(recall)(sums + c) + square * NAME(get)(M + c);
            memcpy(sums + c, &sum, sizeof sum);
        }
    }
    for (ptrdiff_t c = 0; c < columns; c++)
        q[c] = c < roots ? total[c] : (chain[0][c] + chain[1][c]) + (chain[2][c] + chain[3][c]);
}

TARGET static void NAME(moves)(const Row *x, const Kinds *kinds, const Weights *w, const Weights *metric,
                               const double *rates, const Moves *by)
{
    const REAL *v = x->values;
    const ptrdiff_t roots = kinds->roots, columns = kinds->columns, kept = metric_kept(kinds);
    double first[METRIC_MOST], then[METRIC_MOST]; /* how far columns with roots go, and those with variances */
    for (ptrdiff_t c = 0; c < METRIC_MOST; c++) {
        first[c] = c < roots ? by->a[c] : 0;
        then[c] = c < roots ? 0 : by->a[c];
    }
    for (ptrdiff_t k = 0; k < x->n; k++) {
        const ptrdiff_t j = NAME(place)(x, k, w->stride);
        REAL *W = (REAL *)w->W + j, *M = (REAL *)metric->W + j;
        if (v[k] == 0)
            continue; /* as good as not there */
        const double value = v[k], *rate = rates + k * 2 * kept, *root = rate + kept;
        for (ptrdiff_t c = 0; c < roots; c += LANES) {
            D a = NAME(recall)(first + c);
            NAME(rise)(W + c, a * (value * NAME(recall)(rate + c)));
            NAME(put)(M + c, EITHER(a != 0, NAME(recall)(root + c), NAME(get)(M + c)));
        }
        for (ptrdiff_t c = roots / LANES * LANES; c < columns; c += LANES) {
            D a = NAME(recall)(then + c), old = NAME(get)(M + c), step = old * value;
            D left = NAME(recall)(by->growth + c) * (old - NAME(recall)(by->beta + c) * (step * step));
            D least = 0 * old + METRIC_LEAST, most = 0 * old + 1;
            left = EITHER(left > most, most, EITHER(left < least, least, left));
            NAME(rise)(W + c, a * step);
            NAME(put)(M + c, EITHER(a != 0, left, old));
        }
    }
}

static const Metric NAME(metrics) = {
    NAME(root_length),   NAME(root_move),    NAME(root_add), NAME(extend), NAME(variance),
    NAME(variance_move), NAME(variance_add), NAME(lengths),  NAME(moves),
};

#undef EITHER
#undef CONVERT
#undef LANES
#undef SOME
#undef D
#undef NAME
