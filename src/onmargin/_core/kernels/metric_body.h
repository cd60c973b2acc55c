/* The primitives of metric.h for one REAL (float or double) and one compiler TARGET. Included several times. */
#define NAME(f) VEC_PASTE(f, REAL, WIDTH)

/* Return the position of value k of a row in a column of `stride`. */
TARGET VEC_INLINE ptrdiff_t NAME(place)(const Row *x, ptrdiff_t k, ptrdiff_t stride)
{
    return (x->indices ? x->indices[k] : k) * stride;
}

TARGET VEC_INLINE REAL *NAME(column)(const Weights *w, ptrdiff_t c)
{
    return (REAL *)w->W + c * w->gap;
}

/* Sparse rows wait for memory: prefetch later entries of this row or of the next ones. */
TARGET VEC_INLINE void NAME(fetch)(const Row *x, ptrdiff_t later, const REAL *w, ptrdiff_t stride)
{
    if (x->indices && later < x->ahead)
        VEC_PREFETCH(w + x->indices[later] * stride);
}

/* Return 1 / (m h), or 0 if a weight could not hold a multiple of it, without a branch. */
TARGET VEC_INLINE double NAME(rate)(double m, double h)
{
    return 1 / (m * h > METRIC_LEAST_PRODUCT(REAL) ? m * h : INFINITY);
}

TARGET VEC_INLINE double NAME(reach)(const Row *x, ptrdiff_t k, const REAL *s, double value)
{
    double size = fabs(value), seen = s ? s[x->indices ? x->indices[k] : k] : 0;
    return !s ? 1 : seen > size ? seen : size;
}

/* Several columns or values at a time, in double. */
#define D NAME(lanes)
#define SOME NAME(some)
#define ROOM (sizeof(D) / sizeof(double))
#if BYTES
#define LANES ((ptrdiff_t)(BYTES / sizeof(double)))
typedef double D __attribute__((vector_size(BYTES)));
typedef REAL SOME __attribute__((vector_size(BYTES / sizeof(double) * sizeof(REAL))));
typedef __typeof__((D){0} > (D){0}) NAME(bits);
typedef __typeof__((SOME){0} > (SOME){0}) NAME(few_bits);
#define CONVERT(v, type) __builtin_convertvector(v, type)
#define CHOOSE(bits, condition, yes, no) (((bits)(condition) & (bits)(yes)) | (~(bits)(condition) & (bits)(no)))
#define EITHER(condition, yes, no) ((D)CHOOSE(NAME(bits), condition, yes, no))
#define EITHER_OF_SOME(condition, yes, no) ((SOME)CHOOSE(NAME(few_bits), condition, yes, no))
#else
#define LANES ((ptrdiff_t)1)
typedef double D;
typedef REAL SOME;
typedef int NAME(few_bits);
#define CONVERT(v, type) ((type)(v))
#define EITHER(condition, yes, no) ((condition) ? (yes) : (no))
#define EITHER_OF_SOME EITHER
#endif

/* Some values of one column, as the weights are. */
#define V NAME(values)
#define SPAN ((ptrdiff_t)(sizeof(V) / sizeof(REAL)))
#if BYTES
typedef REAL V __attribute__((vector_size(BYTES)));
typedef __typeof__((V){0} > (V){0}) NAME(flags);
#define PICK(condition, yes, no) ((V)CHOOSE(NAME(flags), condition, yes, no))
#else
typedef REAL V;
typedef int NAME(flags);
#define PICK EITHER
#endif

/* Lane by lane, because gcc compiles that to one instruction, and a converted vector to five. */
TARGET VEC_INLINE D NAME(get)(const REAL *from)
{
#if BYTES == 32
    return (D){from[0], from[1], from[2], from[3]};
#elif BYTES == 16
    return (D){from[0], from[1]};
#else
    return from[0];
#endif
}

TARGET VEC_INLINE SOME NAME(pick)(const REAL *from)
{
    SOME v;
    memcpy(&v, from, sizeof v);
    return v;
}

TARGET VEC_INLINE void NAME(put)(REAL *to, D value)
{
    SOME v = CONVERT(value, SOME);
    memcpy(to, &v, sizeof v);
}

