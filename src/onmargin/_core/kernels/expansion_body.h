/* The primitives of expansion.h for one REAL (float or double) and one compiler TARGET. Included several times. */
#define NAME(f) VEC_PASTE(f, REAL, WIDTH)

#if BYTES
#define LANES ((ptrdiff_t)(BYTES / sizeof(double)))
typedef double NAME(some) __attribute__((vector_size(BYTES)));
#else
#define LANES ((ptrdiff_t)1)
typedef double NAME(some);
#endif
#define SOME NAME(some)

/* Numbers that are raised to a power together. */
#define GROUP 64
/* Sums of squares that grow independently, in several vectors. */
#define CHAINS 16
/* The size of a tile of kernel values: supports by vectors of rows. */
#define SUPPORTS 64
#define VECTORS 8

/* By squaring: degree 5 is 101 in bits, and x^5 = (x^2)^2 x. */
TARGET VEC_INLINE void NAME(raise)(REAL *restrict values, const ptrdiff_t n, REAL gamma, REAL coef0, ptrdiff_t degree)
{
    ptrdiff_t bit = 1;
    REAL base[GROUP], power[GROUP];
    while (bit <= degree / 2)
        bit *= 2;
    for (ptrdiff_t i = 0; i < n; i++)
        power[i] = base[i] = gamma * values[i] + coef0;
    while (bit /= 2) {
        for (ptrdiff_t i = 0; i < n; i++)
            power[i] *= power[i];
        if (degree & bit)
            for (ptrdiff_t i = 0; i < n; i++)
                power[i] *= base[i];
    }
    memcpy(values, power, n * sizeof(REAL));
}

TARGET static void NAME(polynomial)(void *all, ptrdiff_t n, double gamma, double coef0, ptrdiff_t degree)
{
    REAL *values = all;
    for (; n >= GROUP; n -= GROUP, values += GROUP)
        NAME(raise)(values, GROUP, (REAL)gamma, (REAL)coef0, degree);
    NAME(raise)(values, n, (REAL)gamma, (REAL)coef0, degree);
}

TARGET static void NAME(squared_norms)(const void *rows, ptrdiff_t n_rows, ptrdiff_t n, double *norms)
{
    const REAL *v = rows;
    for (ptrdiff_t i = 0; i < n_rows; i++, v += n) {
        double square[CHAINS] = {0}, total = 0;
        ptrdiff_t k = 0;
        for (; k + CHAINS <= n; k += CHAINS)
            VEC_UNROLL
            for (int u = 0; u < CHAINS; u++)
                square[u] += (double)v[k + u] * v[k + u];
        for (; k < n; k++)
            total += (double)v[k] * v[k];
        for (int u = 0; u < CHAINS; u++)
            total += square[u];
        norms[i] = total;
    }
}

/* Skips coefficients of zero: most steps change two columns of many. */
TARGET static void NAME(expand_sparse)(const REAL *values, ptrdiff_t n, const double *coef, ptrdiff_t stride,
                                       ptrdiff_t supports, ptrdiff_t columns, double *sums)
{
    for (ptrdiff_t k = 0; k < supports; k++) {
        const REAL *restrict v = values + k * n;
        for (ptrdiff_t c = 0; c < columns; c++) {
            const double a = coef[k * stride + c];
            double *restrict sum = sums + c * n;
            if (a != 0)
                for (ptrdiff_t i = 0; i < n; i++)
                    sum[i] += a * v[i];
        }
    }
}

/* A tile of values, in double precision, stays in cache for all columns, whose sums are in registers. */
TARGET static void NAME(expand_dense)(const REAL *values, ptrdiff_t n, const double *coef, ptrdiff_t stride,
                                      ptrdiff_t supports, ptrdiff_t columns, double *sums)
{
    SOME tile[SUPPORTS][VECTORS];
    for (ptrdiff_t row = 0; row < n; row += VECTORS * LANES)
        for (ptrdiff_t first = 0; first < supports; first += SUPPORTS) {
            const ptrdiff_t height = supports - first < SUPPORTS ? supports - first : SUPPORTS;
            const ptrdiff_t width = n - row < VECTORS * LANES ? n - row : VECTORS * LANES;
            memset(tile, 0, sizeof tile);
            for (ptrdiff_t k = 0; k < height; k++)
                for (ptrdiff_t i = 0; i < width; i++)
                    ((double *)tile[k])[i] = values[(first + k) * n + row + i];
            for (ptrdiff_t c = 0; c < columns; c++) {
                SOME sum[VECTORS] = {{0}};
                memcpy(sum, sums + c * n + row, width * sizeof(double));
                for (ptrdiff_t k = 0; k < height; k++)
                    VEC_UNROLL
                    for (int u = 0; u < VECTORS; u++)
                        sum[u] += coef[(first + k) * stride + c] * tile[k][u];
                memcpy(sums + c * n + row, sum, width * sizeof(double));
            }
        }
}

/* The sums of one row are contiguous, as the coefficients of a support are. */
TARGET static void NAME(expand_row)(const REAL *values, const double *restrict coef, ptrdiff_t stride,
                                    ptrdiff_t supports, ptrdiff_t columns, double *restrict sums)
{
    for (ptrdiff_t k = 0; k < supports; k++)
        for (ptrdiff_t c = 0; c < columns; c++)
            sums[c] += coef[k * stride + c] * values[k];
}

TARGET static void NAME(expand)(const void *values, ptrdiff_t n, const double *coef, ptrdiff_t stride,
                                ptrdiff_t supports, ptrdiff_t columns, double *sums)
{
    ptrdiff_t used = 0;
    for (ptrdiff_t i = 0; i < supports * stride; i++)
        used += coef[i] != 0;
    if (n == 1)
        NAME(expand_row)(values, coef, stride, supports, columns, sums);
    else if (columns > 2 && supports > 4 && 2 * used > supports * columns)
        NAME(expand_dense)(values, n, coef, stride, supports, columns, sums);
    else
        NAME(expand_sparse)(values, n, coef, stride, supports, columns, sums);
}

static const Expansions NAME(expansions) = {NAME(polynomial), NAME(squared_norms), NAME(expand)};

#undef VECTORS
#undef SUPPORTS
#undef CHAINS
#undef GROUP
#undef SOME
#undef LANES
#undef NAME
