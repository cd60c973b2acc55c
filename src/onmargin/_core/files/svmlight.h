/* A fast path for svmlight features as nearly all of them are written: `12:0.25 13:-1 17:3.5`.
 *
 * That is one blank between them, indices of eight digits at most, and values without an exponent, of at most seven
 * digits before the point (eight with AVX2) and 19 in all (18 for floats). Such features are read without a branch on
 * the sign and almost none on how many digits there are; any other feature is left to the general code.
 *
 * On x86-64 CPUs with AVX2 or AVX-512, the characters that are not digits are found first, 64 at a time, so that a
 * feature does not wait for the end of the one before it (Langdale and Lemire, "Parsing gigabytes of JSON per second",
 * 2019).
 */
#ifndef ONMARGIN_SVMLIGHT_H
#define ONMARGIN_SVMLIGHT_H

#include <stddef.h>

#include "decimal.h"

enum {
    PLAIN_LENGTH = 64,  /* more than the characters of a plain feature, and of what is read behind it */
    PLAIN_BEFORE = 32,  /* characters before it that are read too */
    MARKS_WINDOW = 4096 /* characters whose marks are found at a time */
};

/* The characters of a window of text that are not digits, as distances from `start`. */
typedef struct {
    const char *start;
    int n, next;
    uint16_t places[MARKS_WINDOW + 64]; /* up to 64 are written at a time */
} Marks;

/* Rows that are being read: indices must be below `limit`, and the first feature has the index `first`. Values are
 * doubles, or floats if `single`. */
typedef struct {
    const char *end;
    int64_t first, limit;
    int32_t *indices;
    void *values;
    int single;
    ptrdiff_t n_values;
    Marks marks;
} Plain;

/* Read the plain features from p on, whose indices increase from *last, and return where others, or the end of the
 * line, begin. */
typedef const char *(*PlainFeatures)(Plain *plain, const char *p, int64_t *last);

/* Append a feature. A value too large for a float becomes infinite. */
static inline void append_feature(Plain *plain, int64_t index, double value) {
    const ptrdiff_t k = plain->n_values++;
    plain->indices[k] = (int32_t)index;
    if (plain->single)
        ((float *)plain->values)[k] = (float)value;
    else
        ((double *)plain->values)[k] = value;
}

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

/* 10^decimals, and its negative. */
static const double plain_tens[][32] = {
    {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18},
    {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7, -1e8, -1e9, -1e10, -1e11, -1e12, -1e13, -1e14, -1e15, -1e16, -1e17,
     -1e18}};

/* m / 10^decimals with at most 18 decimals, or the negative of it; 0 if 128 bits do not decide how it is rounded. */
static inline int plain_decimal(uint64_t m, size_t decimals, size_t negative, double *value) {
    if (m <= (uint64_t)1 << 53) {
        *value = (double)(int64_t)m / plain_tens[negative][decimals];
        return 1;
    }
    if (!decimal_round(m, -(int)decimals, value)) return 0;
    *value *= 1 - 2 * (int)negative; /* a branch here makes gcc's loop twice as slow */
    return 1;
}

/* Read the value at p and return the character behind it; return p if it is not a plain value. */
static inline const char *plain_value(const char *p, double *value) {
    const char *start = p, *point;
    int negative = *p == '-', n, decimals = 0;
    uint64_t m;
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
        point = p++;
        p = decimal_digits(p, p + 24, &m);
        decimals = (int)(p - point) - 1;
    }
    return n + decimals <= 19 && plain_decimal(m, (size_t)decimals, (size_t)negative, value) ? p : start;
}

static const char *plain_features(Plain *plain, const char *p, int64_t *last) {
    const char *q;
    uint64_t digits;
    double value;
    while (plain->end - p >= PLAIN_LENGTH) {
        int n = leading_digits(p, &digits);
        int64_t index = (int64_t)digits - plain->first;
        if (n == 0 || p[n] != ':' || index <= *last || index >= plain->limit) break;
        q = plain_value(p + n + 1, &value);
        if (q == p + n + 1 || (*q != ' ' && *q != '\n')) break;
        append_feature(plain, index, value);
        *last = index;
        p = q;
        if (*p == '\n') break;
        p++;
    }
    return p;
}

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#define MARKS_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define MARKS_TARGET_512 __attribute__((target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512vl,avx512vbmi2")))

typedef void (*FindMarks)(Marks *marks, const char *p, const char *end);

