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

/* 1 / (m h), and 0 where that has no number. */
TARGET VEC_INLINE double NAME(rate)(double m, double h)
{
    return m * h > 1e-300 ? 1 / (m * h) : 0;
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

static const Metric NAME(metrics) = {
    NAME(root_length), NAME(root_move), NAME(root_add), NAME(extend), NAME(variance), NAME(variance_move), NAME(variance_add),
};

#undef NAME