/* Add to weights. A step is limited for numbers in double precision, so that others are clipped to what a REAL holds. */
TARGET VEC_INLINE void NAME(rise)(REAL *to, D value)
{
    SOME v = NAME(pick)(to) + CONVERT(value, SOME);
    if (sizeof(REAL) < sizeof(double)) {
        const SOME none = {0}, most = none + (REAL)FLT_MAX, least = none - (REAL)FLT_MAX;
        v = EITHER_OF_SOME(v > most, most, EITHER_OF_SOME(v < least, least, v));
    }
    memcpy(to, &v, sizeof v);
}

TARGET VEC_INLINE void NAME(rise_one)(REAL *to, double value)
{
    const REAL v = *to + (REAL)value, most = (REAL)FLT_MAX;
    *to = sizeof(REAL) == sizeof(double) || (-most <= v && v <= most) ? v : v > 0 ? most : -most;
}

TARGET VEC_INLINE D NAME(recall)(const double *from)
{
    D v;
    memcpy(&v, from, sizeof v);
    return v;
}

TARGET VEC_INLINE D NAME(roots)(D v)
{
    double lane[ROOM];
    memcpy(lane, &v, sizeof v);
    VEC_UNROLL
    for (ptrdiff_t l = 0; l < LANES; l++)
        lane[l] = sqrt(lane[l]);
    memcpy(&v, lane, sizeof v);
    return v;
}

TARGET VEC_INLINE V NAME(load)(const REAL *from)
{
    V v;
    memcpy(&v, from, sizeof v);
    return v;
}

TARGET VEC_INLINE void NAME(store)(REAL *to, V v)
{
    memcpy(to, &v, sizeof v);
}

TARGET VEC_INLINE double NAME(sum)(V v)
{
    REAL lane[sizeof(V) / sizeof(REAL)];
    double total = 0;
    memcpy(lane, &v, sizeof v);
    for (ptrdiff_t l = 0; l < SPAN; l++)
        total += lane[l];
    return total;
}

TARGET VEC_INLINE V NAME(square_roots)(V v)
{
    REAL lane[sizeof(V) / sizeof(REAL)];
    memcpy(lane, &v, sizeof v);
    VEC_UNROLL
    for (ptrdiff_t l = 0; l < SPAN; l++)
        lane[l] = sizeof(REAL) == sizeof(float) ? sqrtf((float)lane[l]) : sqrt(lane[l]);
    memcpy(&v, lane, sizeof v);
    return v;
}

TARGET VEC_INLINE V NAME(reaches)(const REAL *s, ptrdiff_t k, V value)
{
    V size = PICK(value < 0, -value, value), seen = size;
    if (!s)
        return 0 * size + 1;
    seen = NAME(load)(s + k);
    return PICK(seen > size, seen, size);
}

/* Whether the values of a column lie next to each other, as those of the row do, and their moves have numbers that a
   REAL holds. Otherwise one value at a time is worked out in double. */
TARGET VEC_INLINE int NAME(is_dense)(const Row *x, const Weights *w, double a)
{
    if (x->indices || w->stride != 1)
        return 0;
    return sizeof(REAL) == sizeof(double) || (x->squared_norm < 1e24 && fabs(a) > 1e-24 && fabs(a) < 1e24);
}

/* Whether all numbers of `is_dense` columns with roots are within the range of a REAL, and so are their squares. */
TARGET VEC_INLINE int NAME(in_range)(const Row *x, const REAL *H, const REAL *s, double slope)
{
    const REAL *v = x->values, g = (REAL)slope;
    const V none = {0}, one = none + 1;
    V outside = none;
    if (sizeof(REAL) == sizeof(double))
        return 1;
    for (ptrdiff_t k = 0; k + SPAN <= x->n; k += SPAN) {
        V value = NAME(load)(v + k), old = NAME(load)(H + k), m = NAME(reaches)(s, k, value);
        V square = old * old + (g * value) * (g * value);
        V far = PICK((square < (REAL)1e-20) | (square > (REAL)1e30) | (m < (REAL)1e-12) | (m > (REAL)1e12), one, none);
        outside += PICK(value != 0, far, none);
    }
    return NAME(sum)(outside) == 0;
}