/* Set a bit per character of 32 that is not a digit. */
MARKS_TARGET static inline uint64_t marks_of(const char *p) {
    const __m256i v = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)p), _mm256_set1_epi8('0'));
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(v, _mm256_set1_epi8(10)), v));
}

/* The length of a window: whole groups of 64 characters. */
static inline int marks_length(const char *p, const char *end) {
    return (int)(end - p < MARKS_WINDOW ? (end - p) & ~(ptrdiff_t)63 : MARKS_WINDOW);
}

static inline void marks_found(Marks *marks, const char *p, const uint16_t *place) {
    marks->start = p;
    marks->n = (int)(place - marks->places);
    marks->next = 0;
}

/* Find the marks of a window of text. */
MARKS_TARGET __attribute__((noinline)) static void marks_find_wide(Marks *marks, const char *p, const char *end) {
    const int length = marks_length(p, end);
    uint16_t *place = marks->places, *stop;
    for (int at = 0; at < length; at += 64) {
        uint64_t found = marks_of(p + at) | marks_of(p + at + 32) << 32;
        for (stop = place + __builtin_popcountll(found); place < stop; place += 8)
            for (int k = 0; k < 8; k++) {
                place[k] = (uint16_t)(at + (int)_tzcnt_u64(found));
                found &= found - 1;
            }
        place = stop;
    }
    marks_found(marks, p, place);
}

MARKS_TARGET_512 __attribute__((noinline)) static void marks_find_512(Marks *marks, const char *p, const char *end) {
    static const uint8_t counted[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                        32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                        48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i all = _mm512_loadu_si512(counted);
    const int length = marks_length(p, end);
    uint16_t *place = marks->places;
    for (int at = 0; at < length; at += 64) {
        const __m512i v = _mm512_sub_epi8(_mm512_loadu_si512(p + at), _mm512_set1_epi8('0'));
        const uint64_t found = _mm512_cmpgt_epu8_mask(v, _mm512_set1_epi8(9));
        const __m512i few = _mm512_maskz_compress_epi8(found, all), from = _mm512_set1_epi16((short)at);
        const __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(few));
        const __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(few, 1));
        _mm512_storeu_si512(place, _mm512_add_epi16(low, from));
        _mm512_storeu_si512(place + 32, _mm512_add_epi16(high, from));
        place += __builtin_popcountll(found);
    }
    marks_found(marks, p, place);
}

/* Bytes of 15 from 32 on: 32 bytes from KEPT + n on keep the values of the last n digits, their lower halves. */
static const unsigned char KEPT[64] = {[32] = 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                       15,        15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15};

/* Read two numbers at once: that of the `n_index` digits before `colon`, and that of the `n` digits before `stop`, the
 * last `decimals` of which follow a point; if `decimals` is 32, there is none. At most 8 and 19 digits are added up in
 * pairs, fours and eights, the index in the first eight bytes of 32 and the value in the last 19. */
MARKS_TARGET static inline uint64_t two_numbers(const char *colon, size_t n_index, const char *stop, size_t n,
                                                size_t decimals, uint64_t *value) {
    const __m256i pairs = _mm256_set1_epi16(10 | 1 << 8);
    const __m256i fours = _mm256_set1_epi32(100 | 1 << 16), eights = _mm256_set1_epi32(10000 | 1 << 16);
    const __m256i after = _mm256_loadu_si256((const __m256i *)(stop - 32));
    const __m256i before = _mm256_loadu_si256((const __m256i *)(stop - 33)); /* without the point */
    const __m256i behind_point = _mm256_loadu_si256((const __m256i *)(KEPT + decimals));
    const __m256i digits = _mm256_loadu_si256((const __m256i *)(KEPT + n));
    const __m128i kept = _mm_loadl_epi64((const __m128i *)(KEPT + 24 + n_index));
    const __m128i index = _mm_and_si128(_mm_loadl_epi64((const __m128i *)(colon - 8)), kept);
    __m256i v = _mm256_xor_si256(before, _mm256_and_si256(_mm256_xor_si256(before, after), behind_point));
    uint64_t high, low;
    v = _mm256_or_si256(_mm256_and_si256(v, digits), _mm256_zextsi128_si256(index));
    v = _mm256_madd_epi16(_mm256_maddubs_epi16(v, pairs), fours);
    v = _mm256_madd_epi16(_mm256_packus_epi32(v, v), eights);
    high = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(v));
    low = (uint64_t)_mm_cvtsi128_si64(_mm256_extracti128_si256(v, 1));
    *value = (high >> 32) * 10000000000000000 + (low & 0xFFFFFFFF) * 100000000 + (low >> 32);
    return high & 0xFFFFFFFF;
}

