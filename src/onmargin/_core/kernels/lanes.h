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

/* ln x for x between DBL_MIN and 1: n ln 2 + ln m with m between sqrt(1/2) and sqrt(2), and ln m = 2 artanh s by its
   series in s = (m - 1) / (m + 1), whose next term is 4e-20. */
TARGET VEC_INLINE V NAME(logarithm)(V x)
{
    static const double series[] = {
        2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0,
    };
    const int64_t root_of_half = 0x3fe6a09e667f3bcd; /* as bits */
    const double shift = 0x1p52;                     /* its last bits are an integer */
    I bits, power;
    V m, n, sum = NAME(all)(series[0]);
    memcpy(&bits, &x, sizeof bits);
    power = (bits - root_of_half + ((int64_t)1023 << 52)) >> 52; /* n + 1023, not negative */
    bits -= (power - 1023) << 52;
    memcpy(&m, &bits, sizeof m);
    power |= (int64_t)0x433 << 52;
    memcpy(&n, &power, sizeof n);
    n = n - shift - 1023;
    const V s = (m - 1) / (m + 1), square = s * s;
    VEC_UNROLL
    for (int i = 1; i < 12; i++)
        sum = sum * square + series[i];
    return n * 0x1.62e42fefa0000p-1 + (n * 0x1.cf79abc9e3b3ap-40 + s * sum);
}

TARGET VEC_INLINE double NAME(added)(V v)
{
    double lane[sizeof(V) / sizeof(double)], total = 0;
    memcpy(lane, &v, sizeof v);
    for (ptrdiff_t l = 0; l < LANES; l++)
        total += lane[l];
    return total;
}
