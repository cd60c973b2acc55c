/* The primitives of vec.h for one REAL (float or double), one vector size in BYTES (0: one lane, plain C) and one
   compiler TARGET. Included several times. */
#define NAME(f) VEC_PASTE(f, REAL, WIDTH)
#define V NAME(vector)
#if BYTES
#define LANES ((ptrdiff_t)(BYTES / sizeof(REAL)))
typedef REAL V __attribute__((vector_size(BYTES)));
#else
#define LANES ((ptrdiff_t)1)
typedef REAL V;
#endif

TARGET VEC_INLINE V NAME(load)(const REAL *from)
{
    V v;
    memcpy(&v, from, sizeof v); /* an unaligned load */
    return v;
}

TARGET VEC_INLINE double NAME(sum)(V v)
{
    REAL lane[sizeof(V) / sizeof(REAL)];
    double total = 0;
    memcpy(lane, &v, sizeof v);
    for (ptrdiff_t l = 0; l < LANES; l++)
        total += lane[l];
    return total;
}

/* Dense a.b with four chains of additions. */
TARGET VEC_INLINE double NAME(dot)(const REAL *a, const REAL *b, ptrdiff_t n)
{
    V chain[4] = {{0}};
    double total = 0;
    ptrdiff_t k = 0;
    for (; k + 4 * LANES <= n; k += 4 * LANES)
        VEC_UNROLL
        for (int u = 0; u < 4; u++)
            chain[u] += NAME(load)(a + k + u * LANES) * NAME(load)(b + k + u * LANES);
    for (; k + LANES <= n; k += LANES)
        chain[0] += NAME(load)(a + k) * NAME(load)(b + k);
    for (; k < n; k++)
        total += (double)a[k] * b[k];
    return total + NAME(sum)((chain[0] + chain[1]) + (chain[2] + chain[3]));
}

/* Squares leave the range of a float long before the values do: such rows are summed in double. */
TARGET static double NAME(squared_norm)(const Row *x)
{
    const REAL *v = x->values;
    double total = NAME(dot)(v, v, x->n);
    if (sizeof(REAL) == sizeof(double) || (total > 1e-30 && total < 1e30))
        return total;
    total = 0;
    for (ptrdiff_t k = 0; k < x->n; k++)
        total += (double)v[k] * v[k];
    return total;
}

/* Sparse x.w: each weight is a cache miss waiting to happen, so ask for it early. */
TARGET VEC_INLINE double NAME(gather)(const Row *x, const REAL *w)
{
    const REAL *v = x->values;
    const int32_t *j = x->indices;
    REAL chain[4] = {0, 0, 0, 0};
    ptrdiff_t k = 0, n = x->n, safe = x->ahead - VEC_AHEAD;
    for (; k + 4 <= n; k += 4) {
        if (k + 4 <= safe)
            VEC_UNROLL
            for (int u = 0; u < 4; u++)
                VEC_PREFETCH(w + j[k + u + VEC_AHEAD]);
        VEC_UNROLL
        for (int u = 0; u < 4; u++)
            chain[u] += v[k + u] * w[j[k + u]];
    }
    for (; k < n; k++)
        chain[0] += v[k] * w[j[k]];
    return (double)(chain[0] + chain[1]) + (double)(chain[2] + chain[3]);
}

/* The scores of `width` vectors of columns, summed in registers: `ways` rows of weights at a time, so that
   ways * width chains of additions are under way. All but the pointers are constants once inlined. */
TARGET VEC_INLINE void NAME(block)(const int sparse, const int width, const Row *x, const REAL *W, ptrdiff_t stride,
                                   double *s)
{
    const int ways = width <= 2 ? 4 : width <= 4 ? 2 : 1;
    const REAL *v = x->values;
    const int32_t *j = x->indices;
    const ptrdiff_t line = 64 / sizeof(REAL), n = x->n, ahead = x->ahead;
    V chain[VEC_REGISTERS] = {{0}};
    REAL lane[sizeof(V) / sizeof(REAL)];
    ptrdiff_t k = 0;
    for (; k + ways <= n; k += ways)
        VEC_UNROLL
        for (int u = 0; u < ways; u++) {
            const REAL *w = W + (sparse ? j[k + u] : k + u) * stride;
            if (sparse && k + u + VEC_AHEAD < ahead) {
                const REAL *later = W + j[k + u + VEC_AHEAD] * stride;
                for (ptrdiff_t c = 0; c < width * LANES; c += line)
                    VEC_PREFETCH(later + c);
            }
            VEC_UNROLL
            for (int r = 0; r < width; r++)
                chain[u * width + r] += v[k + u] * NAME(load)(w + r * LANES);
        }
    for (; k < n; k++) {
        const REAL *w = W + (sparse ? j[k] : k) * stride;
        VEC_UNROLL
        for (int r = 0; r < width; r++)
            chain[r] += v[k] * NAME(load)(w + r * LANES);
    }
    VEC_UNROLL
    for (int r = 0; r < width; r++) {
        VEC_UNROLL
        for (int u = 1; u < ways; u++)
            chain[r] += chain[u * width + r];
        memcpy(lane, &chain[r], sizeof(V));
        for (ptrdiff_t l = 0; l < LANES; l++)
            s[r * LANES + l] = lane[l];
    }
}