/* The same value, rounded once more to a float. Called where it matters which way a double was rounded. */
static __attribute__((noinline, cold)) int plain_exact_single(uint64_t m, size_t decimals, size_t negative,
                                                              float *value) {
    double wide;
    if (!plain_decimal(m, decimals, negative, &wide)) return 0;
    *value = (float)wide;
    return 1;
}

/* With m < 2^63 rounded to a double, the quotient is at most two doubles away from the right one. This matters only next
 * to the middle between two floats, where the 29 bits that a float lacks are a one and zeros. */
static inline int plain_single(uint64_t m, size_t decimals, size_t negative, float *value) {
    const double wide = (double)(int64_t)m / plain_tens[negative][decimals];
    uint32_t bits;
    memcpy(&bits, &wide, 4);
    if (((bits + 2) & 0x1FFFFFFF) - 0x10000000 <= 4) return plain_exact_single(m, decimals, negative, value);
    *value = (float)wide;
    return 1;
}

/* The body of the functions below, with their way to find marks; `single` is that of `plain`. */
MARKS_TARGET static inline __attribute__((always_inline)) const char *features_marked(Plain *plain, const char *p,
                                                                                      int64_t *last, int single,
                                                                                      FindMarks find) {
    Marks *const marks = &plain->marks;
    const size_t most_digits = single ? 18 : 19;
    const int64_t first = plain->first, limit = plain->limit;
    int32_t *const indices = plain->indices;
    void *const values = plain->values;
    ptrdiff_t k = plain->n_values;
    const char *start = marks->start;
    const uint16_t *place = marks->places + marks->next, *places_end = marks->places + marks->n;
    int64_t previous = *last;
    while (place < places_end && start + *place < p) place++;
    for (;;) {
        if (places_end - place < 4) {
            if (plain->end - p < PLAIN_LENGTH) break;
            find(marks, p, plain->end);
            start = p;
            place = marks->places;
            places_end = place + marks->n;
            if (marks->n < 4) break;
        }
        while (places_end - place >= 4) {
            const char *colon = start + place[0], *digits, *stop;
            const size_t negative = place[1] == place[0] + 1; /* known before colon[1], which must then be a minus */
            const uint16_t *next = place + 1 + negative;
            const size_t n_index = (size_t)(colon - p);
            size_t n, decimals = 0, behind = 32;
            int64_t index;
            uint64_t m;
            digits = colon + 1 + negative;
            stop = start + *next;
            n = (size_t)(stop - digits);
            if (*colon != ':' || (colon[1] == '-') != negative || ((n_index - 1) | (n - 1)) > 7) goto done;
            if (*stop == '.') {
                stop = start + *++next;
                decimals = behind = (size_t)(stop - digits) - n - 1;
                n += decimals;
                if (n > most_digits) goto done;
            }
            if (*stop != ' ' && *stop != '\n') goto done;
            index = (int64_t)two_numbers(colon, n_index, stop, n, behind, &m) - first;
            if (index <= previous || index >= limit) goto done;
            if (single ? !plain_single(m, decimals, negative, (float *)values + k)
                       : !plain_decimal(m, decimals, negative, (double *)values + k))
                goto done;
            indices[k++] = (int32_t)index;
            previous = index;
            place = next + 1;
            p = stop;
            if (*p == '\n') goto done;
            p++;
        }
    }
done:
    plain->n_values = k;
    *last = previous;
    marks->next = (int)(place - marks->places);
    return p;
}

MARKS_TARGET static const char *plain_features_wide(Plain *plain, const char *p, int64_t *last) {
    return plain->single ? features_marked(plain, p, last, 1, marks_find_wide)
                         : features_marked(plain, p, last, 0, marks_find_wide);
}

MARKS_TARGET_512 static const char *plain_features_512(Plain *plain, const char *p, int64_t *last) {
    return plain->single ? features_marked(plain, p, last, 1, marks_find_512)
                         : features_marked(plain, p, last, 0, marks_find_512);
}
#endif

/* Return the fastest of these functions for this CPU that uses at most AVX2 (level 1), AVX-512 (2), or neither (0). */
static inline PlainFeatures plain_features_at(int level) {
#if defined(__GNUC__) && defined(__x86_64__)
    const int wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    if (level >= 2 && wide && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi2"))
        return plain_features_512;
    if (level >= 1 && wide) return plain_features_wide;
#else
    (void)level;
#endif
    return plain_features;
}

#endif
