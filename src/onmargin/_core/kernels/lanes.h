/* Several numbers in double at a time: vectors of BYTES (0: one lane, plain C) for one compiler TARGET. PICK chooses in
   each lane. Included by bodies, which define NAME; lanes_end.h takes the macros back. */
#define V NAME(numbers)
#define I NAME(integers)
#if BYTES
#define LANES ((ptrdiff_t)(BYTES / sizeof(double)))
typedef double V __attribute__((vector_size(BYTES)));
typedef int64_t I __attribute__((vector_size(BYTES)));
#define PICK(condition, yes, no) ((V)(((I)(condition) & (I)(yes)) | (~(I)(condition) & (I)(no))))
#else
#define LANES ((ptrdiff_t)1)
typedef double V;
typedef int64_t I;
#define PICK(condition, yes, no) ((condition) ? (yes) : (no))
#endif

TARGET VEC_INLINE V NAME(get)(const double *from)
{
    V v;
    memcpy(&v, from, sizeof v);
    return v;
}

TARGET VEC_INLINE void NAME(put)(double *to, V v)
{
    memcpy(to, &v, sizeof v);
}

TARGET VEC_INLINE V NAME(all)(double value)
{
    return value - (V){0};
}

/* The larger of two numbers in each lane: b if one is NaN. */
TARGET VEC_INLINE V NAME(larger)(V a, V b)
{
    return PICK(a > b, a, b);
}

TARGET VEC_INLINE V NAME(root)(V v)
{
    double lane[sizeof(V) / sizeof(double)];
    memcpy(lane, &v, sizeof v);
    VEC_UNROLL
    for (ptrdiff_t l = 0; l < LANES; l++)
        lane[l] = sqrt(lane[l]);
    memcpy(&v, lane, sizeof v);
    return v;
}

/* e^x for x between -700 and 0: 2^n e^r with |r| <= ln(2) / 2, and e^r by its series, whose next term is 4e-18. */
TARGET VEC_INLINE V NAME(exponential)(V x)
{
    static const double series[] = {
        1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
        1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0,
    };
    const double shift = 0x1.8p52; /* added to a number, it leaves the nearest integer in the last bits */
    const V shifted = x * 0x1.71547652b82fep0 + shift, n = shifted - shift;
    const V r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40;
    V power, e = NAME(all)(series[0]);
    I bits;
    VEC_UNROLL
    for (int i = 1; i < 14; i++)
        e = e * r + series[i];
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + ((int64_t)1023 << 52);
    memcpy(&power, &bits, sizeof power);
    return e * power;
}

TARGET VEC_INLINE double NAME(added)(V v)
{
    double lane[sizeof(V) / sizeof(double)], total = 0;
    memcpy(lane, &v, sizeof v);
    for (ptrdiff_t l = 0; l < LANES; l++)
        total += lane[l];
    return total;
}
