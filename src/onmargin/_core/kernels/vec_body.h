/* The primitives of vec.h for one REAL (float or double), one vector size in BYTES (0: one lane, plain C) and one
   compiler TARGET. Included several times. */
#define NAME(f) VEC_PASTE(f, REAL, WIDTH)
#define V NAME(vector)
#define Q NAME(quad) /* at most four lanes */
#if BYTES
#define LANES ((ptrdiff_t)(BYTES / sizeof(REAL)))
#define INDICES ((ptrdiff_t)(BYTES / sizeof(int32_t)))
#define QUAD (LANES < 4 ? LANES : 4)
typedef REAL V __attribute__((vector_size(BYTES)));
typedef REAL Q __attribute__((vector_size(BYTES < 4 * sizeof(REAL) ? BYTES : 4 * sizeof(REAL))));
typedef int32_t NAME(indices) __attribute__((vector_size(BYTES)));
#else
#define LANES ((ptrdiff_t)1)
#define QUAD ((ptrdiff_t)1)
typedef REAL V;
typedef REAL Q;
#endif

TARGET VEC_INLINE V NAME(load)(const REAL *from)
{
    V v;
    memcpy(&v, from, sizeof v); /* an unaligned load */
    return v;
}

/* Summed as a tree, which has the shortest latency. */
TARGET VEC_INLINE double NAME(sum)(V v)
{
    REAL lane[sizeof(V) / sizeof(REAL)];
    double part[sizeof(V) / sizeof(REAL)];
    memcpy(lane, &v, sizeof v);
    VEC_UNROLL
    for (ptrdiff_t l = 0; l < LANES; l++)
        part[l] = lane[l];
    VEC_UNROLL
    for (ptrdiff_t half = LANES / 2; half > 0; half /= 2)
        VEC_UNROLL
        for (ptrdiff_t l = 0; l < half; l++)
            part[l] += part[l + half];
    return part[0];
}

TARGET VEC_INLINE V NAME(joined)(const int ways, const V *chain)
{
    return ways == 4 ? (chain[0] + chain[1]) + (chain[2] + chain[3]) : ways == 2 ? chain[0] + chain[1] : chain[0];
}

/* Dense scores of `columns` columns, `gap` apart, each summed in `ways` chains. Intercepts b are added,
   unless NULL. Returns the squared norm of the row, if requested, from the same pass. Equal columns must have equal scores, so that ties are exact: all columns of a
   model are summed in the same number of chains. */
TARGET VEC_INLINE double NAME(dots)(const int columns, const int ways, const int norm, const REAL *v, ptrdiff_t n,
                                    const REAL *w, ptrdiff_t gap, const double *b, double *s)
{
    V chain[VEC_CHAINS] = {{0}}, square[4] = {{0}};
    double rest = 0;
    ptrdiff_t k = 0;
    for (; k + ways * LANES <= n; k += ways * LANES)
        VEC_UNROLL
        for (int u = 0; u < ways; u++) {
            const V x = NAME(load)(v + k + u * LANES);
            VEC_UNROLL
            for (int c = 0; c < columns; c++)
                chain[c * ways + u] += x * NAME(load)(w + c * gap + k + u * LANES);
            if (norm)
                square[u] += x * x;
        }
    VEC_UNROLL
    for (int u = 0; u < ways - 1; u++) /* the rest, less than a vector per chain */
        if (k + LANES <= n) {
            const V x = NAME(load)(v + k);
            VEC_UNROLL
            for (int c = 0; c < columns; c++)
                chain[c * ways + u] += x * NAME(load)(w + c * gap + k);
            if (norm)
                square[u] += x * x;
            k += LANES;
        }
    VEC_UNROLL
    for (int c = 0; c < columns; c++)
        s[c] = NAME(sum)(NAME(joined)(ways, chain + c * ways));
    VEC_ROLLED
    for (int c = 0; c < columns; c++) {
        rest = 0;
        for (ptrdiff_t l = k; l < n; l++)
            rest += (double)v[l] * w[c * gap + l];
        rest += s[c];
        s[c] = b ? rest + b[c] : rest;
    }
    if (!norm)
        return 0;
    rest = 0;
    for (; k < n; k++)
        rest += (double)v[k] * v[k];
    return rest + NAME(sum)(NAME(joined)(ways, square));
}

