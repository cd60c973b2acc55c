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

/* Row by row: a number A_ij beyond the diagonal counts for out_i, as A_ij x_j, and for out_j, as A_ij x_i. Two rows at
a
   time share the loads of x and out. Vectors begin at multiples of LANES, and those at the end of a row reach into
   its padding of zeros: so a number is added up in an order that does not depend on how many zeros come after it. */
TARGET static void NAME(product)(const void *matrix, ptrdiff_t n, ptrdiff_t stride, const void *vector, void *result)
{
    const REAL *restrict x = vector;
    REAL *restrict out = result;
    const ptrdiff_t end = NAME(aligned)(n);
    memset(out, 0, stride * sizeof(REAL));
    for (ptrdiff_t i = 0; i < n; i += 2) {
        const REAL *restrict A = (const REAL *)matrix + i * stride, *restrict B = A + stride;
        const REAL a = x[i], b = x[i + 1];
        SOME first = {0}, second = {0};
        REAL one = A[i] * a + A[i + 1] * b, two = A[i + 1] * a + B[i + 1] * b;
        ptrdiff_t j = i + 2;
        for (; j < NAME(aligned)(i + 2); j++) {
            out[j] += A[j] * a + B[j] * b;
            one += A[j] * x[j];
            two += B[j] * x[j];
        }
        for (; j < end; j += LANES) {
            const SOME v = NAME(get)(A + j), w = NAME(get)(B + j), y = NAME(get)(x + j);
            NAME(put)(out + j, NAME(get)(out + j) + v * a + w * b);
            first += v * y;
            second += w * y;
        }
        out[i] += one + NAME(sum)(first);
        out[i + 1] += two + NAME(sum)(second);
    }
}

/* Two rows at a time share the loads of u; vectors are as in `product`. */
TARGET static void NAME(update)(void *matrix, ptrdiff_t n, ptrdiff_t stride, const void *vector, double scale)
{
    const REAL *restrict u = vector;
    const ptrdiff_t end = NAME(aligned)(n);
    for (ptrdiff_t i = 0; i < n; i += 2) {
        REAL *restrict A = (REAL *)matrix + i * stride, *restrict B = A + stride;
        const REAL a = (REAL)(scale * u[i]), b = (REAL)(scale * u[i + 1]);
        A[i] += a * u[i];
        A[i + 1] += a * u[i + 1];
        B[i + 1] += b * u[i + 1];
        ptrdiff_t j = i + 2;
        for (; j < NAME(aligned)(i + 2); j++) {
            A[j] += a * u[j];
            B[j] += b * u[j];
        }
        for (; j < end; j += LANES) {
            const SOME y = NAME(get)(u + j);
            NAME(put)(A + j, NAME(get)(A + j) + y * a);
            NAME(put)(B + j, NAME(get)(B + j) + y * b);
        }
    }
}

/* `update` and then `product`, in one pass over the matrix, with the same result to the last bit. */
TARGET static void NAME(advance)(void *matrix, ptrdiff_t n, ptrdiff_t stride, const void *change, double scale,
                                 const void *vector, void *result)
{
    const REAL *restrict u = change, *restrict x = vector;
    REAL *restrict out = result;
    const ptrdiff_t end = NAME(aligned)(n);
    memset(out, 0, stride * sizeof(REAL));
    for (ptrdiff_t i = 0; i < n; i += 2) {
        REAL *restrict A = (REAL *)matrix + i * stride, *restrict B = A + stride;
        const REAL p = (REAL)(scale * u[i]), q = (REAL)(scale * u[i + 1]), a = x[i], b = x[i + 1];
        A[i] += p * u[i];
        A[i + 1] += p * u[i + 1];
        B[i + 1] += q * u[i + 1];
        SOME first = {0}, second = {0};
        REAL one = A[i] * a + A[i + 1] * b, two = A[i + 1] * a + B[i + 1] * b;
        ptrdiff_t j = i + 2;
        for (; j < NAME(aligned)(i + 2); j++) {
            A[j] += p * u[j];
            B[j] += q * u[j];
            out[j] += A[j] * a + B[j] * b;
            one += A[j] * x[j];
            two += B[j] * x[j];
        }
        for (; j < end; j += LANES) {
            const SOME t = NAME(get)(u + j), y = NAME(get)(x + j);
            const SOME v = NAME(get)(A + j) + t * p, w = NAME(get)(B + j) + t * q;
            NAME(put)(A + j, v);
            NAME(put)(B + j, w);
            NAME(put)(out + j, NAME(get)(out + j) + v * a + w * b);
            first += v * y;
            second += w * y;
        }
        out[i] += one + NAME(sum)(first);
        out[i + 1] += two + NAME(sum)(second);
    }
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