TARGET static double NAME(root_length)(const Row *x, const Weights *h, ptrdiff_t c, const void *scales)
{
    const REAL *v = x->values, *H = NAME(column)(h, c), *s = scales;
    const V none = {0}, endless = none + (REAL)INFINITY;
    V sum = none;
    ptrdiff_t k = 0;
    if (NAME(is_dense)(x, h, 1) && NAME(in_range)(x, H, s, 1))
        for (; k + SPAN <= x->n; k += SPAN) {
            V value = NAME(load)(v + k), old = NAME(load)(H + k), root = NAME(square_roots)(old * old + value * value);
            V size = NAME(reaches)(s, k, value) * root;
            sum += value * (value / PICK(size > (REAL)1e-300, size, endless));
        }
    double total = NAME(sum)(sum);
    for (; k < x->n; k++) {
        double value = v[k], old = H[NAME(place)(x, k, h->stride)];
        NAME(fetch)(x, k + VEC_AHEAD, H, h->stride);
        total += value * (value * NAME(rate)(NAME(reach)(x, k, scales, value), sqrt(old * old + value * value)));
    }
    return total;
}

TARGET static void NAME(root_move)(const Row *x, const Weights *w, const Weights *h, ptrdiff_t c, const void *scales,
                                   double a, double g)
{
    const REAL *v = x->values;
    REAL *W = NAME(column)(w, c), *H = NAME(column)(h, c);
    const V none = {0}, endless = none + (REAL)INFINITY;
    ptrdiff_t k = 0;
    if (NAME(is_dense)(x, w, a) && NAME(in_range)(x, H, scales, g))
        for (; k + SPAN <= x->n; k += SPAN) {
            V value = NAME(load)(v + k), old = NAME(load)(H + k), slope = (REAL)g * value;
            V root = PICK(value != 0, NAME(square_roots)(old * old + slope * slope), old);
            NAME(store)(H + k, root);
            V size = NAME(reaches)(scales, k, value) * root, rate = value / PICK(size > (REAL)1e-300, size, endless);
            NAME(store)(W + k, NAME(load)(W + k) + (REAL)a * rate);
        }
    for (; k < x->n; k++) {
        ptrdiff_t j = NAME(place)(x, k, w->stride);
        double value = v[k], slope = g * value, old = H[j], root = sqrt(old * old + slope * slope);
        H[j] = (REAL)root;
        NAME(rise_one)(W + j, a * (value * NAME(rate)(NAME(reach)(x, k, scales, value), root)));
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
        NAME(rise_one)(L + j, a * (value * NAME(rate)(NAME(reach)(x, k, scales, value), H[j])));
    }
}

TARGET static double NAME(variance)(const Row *x, const Weights *variances, ptrdiff_t c)
{
    const REAL *v = x->values, *variance = NAME(column)(variances, c);
    double chain[4] = {0, 0, 0, 0}, total;
    V sum[2] = {{0}};
    ptrdiff_t k = 0;
    if (NAME(is_dense)(x, variances, 1)) {
        for (; k + 2 * SPAN <= x->n; k += 2 * SPAN)
            VEC_UNROLL
            for (int u = 0; u < 2; u++) {
                V value = NAME(load)(v + k + u * SPAN);
                sum[u] += value * value * NAME(load)(variance + k + u * SPAN);
            }
        total = NAME(sum)(sum[0] + sum[1]);
        if (sizeof(REAL) == sizeof(double) || (total > 1e-20 && total < 1e30))
            chain[0] = total;
        else
            k = 0; /* squares overflow a REAL */
    }
    for (; k + 4 <= x->n; k += 4)
        VEC_UNROLL
        for (int u = 0; u < 4; u++) {
            double value = v[k + u];
            NAME(fetch)(x, k + u + VEC_AHEAD, variance, variances->stride);
            chain[u] += value * value * variance[NAME(place)(x, k + u, variances->stride)];
        }
    for (; k < x->n; k++)
        chain[0] += (double)v[k] * v[k] * variance[NAME(place)(x, k, variances->stride)];
    return (chain[0] + chain[1]) + (chain[2] + chain[3]);
}

