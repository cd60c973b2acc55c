/* The primitives of matrix.h for one REAL (float or double) and one compiler TARGET. Included several times. */
#define NAME(f) VEC_PASTE(f, REAL, WIDTH)

#if BYTES
#define LANES ((ptrdiff_t)(BYTES / sizeof(REAL)))
typedef REAL NAME(some) __attribute__((vector_size(BYTES)));
#else
#define LANES ((ptrdiff_t)1)
typedef REAL NAME(some);
#endif
#define SOME NAME(some)

TARGET VEC_INLINE SOME NAME(get)(const REAL *from)
{
    SOME v;
    memcpy(&v, from, sizeof v);
    return v;
}

TARGET VEC_INLINE void NAME(put)(REAL *to, SOME v)
{
    memcpy(to, &v, sizeof v);
}

TARGET VEC_INLINE REAL NAME(sum)(SOME v)
{
    REAL lane[sizeof(SOME) / sizeof(REAL)], total = 0;
    memcpy(lane, &v, sizeof v);
    for (ptrdiff_t l = 0; l < LANES; l++)
        total += lane[l];
    return total;
}

/* Return the first column from i on at which a vector begins. */
TARGET VEC_INLINE ptrdiff_t NAME(aligned)(ptrdiff_t i)
{
    return (i + LANES - 1) / LANES * LANES;
}

/* One pass over A: with `changes`, A += scale u u'; with `multiplies`, out = A x with the new A.

   Of MATRIX_ROWS rows at a time, which share the loads of u, x and out: a number A_ij beyond the diagonal counts for
   out_i, as A_ij x_j, and for out_j, as A_ij x_i. Vectors begin at multiples of LANES, and those at the end of a row reach
   into its padding of zeros: so a number is added up in an order that does not depend on how many zeros come after it. */
TARGET VEC_INLINE void NAME(sweep)(const int changes, const int multiplies, REAL *restrict matrix, ptrdiff_t n,
                                   ptrdiff_t stride, const REAL *restrict u, double scale, const REAL *restrict x,
                                   REAL *restrict out)
{
    const ptrdiff_t end = NAME(aligned)(n);
    if (multiplies)
        memset(out, 0, stride * sizeof(REAL));
    for (ptrdiff_t i = 0; i < n; i += MATRIX_ROWS) {
        REAL *A = matrix + i * stride, p[MATRIX_ROWS] = {0}, dot[MATRIX_ROWS] = {0};
        SOME dots[MATRIX_ROWS] = {{0}};
        VEC_UNROLL
        for (int k = 0; changes && k < MATRIX_ROWS; k++)
            p[k] = (REAL)(scale * u[i + k]);
        VEC_UNROLL
        for (int k = 0; k < MATRIX_ROWS; k++)
            VEC_UNROLL
            for (int l = k; l < MATRIX_ROWS; l++) {
                REAL *a = A + k * stride + i + l;
                if (changes)
                    *a += p[k] * u[i + l];
                if (multiplies)
                    dot[k] += *a * x[i + l];
                if (multiplies && l > k)
                    dot[l] += *a * x[i + k];
            }
        ptrdiff_t j = i + MATRIX_ROWS;
        for (; j < end && j % LANES; j++)
            VEC_UNROLL
            for (int k = 0; k < MATRIX_ROWS; k++) {
                REAL *a = A + k * stride + j;
                if (changes)
                    *a += p[k] * u[j];
                if (multiplies) {
                    dot[k] += *a * x[j];
                    out[j] += *a * x[i + k];
                }
            }
        for (; j < end; j += LANES) {
            const SOME t = changes ? NAME(get)(u + j) : dots[0], y = multiplies ? NAME(get)(x + j) : dots[0];
            SOME sum = multiplies ? NAME(get)(out + j) : dots[0];
            VEC_UNROLL
            for (int k = 0; k < MATRIX_ROWS; k++) {
                REAL *from = A + k * stride + j;
                SOME a = NAME(get)(from);
                if (changes) {
                    a += t * p[k];
                    NAME(put)(from, a);
                }
                if (multiplies) {
                    sum += a * x[i + k];
                    dots[k] += a * y;
                }
            }
            if (multiplies)
                NAME(put)(out + j, sum);
        }
        VEC_UNROLL
        for (int k = 0; multiplies && k < MATRIX_ROWS; k++)
            out[i + k] += dot[k] + NAME(sum)(dots[k]);
    }
}

TARGET static void NAME(product)(const void *A, ptrdiff_t n, ptrdiff_t stride, const void *x, void *out)
{
    NAME(sweep)(0, 1, (REAL *)A, n, stride, NULL, 0, x, out);
}

TARGET static void NAME(update)(void *A, ptrdiff_t n, ptrdiff_t stride, const void *u, double scale)
{
    NAME(sweep)(1, 0, A, n, stride, u, scale, NULL, NULL);
}

TARGET static void NAME(advance)(void *A, ptrdiff_t n, ptrdiff_t stride, const void *u, double scale, const void *x,
                                 void *out)
{
    NAME(sweep)(1, 1, A, n, stride, u, scale, x, out);
}

TARGET static void NAME(phases)(const Row *x, const void *all_turns, const void *shifts, ptrdiff_t n, void *result)
{
    const REAL *v = x->values;
    REAL *restrict out = result;
    memcpy(out, shifts, n * sizeof(REAL));
    for (ptrdiff_t k = 0; k < x->n; k++) {
        const REAL *restrict turns = (const REAL *)all_turns + (x->indices ? x->indices[k] : k) * n;
        const REAL value = v[k];
        for (ptrdiff_t d = 0; d < n; d++)
            out[d] += value * turns[d];
    }
}

/* With t the distance from the nearest whole turn, cos(2 pi t) = -sin(2 pi (|t| - 1/4)), whose argument is within a
   quarter turn: Taylor's series of the sine to the 13th power is exact to 1e-9. */
TARGET static void NAME(cosines)(const void *phases, ptrdiff_t n, double scale, void *result)
{
    const REAL *in = phases;
    REAL *out = result;
    const REAL big = (REAL)(sizeof(REAL) == 4 ? 12582912.0 : 6755399441055744.0); /* 1.5 * 2^23, 2^52: rounds */
    const REAL factor = (REAL)scale;
    for (ptrdiff_t d = 0; d < n; d++) {
        REAL t = in[d] - ((in[d] + big) - big);
        t = (t < 0 ? -t : t) - (REAL)0.25;
        const REAL a = t * (REAL)6.283185307179586, s = a * a;
        REAL sine = (REAL)(1.0 / 6227020800);
        sine = sine * s - (REAL)(1.0 / 39916800);
        sine = sine * s + (REAL)(1.0 / 362880);
        sine = sine * s - (REAL)(1.0 / 5040);
        sine = sine * s + (REAL)(1.0 / 120);
        sine = sine * s - (REAL)(1.0 / 6);
        out[d] = -factor * (a + a * s * sine);
    }
}

static const Matrix NAME(matrices) = {NAME(product), NAME(update), NAME(advance), NAME(phases), NAME(cosines)};

#undef SOME
#undef LANES
#undef NAME
