/* The words of ASCII text: runs of letters, digits and underscores. */
#ifndef ONMARGIN_WORDS_H
#define ONMARGIN_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bits.h"

enum { WORDS_PADDING = 16 }; /* readable and writable characters behind a text */

/* The start and the end of a word. */
typedef struct {
    ptrdiff_t start, end;
} Span;

#define EVERY_BYTE(c) (0x0101010101010101 * (uint64_t)(c))

/* Set the highest bit of every byte of v that is at least c; all bytes are below 0x80. */
static inline uint64_t at_least(uint64_t v, uint64_t c) {
    return (v + EVERY_BYTE(0x80 - c)) & EVERY_BYTE(0x80);
}

static inline uint64_t between(uint64_t v, uint64_t first, uint64_t last) {
    return at_least(v, first) & ~at_least(v, last + 1);
}

/* Return one bit per byte of v, set for characters of words. */
static inline uint64_t word_characters(uint64_t v) {
    uint64_t underscores = ~at_least(v ^ EVERY_BYTE('_'), 1) & EVERY_BYTE(0x80);
    uint64_t found = between(v | EVERY_BYTE(0x20), 'a', 'z') | between(v, '0', '9') | underscores;
    return (found >> 7) * 0x0102040810204080 >> 56;
}

/* Copy eight characters, in lower case or unchanged, and return one bit per character, set for those of words. */
static inline uint64_t words_of_eight(const char *text, int n, int lower, char *out) {
    uint64_t v = n < 8 ? load_some(text, n) : load_eight(text), found = word_characters(v);
    if (lower) v |= between(v, 'A', 'Z') >> 2;
    store_eight(out, v);
    return found;
}

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>

static inline __m128i in_range(__m128i v, char first, char last) {
    return _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8(first - 1)), _mm_cmplt_epi8(v, _mm_set1_epi8(last + 1)));
}

/* The same for sixteen. */
static inline uint64_t words_of_sixteen(const char *text, int lower, char *out) {
    const __m128i small = _mm_set1_epi8(0x20);
    __m128i v = _mm_loadu_si128((const __m128i *)text), letters = in_range(_mm_or_si128(v, small), 'a', 'z');
    __m128i others = _mm_or_si128(in_range(v, '0', '9'), _mm_cmpeq_epi8(v, _mm_set1_epi8('_')));
    if (lower) v = _mm_or_si128(v, _mm_and_si128(letters, small));
    _mm_storeu_si128((__m128i *)out, v);
    return (uint64_t)_mm_movemask_epi8(_mm_or_si128(letters, others));
}
#else
static inline uint64_t words_of_sixteen(const char *text, int lower, char *out) {
    return words_of_eight(text, 8, lower, out) | words_of_eight(text + 8, 8, lower, out + 8) << 8;
}
#endif

/* Copy a text, in lower case or unchanged, and find its words of at least two characters; return their number.
 *
 * In 64 bits, one per character, runs of ones are the words. They begin and end where the bits differ from themselves
 * shifted by one. `spans` has room for n / 2 + 1, and `out` for n characters and the padding. */
static inline ptrdiff_t words_find(const char *text, ptrdiff_t n, int lower, char *out, Span *spans) {
    uint64_t before = 0, run, turns;
    ptrdiff_t base, j, n_turns = 0, n_words = 0, k, *turn = &spans[0].start;
    for (base = 0; base <= n; base += 64) {
        ptrdiff_t size = n - base < 64 ? n - base : 64;
        for (run = 0, j = 0; j + 16 <= size; j += 16)
            run |= words_of_sixteen(text + base + j, lower, out + base + j) << j;
        for (; j < size; j += 8) {
            int left = size - j < 8 ? (int)(size - j) : 8;
            run |= words_of_eight(text + base + j, left, lower, out + base + j) << j;
        }
        for (turns = run ^ (run << 1 | before); turns; turns &= turns - 1)
            turn[n_turns++] = base + trailing_zeros(turns);
        before = run >> 63;
    }
    for (k = 0; k < n_turns; k += 2) {
        ptrdiff_t start = turn[k], size = turn[k + 1] - start;
        spans[n_words].start = start;
        spans[n_words].end = start + size;
        n_words += size >= 2;
    }
    return n_words;
}

/* Join words with one blank between them, so that those of an n-gram are one slice. */
static inline void words_join(char *text, Span *spans, ptrdiff_t n) {
    ptrdiff_t used = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        ptrdiff_t size = spans[k].end - spans[k].start;
        memmove(text + used, text + spans[k].start, (size_t)size);
        spans[k].start = used;
        spans[k].end = used + size;
        text[used + size] = ' ';
        used += size + 1;
    }
}

#endif
