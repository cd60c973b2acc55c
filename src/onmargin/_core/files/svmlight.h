/* A fast path for svmlight features as nearly all of them are written: `12:0.25 13:-1 17:3.5`.
 *
 * That is one blank between them, indices of eight digits at most, and values without an exponent, of at most seven
 * digits before the point and 19 in all. Such features are read without a branch on the sign and almost none on how
 * many digits there are; any other feature is left to the general code.
 */
#ifndef ONMARGIN_SVMLIGHT_H
#define ONMARGIN_SVMLIGHT_H

#include "decimal.h"

enum {
    PLAIN_LENGTH = 64, /* more than the characters of a plain feature, and of what is read behind it */
    PLAIN_BEFORE = 16  /* characters before it that are read too */
};

static inline const char *skip_blanks(const char *p) {
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* Whether a character ends a number. */
static inline int parts(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#';
}

/* Return how many of eight characters are leading digits; `digits` gets those, with zeros before them. */
static inline int leading_digits(const char *p, uint64_t *digits) {
    uint64_t v = load_eight(p), others = other_bytes(v);
    int n = others ? trailing_zeros(others) >> 3 : 8;
    v -= 0x3030303030303030;
    *digits = eight_digits(n ? v << (64 - 8 * n) : 0);
    return n;
}

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>

/* Return the number whose n digits, at most sixteen, end at `end`: pairs, then fours, then eights. */
static inline uint64_t last_digits(const char *end, int n) {
    static const unsigned char kept[32] = {[16] = 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                           0xFF,        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(end - 16)), _mm_set1_epi8('0')), tens;
    uint64_t eights;
    v = _mm_and_si128(v, _mm_loadu_si128((const __m128i *)(kept + n)));
    tens = _mm_mullo_epi16(_mm_and_si128(v, _mm_set1_epi16(0xFF)), _mm_set1_epi16(10));
    v = _mm_add_epi16(tens, _mm_srli_epi16(v, 8));
    v = _mm_madd_epi16(v, _mm_set1_epi32(100 | 1 << 16));
    v = _mm_madd_epi16(_mm_packs_epi32(v, v), _mm_set1_epi32(10000 | 1 << 16));
    eights = (uint64_t)_mm_cvtsi128_si64(v);
    return (eights & 0xFFFFFFFF) * 100000000 + (eights >> 32);
}

/* Append the digits from p on, at most 24, to m; return their number. */
static inline int append_digits(const char *p, uint64_t *m) {
    __m128i v = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
    __m128i others = _mm_cmpeq_epi8(_mm_max_epu8(v, _mm_set1_epi8(10)), v);
    int n = trailing_zeros((uint64_t)_mm_movemask_epi8(others) | 0x10000), more;
    uint64_t digits;
    *m = *m * decimal_powers[n] + last_digits(p + n, n);
    if (n < 16) return n;
    more = leading_digits(p + n, &digits);
    *m = *m * decimal_powers[more] + digits;
    return n + more;
}
#else
static inline int append_digits(const char *p, uint64_t *m) {
    return (int)(decimal_digits(p, p + 24, m) - p);
}
#endif

/* Read the value at p and return the character behind it; return p if it is not a plain value. */
static inline const char *plain_value(const char *p, double *value) {
    const char *start = p;
    uint64_t negative = *p == '-', m, bits;
    int n, decimals = 0;
    p += negative;
    if (p[1] == '.' && is_digit(*p)) {
        m = (uint64_t)(*p - '0');
        n = 1;
    } else {
        n = leading_digits(p, &m);
    }
    p += n;
    if (n == 0 || n == 8) return start;
    if (*p == '.') {
        decimals = append_digits(p + 1, &m);
        p += 1 + decimals;
    }
    if (n + decimals > 19) return start;
    if (m <= (uint64_t)1 << 53)
        *value = (double)m / decimal_tens[decimals];
    else if (!decimal_round(m, -decimals, value))
        return start;
    memcpy(&bits, value, 8);
    bits |= negative << 63;
    memcpy(value, &bits, 8);
    return p;
}

/* Read the plain features from p on, whose indices increase from *last and are below `limit`, and return where
 * others, or the end of the line, begin. `first` is the index of the first feature. */
static inline const char *plain_features(const char *p, const char *end, int64_t first, int64_t limit, int64_t *last,
                                         int32_t *indices, double *values, ptrdiff_t *n_values) {
    const char *q;
    ptrdiff_t k = *n_values;
    uint64_t digits;
    while (end - p >= PLAIN_LENGTH) {
        int n = leading_digits(p, &digits);
        int64_t index = (int64_t)digits - first;
        if (n == 0 || p[n] != ':' || index <= *last || index >= limit) break;
        q = plain_value(p + n + 1, &values[k]);
        if (q == p + n + 1 || (*q != ' ' && *q != '\n')) break;
        *last = indices[k++] = (int32_t)index;
        p = q;
        if (*p == '\n') break;
        p++;
    }
    *n_values = k;
    return p;
}

#endif