TARGET static void NAME(variance_move)(const Row *x, const Weights *w, const Weights *variances, ptrdiff_t c, double a,
                                       const double *rates)
{
    const REAL *v = x->values;
    REAL *W = NAME(column)(w, c), *variance = NAME(column)(variances, c);
    const double beta = rates[0], growth = rates[1];
    const V none = {0}, least = none + (REAL)METRIC_LEAST, most = none + 1, grown = none + (REAL)growth;
    ptrdiff_t k = 0;
    if (NAME(is_dense)(x, w, a) && (sizeof(REAL) == sizeof(double) || beta < 1e15))
        for (; k + SPAN <= x->n; k += SPAN) {
            V value = NAME(load)(v + k), old = NAME(load)(variance + k), step = old * value;
            V left = PICK(value != 0, grown, most) * (old - (REAL)beta * (step * step));
            left = PICK(left > most, most, left);
            NAME(store)(W + k, NAME(load)(W + k) + (REAL)a * step);
            NAME(store)(variance + k, PICK(left < least, least, left));
        }
    for (; k < x->n; k++) {
        ptrdiff_t j = NAME(place)(x, k, w->stride);
        double value = v[k], old = variance[j], step = old * value;
        double left = (value != 0 ? growth : 1) * (old - beta * (step * step)); /* a zero changes nothing */
        W[j] += (REAL)(a * step);
        variance[j] = (REAL)(left > 1 ? 1 : left < METRIC_LEAST ? METRIC_LEAST : left);
    }
}

TARGET static void NAME(variance_add)(const Row *x, const Weights *l, const Weights *variances, ptrdiff_t c, double a)
{
    const REAL *v = x->values, *variance = NAME(column)(variances, c);
    REAL *L = NAME(column)(l, c);
    for (ptrdiff_t k = 0; k < x->n; k++) {
        ptrdiff_t j = NAME(place)(x, k, l->stride);
        L[j] += (REAL)(a * ((double)variance[j] * v[k]));
    }
}

TARGET static double NAME(extend)(const Row *x, void *scales)
{
    const REAL *v = x->values;
    REAL *s = scales, lane[ROOM];
    double part[ROOM], total = 0;
    const D none = {0};
    D sum = none;
    ptrdiff_t k = 0;
    for (; k + LANES <= x->n; k += LANES) {
        VEC_UNROLL
        for (ptrdiff_t l = 0; l < LANES; l++) {
            NAME(fetch)(x, k + l + VEC_AHEAD, s, 1);
            lane[l] = s[NAME(place)(x, k + l, 1)];
        }
        D value = NAME(get)(v + k), size = EITHER(value < 0, -value, value), seen = NAME(get)(lane);
        D m = EITHER(seen > size, seen, size), ratio = value / m;
        sum += EITHER(m > 0, ratio * ratio, none);
        NAME(put)(lane, m);
        VEC_UNROLL
        for (ptrdiff_t l = 0; l < LANES; l++)
            s[NAME(place)(x, k + l, 1)] = lane[l];
    }
    memcpy(part, &sum, sizeof sum);
    for (ptrdiff_t l = 0; l < LANES; l++)
        total += part[l];
    for (; k < x->n; k++) {
        double value = v[k], m = NAME(reach)(x, k, s, value);
        s[NAME(place)(x, k, 1)] = (REAL)m;
        total += m > 0 ? (value / m) * (value / m) : 0;
    }
    return total;
}

/* A vector of columns with roots, from c on, summed like one column in `root_length`. While roots and quotients are
   computed, memory is idle: prefetch what the next row needs. */
TARGET VEC_INLINE D NAME(root_lengths)(const int sparse, const Row *x, const Kinds *kinds, const Weights *metric,
                                       ptrdiff_t c, D g, const REAL *s, const Kept *kept)
{
    Row row = *x; /* a local copy, which no store can alias */
    row.indices = sparse ? row.indices : NULL;
    const REAL *v = row.values, *M = (const REAL *)metric->W + c;
    const ptrdiff_t stride = metric->stride;
    double by_scale[ROOM], *rates = kept->rates + c * row.n;
    REAL *roots = (REAL *)kept->roots + c * row.n;
    for (ptrdiff_t l = 0; l < LANES; l++)
        by_scale[l] = c + l >= kinds->roots - kinds->scaled;
    const D scaled = NAME(recall)(by_scale), plain = 1 - scaled, none = {0};
    D total = none;
    for (ptrdiff_t k = 0; k < row.n; k++) {
        NAME(fetch)(&row, k + row.n, M, stride);
        if (s)
            NAME(fetch)(&row, k + row.n, s, 1);
        const double value = v[k];
        D old = NAME(get)(M + NAME(place)(&row, k, stride)), slope = g * value, h = NAME(roots)(old * old + slope * slope);
        D mh = (plain + scaled * NAME(reach)(&row, k, s, value)) * h;
        D rate = EITHER(mh > METRIC_LEAST_PRODUCT(REAL), 1 / mh, none);
        total += value * (value * rate);
        memcpy(rates + k * LANES, &rate, sizeof rate);
        NAME(put)(roots + k * LANES, h);
    }
    return total;
}

