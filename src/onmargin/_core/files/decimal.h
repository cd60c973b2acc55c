/* Decimal numbers in text, correctly rounded to doubles, whatever the locale.
 *
 * m * 10^e with a whole m below 2^53 and |e| <= 22 is one multiplication or division of doubles that are exact, and is
 * rounded once (Clinger 1990). Other m below 2^64 with a moderate e are multiplied by the leading 128 bits of 5^e,
 * which decides the rounding unless the product ends in ones (Lemire, "Number parsing at a gigabyte per second", 2021).
 * The rare rest is DECIMAL_HARD: a valid number that the caller must parse with CPython.
 */
#ifndef ONMARGIN_DECIMAL_H
#define ONMARGIN_DECIMAL_H

#include <stdint.h>
#include <string.h>

#include "bits.h"

enum { DECIMAL_GOOD, DECIMAL_BAD, DECIMAL_HARD };
enum { DECIMAL_LEAST = -64, DECIMAL_MOST = 64 };

typedef struct {
    uint64_t high, low;
} Wide;

/* The leading 128 bits of 5^e, from e = DECIMAL_LEAST on; the module that includes this fills them in. */
static Wide decimal_fives[DECIMAL_MOST - DECIMAL_LEAST + 1];

static inline Wide wide_product(uint64_t a, uint64_t b) {
    Wide p;
#if defined(_MSC_VER)
    p.low = _umul128(a, b, &p.high);
#else
    unsigned __int128 product = (unsigned __int128)a * b;
    p.high = (uint64_t)(product >> 64);
    p.low = (uint64_t)product;
#endif
    return p;
}

static inline int is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

/* Return the number of eight digits, given as bytes from 0 to 9, the first one lowest: pairs, then fours, then all. */
static inline uint64_t eight_digits(uint64_t v) {
    v = v * 10 + (v >> 8);
    return ((v & 0x000000FF000000FF) * 0x000F424000000064 + ((v >> 16) & 0x000000FF000000FF) * 0x0000271000000001) >> 32;
}

/* Set the highest bit of every byte that is not a digit: a byte is a digit if neither +0x46 nor -0x30 sets that bit. */
static inline uint64_t other_bytes(uint64_t v) {
    return ((v + 0x4646464646464646) | (v - 0x3030303030303030)) & 0x8080808080808080;
}

static const uint64_t decimal_powers[] = {
    1,         10,         100,         1000,         10000,         100000,         1000000,         10000000,
    100000000, 1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000, 1000000000000000,
    10000000000000000};
static const double decimal_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Append the digits from p on to m, which wraps around; return where they end.
 *
 * Eight characters are read at once. Characters after the last digit are shifted out, which puts zeros before
 * them: no branch depends on how many there are. */
static inline const char *decimal_digits(const char *p, const char *end, uint64_t *m) {
    uint64_t v, others;
    int n;
    while (end - p >= 8) {
        v = load_eight(p);
        others = other_bytes(v);
        v -= 0x3030303030303030;
        if (others) {
            n = trailing_zeros(others) >> 3;
            v = (v << (56 - 8 * n)) << 8; /* in two steps, for n = 0 */
            *m = *m * decimal_powers[n] + eight_digits(v);
            return p + n;
        }
        *m = *m * 100000000 + eight_digits(v);
        p += 8;
    }
    while (p < end && is_digit(*p)) *m = *m * 10 + (uint64_t)(*p++ - '0');
    return p;
}

/* m * 10^e for m > 0; 0 if 128 bits do not decide how it is rounded. */
static inline int decimal_round(uint64_t m, int e, double *value) {
    const Wide five = decimal_fives[e - DECIMAL_LEAST];
    int shift = leading_zeros(m), top, place;
    uint64_t w = m << shift, bits;
    Wide p = wide_product(w, five.high), more;
    if ((p.high & 0x1FF) == 0x1FF) { /* the bits below those of the answer could still carry into it */
        more = wide_product(w, five.low);
        p.low += more.high;
        p.high += p.low < more.high;
        if (p.low == UINT64_MAX) return 0;
    }
    top = (int)(p.high >> 63);
    place = top + 64 - 52 - 3;
    bits = p.high >> place; /* 54 of them: the answer's and the one that rounds it */
    /* Half way between two doubles, which only these exponents can be, the even one is right. */
    if (p.low <= 1 && e >= -4 && e <= 23 && (bits & 3) == 1 && bits << place == p.high) bits &= ~(uint64_t)1;
    bits = (bits + (bits & 1)) >> 1;
    /* 2^63 5^e 2^e: floor(e log2(10)) is e * 217706 / 2^16 here; 1023 is the bias of a double's exponent. */
    place = (int)(((int64_t)217706 * e) >> 16) + 63 + top - shift + 1023;
    if (bits >= (uint64_t)2 << 52) {
        bits = (uint64_t)1 << 52;
        place++;
    }
    bits = (bits & ~((uint64_t)1 << 52)) | (uint64_t)place << 52;
    memcpy(value, &bits, 8);
    return 1;
}

/* Read a sign, digits with a point among them, and an exponent from *text on, and move *text behind them. */
static inline int decimal_read(const char **text, const char *end, double *value) {
    const char *p = *text, *first, *point = NULL;
    int negative = 0, e_negative = 0, e = 0, n_digits, explicit_e = 0;
    uint64_t m = 0;
    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    first = p;
    if (end - p > 1 && is_digit(*p) && !is_digit(p[1])) /* most numbers: no need to look at eight */
        m = (uint64_t)(*p++ - '0');
    else
        p = decimal_digits(p, end, &m);
    n_digits = (int)(p - first);
    if (p < end && *p == '.') {
        point = ++p;
        p = decimal_digits(p, end, &m);
        e = -(int)(p - point);
        n_digits -= e;
    }
    if (!n_digits) return DECIMAL_BAD;
    if (n_digits > 19) /* leading zeros take no room in m */
        for (; first < p && (*first == '0' || *first == '.'); first++) n_digits -= *first == '0';
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '-' || *p == '+')) e_negative = *p++ == '-';
        if (p == end || !is_digit(*p)) return DECIMAL_BAD;
        for (; p < end && is_digit(*p); p++)
            if (explicit_e < 100000) explicit_e = 10 * explicit_e + (*p - '0');
        e += e_negative ? -explicit_e : explicit_e;
    }
    *text = p;
    if (n_digits > 19) return DECIMAL_HARD;
    if (!m) {
        *value = 0;
    } else if (m <= (uint64_t)1 << 53 && e >= -22 && e <= 22) {
        *value = e < 0 ? (double)m / decimal_tens[-e] : (double)m * decimal_tens[e];
    } else if (e < DECIMAL_LEAST || e > DECIMAL_MOST || !decimal_round(m, e, value)) {
        return DECIMAL_HARD;
    }
    if (negative) *value = -*value;
    return DECIMAL_GOOD;
}

#endif
