/* Words of 64 bits, and bytes read eight at a time. */
#ifndef ONMARGIN_BITS_H
#define ONMARGIN_BITS_H

#include <stdint.h>
#include <string.h>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

/* Whether this machine is little-endian. */
#if defined(_MSC_VER) || (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define LITTLE_ENDIAN_WORDS 1
#else
#define LITTLE_ENDIAN_WORDS 0
#endif

static inline int leading_zeros(uint64_t a) {
#if defined(_MSC_VER)
    unsigned long place;
    _BitScanReverse64(&place, a);
    return 63 - (int)place;
#else
    return __builtin_clzll(a);
#endif
}

static inline int trailing_zeros(uint64_t a) {
#if defined(_MSC_VER)
    unsigned long place;
    _BitScanForward64(&place, a);
    return (int)place;
#else
    return __builtin_ctzll(a);
#endif
}

/* Return eight bytes as a number, the first one lowest. */
static inline uint64_t load_eight(const char *bytes) {
    uint64_t v = 0;
#if LITTLE_ENDIAN_WORDS
    memcpy(&v, bytes, 8);
#else
    for (int k = 8; k-- > 0;) v = v << 8 | (unsigned char)bytes[k];
#endif
    return v;
}

/* Return fewer than eight bytes as a number, padded with zeros. */
static inline uint64_t load_some(const char *bytes, int n) {
    uint64_t v = 0;
#if LITTLE_ENDIAN_WORDS
    if (n >= 4) { /* the last four possibly twice */
        uint32_t first, last;
        memcpy(&first, bytes, 4);
        memcpy(&last, bytes + n - 4, 4);
        return first | (uint64_t)last << 8 * (n - 4);
    }
#endif
    while (n-- > 0) v = v << 8 | (unsigned char)bytes[n];
    return v;
}

/* Return the lower half of the product of two words, and set its higher half in `high`. */
static inline uint64_t multiply_wide(uint64_t a, uint64_t b, uint64_t *high) {
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#elif defined(_MSC_VER) && defined(_M_X64)
    return _umul128(a, b, high);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    return other << 32 | (uint32_t)low;
#endif
}

static inline void store_eight(char *bytes, uint64_t v) {
#if LITTLE_ENDIAN_WORDS
    memcpy(bytes, &v, 8);
#else
    for (int k = 0; k < 8; k++) bytes[k] = (char)(v >> 8 * k);
#endif
}

#endif