/* Squares overflow a float long before the values do: such rows are summed in double. */
TARGET VEC_INLINE double NAME(ranged)(double total, const REAL *v, ptrdiff_t n)
{
    if (sizeof(REAL) == sizeof(double) || (total > 1e-30 && total < 1e30))
        return total;
    total = 0;
    for (ptrdiff_t k = 0; k < n; k++)
        total += (double)v[k] * v[k];
    return total;
}

/* The squares of sparse rows are summed in four chains, as in `gather`: a model has the same norms alone and among
   others. */
TARGET static double NAME(squared_norm)(const Row *x)
{
    const REAL *v = x->values;
    REAL square[4] = {0, 0, 0, 0};
    ptrdiff_t k = 0;
    double total;
    if (x->indices) {
        for (; k + 4 <= x->n; k += 4)
            VEC_UNROLL
            for (int u = 0; u < 4; u++)
                square[u] += v[k + u] * v[k + u];
        for (; k < x->n; k++)
            square[0] += v[k] * v[k];
        return NAME(ranged)(square[0] + square[1] + square[2] + square[3], v, x->n);
    }
    NAME(dots)(1, 4, 0, x->values, x->n, x->values, 0, NULL, &total);
    return NAME(ranged)(total, x->values, x->n);
}

/* The sum over the features of two sparse rows of a_j b_j, or with `apart` of (a_j - b_j)^2. */
TARGET VEC_INLINE double NAME(merge)(const int apart, const Row *a, const Row *b)
{
    const REAL *v = a->values, *w = b->values;
    ptrdiff_t k = 0, l = 0;
    double total = 0;
    while (k < a->n && l < b->n) {
        int32_t i = a->indices[k], j = b->indices[l];
        double left = i <= j ? v[k] : 0, right = j <= i ? w[l] : 0;
        total += apart ? (left - right) * (left - right) : left * right;
        k += i <= j;
        l += j <= i;
    }
    for (; apart && k < a->n; k++)
        total += (double)v[k] * v[k];
    for (; apart && l < b->n; l++)
        total += (double)w[l] * w[l];
    return total;
}

TARGET static double NAME(dot)(const Row *a, const Row *b)
{
    double total;
    if (a->indices)
        return NAME(merge)(0, a, b);
    NAME(dots)(1, 4, 0, a->values, a->n, b->values, 0, NULL, &total);
    return total;
}

TARGET static double NAME(squared_distance)(const Row *a, const Row *b)
{
    const REAL *v = a->values, *w = b->values;
    V chain[4] = {{0}};
    ptrdiff_t k = 0;
    double rest = 0, total;
    if (a->indices)
        return NAME(merge)(1, a, b);
    for (; k + 4 * LANES <= a->n; k += 4 * LANES)
        VEC_UNROLL
        for (int u = 0; u < 4; u++) {
            V apart = NAME(load)(v + k + u * LANES) - NAME(load)(w + k + u * LANES);
            chain[u] += apart * apart;
        }
    for (; k < a->n; k++)
        rest += ((double)v[k] - w[k]) * ((double)v[k] - w[k]);
    total = rest + NAME(sum)(chain[0] + chain[1] + (chain[2] + chain[3]));
    if (sizeof(REAL) == sizeof(double) || total == 0 || (total > 1e-30 && total < 1e30))
        return total;
    total = 0;
    for (k = 0; k < a->n; k++)
        total += ((double)v[k] - w[k]) * ((double)v[k] - w[k]);
    return total;
}

TARGET VEC_INLINE Q NAME(pick)(const REAL *w, const int32_t *j)
{
    Q picked = {w[j[0]]};
#if BYTES
    VEC_UNROLL
    for (ptrdiff_t l = 1; l < QUAD; l++)
        picked[l] = w[j[l]];
#endif
    return picked;
}

/* Sparse x.w: each weight is likely a cache miss, so prefetch it. Summed as in `block` with four chains, which are lanes
   here: a column has the same score alone and among others. With `norm`, the squares of the values are summed in the
   same pass. */