/* A vector of columns with variances, from c on, summed like one column in `variance`. */
TARGET VEC_INLINE D NAME(variances)(const Row *x, const Weights *metric, ptrdiff_t c)
{
    const REAL *v = x->values, *M = (const REAL *)metric->W + c;
    D chain[4] = {{0}};
    ptrdiff_t k = 0;
    for (; k + 4 <= x->n; k += 4)
        VEC_UNROLL
        for (int u = 0; u < 4; u++) {
            double value = v[k + u];
            chain[u] += value * value * NAME(get)(M + NAME(place)(x, k + u, metric->stride));
        }
    for (; k < x->n; k++)
        chain[0] += (double)v[k] * v[k] * NAME(get)(M + NAME(place)(x, k, metric->stride));
    return (chain[0] + chain[1]) + (chain[2] + chain[3]);
}

/* Whether a column of a vector, from c on, that is among those from `first` up to `stop` has a number other than 0; the
   numbers of these columns. */
TARGET VEC_INLINE int NAME(chosen)(const double *numbers, ptrdiff_t c, ptrdiff_t first, ptrdiff_t stop, D *some)
{
    const double in_order[4] = {0, 1, 2, 3};
    const D all = NAME(recall)(numbers + c), at = NAME(recall)(in_order) + (double)c, none = {0};
    int64_t lane[ROOM], any = 0;
    *some = EITHER((at >= (double)first) & (at < (double)stop), all, none);
    memcpy(lane, some, sizeof lane);
    VEC_UNROLL
    for (ptrdiff_t l = 0; l < LANES; l++)
        any |= lane[l];
    return any != 0;
}

/* Return where a vector begins that has column c and the next ones: there, or earlier if it would end beyond the padding. */
TARGET VEC_INLINE ptrdiff_t NAME(within)(ptrdiff_t c, const Kinds *kinds)
{
    const ptrdiff_t last = vec_padded(kinds->columns, sizeof(REAL)) - LANES;
    return c < last ? c : last;
}

/* Where both kinds of columns share a vector, the roots are written last. */
TARGET static void NAME(lengths)(const Row *x, const Kinds *kinds, const double *slopes, const Weights *metric,
                                 const void *scales, const Kept *kept, double *q)
{
    const ptrdiff_t roots = kinds->roots;
    D g;
    for (ptrdiff_t c = roots; c < kinds->columns; c += LANES) {
        const ptrdiff_t at = NAME(within)(c, kinds);
        if (NAME(chosen)(slopes, at, c, kinds->columns, &g)) {
            const D some = NAME(variances)(x, metric, at);
            memcpy(q + at, &some, sizeof some);
        }
    }
    for (ptrdiff_t c = 0; c < roots; c += LANES)
        if (NAME(chosen)(slopes, c, 0, roots, &g)) {
            const D some = x->indices ? NAME(root_lengths)(1, x, kinds, metric, c, g, scales, kept)
                                      : NAME(root_lengths)(0, x, kinds, metric, c, g, scales, kept);
            memcpy(q + c, &some, (roots - c < LANES ? roots - c : LANES) * sizeof(double));
        }
}

TARGET VEC_INLINE void NAME(root_moves)(const int sparse, const Row *x, const Weights *w, const Weights *metric,
                                        ptrdiff_t c, D a, const Kept *kept)
{
    Row row = *x; /* a local copy, which no store can alias */
    row.indices = sparse ? row.indices : NULL;
    const REAL *v = row.values, *roots = (const REAL *)kept->roots + c * row.n;
    const double *rates = kept->rates + c * row.n;
    const ptrdiff_t stride = w->stride;
    REAL *W = (REAL *)w->W + c, *M = (REAL *)metric->W + c;
    const NAME(few_bits) moving = CONVERT(a != 0, NAME(few_bits));
    const D none = {0};
    for (ptrdiff_t k = 0; k < row.n; k++) {
        const ptrdiff_t j = NAME(place)(&row, k, stride);
        if (v[k] == 0)
            continue; /* a zero changes nothing */
        SOME h = EITHER_OF_SOME(moving, NAME(pick)(roots + k * LANES), NAME(pick)(M + j));
        const D rate = EITHER(a != 0, NAME(recall)(rates + k * LANES), none); /* times v it may be infinite */
        NAME(rise)(W + j, a * ((double)v[k] * rate));
        memcpy(M + j, &h, sizeof h);
    }
}