TARGET VEC_INLINE void NAME(columns)(const int sparse, const Row *x, const REAL *W, ptrdiff_t stride, double *s)
{
    for (ptrdiff_t c = 0; c < stride; c += VEC_REGISTERS * LANES) {
        ptrdiff_t left = (stride - c) / LANES;
        switch (left < VEC_REGISTERS ? left : VEC_REGISTERS) {
        case 1: NAME(block)(sparse, 1, x, W + c, stride, s + c); break;
        case 2: NAME(block)(sparse, 2, x, W + c, stride, s + c); break;
        case 3: NAME(block)(sparse, 3, x, W + c, stride, s + c); break;
        case 4: NAME(block)(sparse, 4, x, W + c, stride, s + c); break;
        case 5: NAME(block)(sparse, 5, x, W + c, stride, s + c); break;
        case 6: NAME(block)(sparse, 6, x, W + c, stride, s + c); break;
        case 7: NAME(block)(sparse, 7, x, W + c, stride, s + c); break;
        default: NAME(block)(sparse, 8, x, W + c, stride, s + c); break;
        }
    }
}

TARGET static void NAME(scores)(const Row *x, const void *W, ptrdiff_t stride, double *s)
{
    if (stride == 1)
        s[0] = x->indices ? NAME(gather)(x, W) : NAME(dot)(x->values, W, x->n);
    else if (x->indices)
        NAME(columns)(1, x, W, stride, s);
    else
        NAME(columns)(0, x, W, stride, s);
}

/* One column: W[j, 0] += a x_j. */
TARGET VEC_INLINE void NAME(add_one)(const Row *x, REAL *w, ptrdiff_t stride, REAL a)
{
    const REAL *v = x->values;
    const int32_t *j = x->indices;
    if (j)
        for (ptrdiff_t k = 0; k < x->n; k++)
            w[j[k] * stride] += a * v[k];
    else if (stride == 1)
        for (ptrdiff_t k = 0; k < x->n; k++)
            w[k] += a * v[k];
    else
        for (ptrdiff_t k = 0; k < x->n; k++)
            w[k * stride] += a * v[k];
}

TARGET static void NAME(add)(const Row *x, void *W, ptrdiff_t stride, ptrdiff_t up, ptrdiff_t down, double a)
{
    const REAL *v = x->values, tau = (REAL)a;
    const int32_t *j = x->indices;
    if (down < 0)
        NAME(add_one)(x, (REAL *)W + up, stride, tau);
    else if (up < 0)
        NAME(add_one)(x, (REAL *)W + down, stride, -tau);
    else
        for (ptrdiff_t k = 0; k < x->n; k++) {
            REAL *w = (REAL *)W + (j ? j[k] : k) * stride, step = tau * v[k];
            w[up] += step;
            w[down] -= step;
        }
}

TARGET static void NAME(add_all)(const Row *x, void *W, ptrdiff_t stride, const double *t)
{
    const REAL *v = x->values;
    const int32_t *j = x->indices;
    for (ptrdiff_t c = 0; c < stride; c += VEC_REGISTERS * LANES) {
        V tau[VEC_REGISTERS];
        REAL some[VEC_REGISTERS * sizeof(V) / sizeof(REAL)];
        ptrdiff_t columns = stride - c < VEC_REGISTERS * LANES ? stride - c : VEC_REGISTERS * LANES;
        for (ptrdiff_t l = 0; l < columns; l++)
            some[l] = (REAL)t[c + l];
        memcpy(tau, some, columns * sizeof(REAL));
        for (ptrdiff_t k = 0; k < x->n; k++) {
            REAL *w = (REAL *)W + (j ? j[k] : k) * stride + c;
            for (ptrdiff_t r = 0; r < columns / LANES; r++) {
                V moved = NAME(load)(w + r * LANES) + v[k] * tau[r];
                memcpy(w + r * LANES, &moved, sizeof moved);
            }
        }
    }
}

static const Vec NAME(table) = {NAME(squared_norm), NAME(scores), NAME(add), NAME(add_all)};

#undef LANES
#undef V
#undef NAME