TARGET VEC_INLINE double NAME(gather)(const int norm, const Row *x, const REAL *w, double *squares)
{
    const REAL *v = x->values;
    const int32_t *j = x->indices;
    Q chains[4] = {{0}}, all_squares[4] = {{0}};
    REAL chain[4], square[4];
    ptrdiff_t k = 0, n = x->n, safe = x->ahead - VEC_AHEAD;
    for (; k + 4 <= n; k += 4) {
        if (k + 4 <= safe)
            VEC_UNROLL
            for (int u = 0; u < 4; u++)
                VEC_PREFETCH(w + j[k + u + VEC_AHEAD]);
        VEC_UNROLL
        for (int u = 0; u < 4 / QUAD; u++) {
            Q some;
            memcpy(&some, v + k + u * QUAD, sizeof some);
            chains[u] += some * NAME(pick)(w, j + k + u * QUAD);
            if (norm)
                all_squares[u] += some * some;
        }
    }
    memcpy(chain, chains, sizeof chain);
    memcpy(square, all_squares, sizeof square);
    for (; k < n; k++) {
        chain[0] += v[k] * w[j[k]];
        if (norm)
            square[0] += v[k] * v[k];
    }
    if (norm)
        *squares = square[0] + square[1] + square[2] + square[3];
    return chain[0] + chain[1] + chain[2] + chain[3];
}

/* The scores of `width` vectors of columns, summed in registers: `ways` rows of weights at a time, so that
   ways * width chains of additions are under way. All but the pointers are constants once inlined. */