TARGET VEC_INLINE void NAME(variance_moves)(const int sparse, const Row *x, const Weights *w, const Weights *metric,
                                            ptrdiff_t c, D a, const Moves *by)
{
    Row row = *x; /* a local copy, which no store can alias */
    row.indices = sparse ? row.indices : NULL;
    const REAL *v = row.values;
    const ptrdiff_t stride = w->stride;
    REAL *W = (REAL *)w->W + c, *M = (REAL *)metric->W + c;
    const D beta = NAME(recall)(by->beta + c), growth = NAME(recall)(by->growth + c);
    const D least = 0 * a + METRIC_LEAST, most = 0 * a + 1;
    for (ptrdiff_t k = 0; k < row.n; k++) {
        const ptrdiff_t j = NAME(place)(&row, k, stride);
        if (v[k] == 0)
            continue;
        D old = NAME(get)(M + j), step = old * (double)v[k], left = growth * (old - beta * (step * step));
        left = EITHER(left > most, most, EITHER(left < least, least, left));
        NAME(rise)(W + j, a * step);
        NAME(put)(M + j, EITHER(a != 0, left, old));
    }
}

TARGET static void NAME(moves)(const Row *x, const Kinds *kinds, const Weights *w, const Weights *metric,
                               const Kept *kept, const Moves *by)
{
    const ptrdiff_t roots = kinds->roots, columns = kinds->columns;
    D a;
    for (ptrdiff_t c = 0; c < roots; c += LANES) {
        if (!NAME(chosen)(by->a, c, 0, roots, &a))
            continue;
        if (x->indices)
            NAME(root_moves)(1, x, w, metric, c, a, kept);
        else
            NAME(root_moves)(0, x, w, metric, c, a, kept);
    }
    for (ptrdiff_t c = roots; c < columns; c += LANES) {
        const ptrdiff_t at = NAME(within)(c, kinds);
        if (!NAME(chosen)(by->a, at, c, columns, &a))
            continue;
        if (x->indices)
            NAME(variance_moves)(1, x, w, metric, at, a, by);
        else
            NAME(variance_moves)(0, x, w, metric, at, a, by);
    }
}

TARGET static void NAME(standardize)(const void *row, ptrdiff_t n, const double *m, const double *v, double rows,
                                     void *out)
{
    const REAL *x = row;
    REAL *to = out;
    const double part = 1 / (rows > 1 ? rows : 1), far = sqrt(rows);
    const D most = far - (D){0}, least = METRIC_SMALLEST_SPREAD - (D){0};
    ptrdiff_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        const D sum = NAME(recall)(v + j), spread = EITHER(sum > least, sum, least);
        D z = (NAME(get)(x + j) - NAME(recall)(m + j)) / NAME(roots)(spread * part);
        z = EITHER(z < most, z, most);
        NAME(put)(to + j, EITHER(z > -most, z, -most));
    }
    for (; j < n; j++) {
        const double spread = v[j] > METRIC_SMALLEST_SPREAD ? v[j] : METRIC_SMALLEST_SPREAD;
        double z = (x[j] - m[j]) / sqrt(spread * part);
        z = z < far ? z : far;
        to[j] = (REAL)(z > -far ? z : -far);
    }
}

static const Metric NAME(metrics) = {
    NAME(root_length),  NAME(root_move), NAME(root_add), NAME(extend),      NAME(variance), NAME(variance_move),
    NAME(variance_add), NAME(lengths),   NAME(moves),    NAME(standardize),
};

#undef PICK
#undef SPAN
#undef V
#undef EITHER_OF_SOME
#undef EITHER
#undef CHOOSE
#undef CONVERT
#undef LANES
#undef ROOM
#undef SOME
#undef D
#undef NAME