TARGET VEC_INLINE void NAME(block)(const int sparse, const int width, const int ways, const Row *x, const REAL *W,
                                   ptrdiff_t stride, double *s)
{
    const REAL *v = x->values;
    const int32_t *j = x->indices;
    const ptrdiff_t line = 64 / sizeof(REAL), n = x->n;
    const ptrdiff_t ahead = ways > 1 ? VEC_FURTHER : VEC_AHEAD, safe = x->ahead - ahead;
    const ptrdiff_t fetched = sparse && safe < n ? (safe > 0 ? safe : 0) : n;
    V chain[VEC_REGISTERS] = {{0}};
    REAL lane[sizeof(V) / sizeof(REAL)];
    ptrdiff_t k = 0;
    for (; k + ways <= fetched; k += ways) {
        VEC_UNROLL
        for (int u = 0; sparse && u < ways; u++) {
            const REAL *next = W + j[k + u + ahead] * stride;
            VEC_UNROLL
            for (ptrdiff_t c = 0; c < width * LANES; c += line)
                VEC_PREFETCH(next + c);
        }
        VEC_UNROLL
        for (int u = 0; u < ways; u++) {
            const REAL *w = W + (sparse ? j[k + u] : k + u) * stride;
            VEC_UNROLL
            for (int r = 0; r < width; r++)
                chain[u * width + r] += v[k + u] * NAME(load)(w + r * LANES);
        }
    }
    for (; k + ways <= n; k += ways)
        VEC_UNROLL
        for (int u = 0; u < ways; u++) {
            const REAL *w = W + (sparse ? j[k + u] : k + u) * stride;
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

/* Few columns leave registers for more chains; all columns of a model are summed in the same number of them. */
TARGET VEC_INLINE void NAME(feature_major)(const int sparse, const Row *x, const Weights *w, double *s)
{
    const REAL *W = w->W;
    const ptrdiff_t stride = w->stride, padded = vec_padded(w->columns, sizeof(REAL));
    const ptrdiff_t few = padded <= VEC_REGISTERS / 2 * LANES, most = few ? 2 : VEC_REGISTERS;
    for (ptrdiff_t c = 0; c < padded; c += most * LANES) {
        ptrdiff_t left = (padded - c) / LANES, width = left < most ? left : most;
        switch (few ? -width : width) {
        case -1: NAME(block)(sparse, 1, 4, x, W + c, stride, s + c); break;
        case -2: NAME(block)(sparse, 2, 4, x, W + c, stride, s + c); break;
        case 1: NAME(block)(sparse, 1, 1, x, W + c, stride, s + c); break;
        case 2: NAME(block)(sparse, 2, 1, x, W + c, stride, s + c); break;
        case 3: NAME(block)(sparse, 3, 1, x, W + c, stride, s + c); break;
        case 4: NAME(block)(sparse, 4, 1, x, W + c, stride, s + c); break;
        case 5: NAME(block)(sparse, 5, 1, x, W + c, stride, s + c); break;
        case 6: NAME(block)(sparse, 6, 1, x, W + c, stride, s + c); break;
        case 7: NAME(block)(sparse, 7, 1, x, W + c, stride, s + c); break;
        default: NAME(block)(sparse, 8, 1, x, W + c, stride, s + c); break;
        }
    }
}

/* A few columns in two chains each, many in one. */
TARGET VEC_INLINE double NAME(several_columns)(const int norm, const Row *x, const Weights *w, const double *b,
                                            double *s)
{
    const REAL *W = w->W, *v = x->values;
    const ptrdiff_t n = x->n, gap = w->gap, columns = w->columns;
    double total = 0;
    switch (columns) {
    case 2: return NAME(dots)(2, 2, norm, v, n, W, gap, b, s);
    case 3: return NAME(dots)(3, 2, norm, v, n, W, gap, b, s);
    case 4: return NAME(dots)(4, 2, norm, v, n, W, gap, b, s);
    }
    for (ptrdiff_t c = 0, passes = (columns + VEC_CHAINS - 1) / VEC_CHAINS; c < columns; passes--) {
        const ptrdiff_t width = (columns - c + passes - 1) / passes;
        const REAL *from = W + c * gap;
        if (norm && c == 0)
            switch (width) {
            case 5: total = NAME(dots)(5, 1, 1, v, n, from, gap, b, s); break;
            case 6: total = NAME(dots)(6, 1, 1, v, n, from, gap, b, s); break;
            case 7: total = NAME(dots)(7, 1, 1, v, n, from, gap, b, s); break;
            case 8: total = NAME(dots)(8, 1, 1, v, n, from, gap, b, s); break;
            case 9: total = NAME(dots)(9, 1, 1, v, n, from, gap, b, s); break;
            default: total = NAME(dots)(10, 1, 1, v, n, from, gap, b, s); break;
            }
        else
            switch (width) {
            case 5: NAME(dots)(5, 1, 0, v, n, from, gap, b ? b + c : NULL, s + c); break;
            case 6: NAME(dots)(6, 1, 0, v, n, from, gap, b ? b + c : NULL, s + c); break;
            case 7: NAME(dots)(7, 1, 0, v, n, from, gap, b ? b + c : NULL, s + c); break;
            case 8: NAME(dots)(8, 1, 0, v, n, from, gap, b ? b + c : NULL, s + c); break;
            case 9: NAME(dots)(9, 1, 0, v, n, from, gap, b ? b + c : NULL, s + c); break;
            default: NAME(dots)(10, 1, 0, v, n, from, gap, b ? b + c : NULL, s + c); break;
            }
        c += width;
    }
    return total;
}

TARGET VEC_APART double NAME(scores_and_norm_of_several)(const Row *x, const Weights *w, const double *b, double *s)
{
    return NAME(several_columns)(1, x, w, b, s);
}

/* A single column in four chains. */
TARGET VEC_INLINE double NAME(column_major)(const int norm, const Row *x, const Weights *w, const double *b,
                                            double *s)
{
    if (w->columns == 1)
        return NAME(dots)(1, 4, norm, x->values, x->n, w->W, 0, b, s);
    return norm ? NAME(scores_and_norm_of_several)(x, w, b, s) : NAME(several_columns)(0, x, w, b, s);
}

TARGET VEC_INLINE void NAME(sparse_scores)(const Row *x, const Weights *w, double *s)
{
    if (w->stride > 1)
        NAME(feature_major)(1, x, w, s);
    else
        for (ptrdiff_t c = 0; c < w->columns; c++)
            s[c] = NAME(gather)(0, x, (const REAL *)w->W + c * w->gap, NULL);
}

TARGET static void NAME(scores)(const Row *x, const Weights *w, double *s)
{
    if (x->indices)
        NAME(sparse_scores)(x, w, s);
    else if (w->stride > 1)
        NAME(feature_major)(0, x, w, s);
    else
        NAME(column_major)(0, x, w, NULL, s);
}

TARGET VEC_APART double NAME(scores_then_norm)(const Row *x, const Weights *w, const double *b, double *s)
{
    NAME(scores)(x, w, s);
    for (ptrdiff_t c = 0; c < w->columns; c++)
        s[c] += b[c];
    return NAME(squared_norm)(x);
}

TARGET static double NAME(scores_and_norm)(const Row *x, const Weights *w, const double *b, double *s)
{
    double squares;
    if (!x->indices && w->stride == 1)
        return NAME(ranged)(NAME(column_major)(1, x, w, b, s), x->values, x->n);
    if (x->indices && w->columns == 1 && w->stride == 1) {
        s[0] = NAME(gather)(1, x, w->W, &squares) + b[0];
        return NAME(ranged)(squares, x->values, x->n);
    }
    return NAME(scores_then_norm)(x, w, b, s);
}

TARGET static int NAME(is_canonical)(const Row *x, ptrdiff_t n_features)
{
    const int32_t *j = x->indices;
    const ptrdiff_t n = x->n;
    int rising = 1;
    if (!j || n == 0)
        return 1;
    if (n < 0 || n > x->ahead)
        return 0;
#if BYTES
    if (n > INDICES) {
        NAME(indices) before, after, all;
        memcpy(&before, j + n - INDICES - 1, sizeof before); /* the last vector may overlap the one before */
        memcpy(&after, j + n - INDICES, sizeof after);
        all = after > before;
        for (ptrdiff_t k = 1; k + INDICES <= n; k += INDICES) {
            memcpy(&before, j + k - 1, sizeof before);
            memcpy(&after, j + k, sizeof after);
            all &= after > before;
        }
        uint64_t half[sizeof all / sizeof(uint64_t)], both = ~(uint64_t)0;
        memcpy(half, &all, sizeof half);
        VEC_UNROLL
        for (int l = 0; l < (int)(sizeof half / sizeof *half); l++)
            both &= half[l];
        rising = both == ~(uint64_t)0;
    } else
#endif
        for (ptrdiff_t k = 1; k < n; k++)
            rising &= j[k - 1] < j[k];
    return rising && j[0] >= 0 && j[n - 1] < n_features;
}

/* Dense W[k] += a x_k. */
TARGET VEC_INLINE void NAME(add_dense)(const REAL *v, ptrdiff_t n, REAL *W, REAL a)
{
    ptrdiff_t k = 0;
    for (; k + 4 * LANES <= n; k += 4 * LANES)
        VEC_UNROLL
        for (ptrdiff_t u = 0; u < 4 * LANES; u += LANES) {
            const V moved = NAME(load)(W + k + u) + a * NAME(load)(v + k + u);
            memcpy(W + k + u, &moved, sizeof moved);
        }
    for (; k + LANES <= n; k += LANES) {
        const V moved = NAME(load)(W + k) + a * NAME(load)(v + k);
        memcpy(W + k, &moved, sizeof moved);
    }
    VEC_UNROLL
    for (ptrdiff_t l = 1; l < LANES; l++) /* the rest, less than a vector */
        if (k < n) {
            W[k] += a * v[k];
            k++;
        }
}

/* One column: W[j] += a x_j. */
TARGET VEC_INLINE void NAME(add_one)(const Row *x, REAL *W, ptrdiff_t stride, REAL a)
{
    const REAL *v = x->values;
    const int32_t *j = x->indices;
    const ptrdiff_t n = x->n;
    if (!j && stride == 1)
        NAME(add_dense)(v, n, W, a);
    else
        for (ptrdiff_t k = 0; k < n; k++)
            W[(j ? j[k] : k) * stride] += a * v[k];
}

/* The same for a factor that overflows REAL, although its products with the values may not. */
TARGET static void NAME(add_far)(const Row *x, REAL *W, ptrdiff_t stride, double a)
{
    const REAL *v = x->values;
    const int32_t *j = x->indices;
    for (ptrdiff_t k = 0; k < x->n; k++)
        W[(j ? j[k] : k) * stride] += (REAL)(a * v[k]);
}

TARGET VEC_INLINE int NAME(is_far)(double a)
{
    return sizeof(REAL) < sizeof(double) && (fabs(a) < 1e-30 || fabs(a) > 1e30);
}

TARGET VEC_APART void NAME(add_two)(const Row *x, const Weights *w, ptrdiff_t up, ptrdiff_t down, double a)
{
    const REAL *v = x->values, tau = (REAL)a;
    const int32_t *j = x->indices;
    REAL *W = w->W;
    if (NAME(is_far)(a)) {
        if (up >= 0)
            NAME(add_far)(x, W + up * w->gap, w->stride, a);
        if (down >= 0)
            NAME(add_far)(x, W + down * w->gap, w->stride, -a);
    } else if (w->stride > 1) /* both are on the same cache lines */
        for (ptrdiff_t k = 0; k < x->n; k++) {
            REAL *f = W + (j ? j[k] : k) * w->stride, step = tau * v[k];
            f[up] += step;
            f[down] -= step;
        }
    else if (j) {
        NAME(add_one)(x, W + up * w->gap, 1, tau);
        NAME(add_one)(x, W + down * w->gap, 1, -tau);
    } else {
        REAL *rising = W + up * w->gap, *falling = W + down * w->gap;
        ptrdiff_t k = 0;
        for (; k + LANES <= x->n; k += LANES) {
            const V step = tau * NAME(load)(v + k), more = NAME(load)(rising + k) + step;
            const V less = NAME(load)(falling + k) - step;
            memcpy(rising + k, &more, sizeof more);
            memcpy(falling + k, &less, sizeof less);
        }
        for (; k < x->n; k++) {
            rising[k] += tau * v[k];
            falling[k] -= tau * v[k];
        }
    }
}

TARGET static void NAME(add)(const Row *x, const Weights *w, ptrdiff_t up, ptrdiff_t down, double a)
{
    const REAL tau = (REAL)a;
    if ((up & down) < 0) /* both are absent: -1 */
        return;
    if ((up | down) >= 0 || NAME(is_far)(a))
        NAME(add_two)(x, w, up, down, a);
    else /* one is absent. There is no branch on which of them, which no CPU could predict */
        NAME(add_one)(x, (REAL *)w->W + (up + down + 1) * w->gap, w->stride, tau * (REAL)(1 - 2 * (up < 0)));
}

/* W[j, c] += t[c] x_j for `width` vectors of columns, their factors in registers. */
TARGET VEC_INLINE void NAME(add_block)(const int width, const Row *x, REAL *W, ptrdiff_t stride, const double *t)
{
    const REAL *v = x->values;
    const int32_t *j = x->indices;
    REAL some[VEC_REGISTERS * sizeof(V) / sizeof(REAL)];
    V tau[VEC_REGISTERS];
    for (ptrdiff_t c = 0; c < width * LANES; c++)
        some[c] = (REAL)t[c];
    memcpy(tau, some, width * sizeof(V));
    for (ptrdiff_t k = 0; k < x->n; k++) {
        REAL *f = W + (j ? j[k] : k) * stride;
        VEC_UNROLL
        for (int r = 0; r < width; r++) {
            V moved = NAME(load)(f + r * LANES) + v[k] * tau[r];
            memcpy(f + r * LANES, &moved, sizeof moved);
        }
    }
}

TARGET static void NAME(add_all)(const Row *x, const Weights *w, const double *t)
{
    REAL *W = w->W;
    int far = 0;
    for (ptrdiff_t c = 0; c < w->columns; c++)
        far |= t[c] != 0 && NAME(is_far)(t[c]);
    if (far)
        for (ptrdiff_t c = 0; c < w->columns; c++)
            NAME(add)(x, w, c, -1, t[c]);
    else if (w->stride == 1)
        for (ptrdiff_t c = 0; c < w->columns; c++)
            NAME(add_one)(x, W + c * w->gap, 1, (REAL)t[c]);
    else {
        const ptrdiff_t padded = vec_padded(w->columns, sizeof(REAL));
        for (ptrdiff_t c = 0; c < padded; c += VEC_REGISTERS * LANES) {
            ptrdiff_t left = (padded - c) / LANES;
            switch (left < VEC_REGISTERS ? left : VEC_REGISTERS) {
            case 1: NAME(add_block)(1, x, W + c, w->stride, t + c); break;
            case 2: NAME(add_block)(2, x, W + c, w->stride, t + c); break;
            case 3: NAME(add_block)(3, x, W + c, w->stride, t + c); break;
            case 4: NAME(add_block)(4, x, W + c, w->stride, t + c); break;
            case 5: NAME(add_block)(5, x, W + c, w->stride, t + c); break;
            case 6: NAME(add_block)(6, x, W + c, w->stride, t + c); break;
            case 7: NAME(add_block)(7, x, W + c, w->stride, t + c); break;
            default: NAME(add_block)(8, x, W + c, w->stride, t + c); break;
            }
        }
    }
}

static const Vec NAME(table) = {
    NAME(squared_norm), NAME(dot), NAME(squared_distance), NAME(scores), NAME(scores_and_norm),
    NAME(add), NAME(add_all), NAME(is_canonical),
};

#undef INDICES
#undef QUAD
#undef LANES
#undef Q
#undef V
#undef NAME
