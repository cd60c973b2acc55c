/* The words of ASCII text: runs of letters, digits and underscores, and single symbols. */
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

/* One bit per character: whether it is one of a word, and whether it is a symbol, neither of a word nor blank. */
typedef struct {
    uint64_t word, symbol;
} Marks;

/* Return the highest bits of eight bytes as one number. */
static inline uint64_t gathered(uint64_t v) { return (v >> 7) * 0x0102040810204080 >> 56; }

static inline Marks marks_of(uint64_t v) {
    uint64_t underscores = ~at_least(v ^ EVERY_BYTE('_'), 1) & EVERY_BYTE(0x80);
    uint64_t found = between(v | EVERY_BYTE(0x20), 'a', 'z') | between(v, '0', '9') | underscores;
    Marks marks = {gathered(found), gathered(between(v, '!', '~') & ~found)};
    return marks;
}

/* Copy eight characters, in lower case or unchanged, and return their marks. */
static inline Marks words_of_eight(const char *text, int n, int lower, char *out) {
    uint64_t v = n < 8 ? load_some(text, n) : load_eight(text);
    Marks found = marks_of(v);
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
static inline Marks words_of_sixteen(const char *text, int lower, char *out) {
    const __m128i small = _mm_set1_epi8(0x20);
    __m128i v = _mm_loadu_si128((const __m128i *)text), letters = in_range(_mm_or_si128(v, small), 'a', 'z');
    __m128i others = _mm_or_si128(in_range(v, '0', '9'), _mm_cmpeq_epi8(v, _mm_set1_epi8('_')));
    __m128i found = _mm_or_si128(letters, others), visible = in_range(v, '!', '~');
    Marks marks = {(uint64_t)_mm_movemask_epi8(found), (uint64_t)_mm_movemask_epi8(_mm_andnot_si128(found, visible))};
    if (lower) v = _mm_or_si128(v, _mm_and_si128(letters, small));
    _mm_storeu_si128((__m128i *)out, v);
    return marks;
}
#else
static inline Marks words_of_sixteen(const char *text, int lower, char *out) {
    Marks low = words_of_eight(text, 8, lower, out), high = words_of_eight(text + 8, 8, lower, out + 8);
    Marks marks = {low.word | high.word << 8, low.symbol | high.symbol << 8};
    return marks;
}
#endif

/* Copy a text, in lower case or unchanged, and find its words; return their number.
 *
 * With `symbols`, each symbol is a word; without, words have at least two characters. In 64 bits, one per character,
 * runs of ones are the words. They begin and end where the bits differ from themselves shifted by one; a symbol begins
 * at its place and ends behind it. `spans` has room for n + 1, and `out` for n characters and the padding. */
static inline ptrdiff_t words_find(const char *text, ptrdiff_t n, int lower, int symbols, char *out, Span *spans) {
    uint64_t before = 0, before_symbols = 0, run, marked, turns;
    ptrdiff_t base, j, n_starts = 0, n_ends = 0, n_words = 0, k;
    for (base = 0; base <= n; base += 64) {
        ptrdiff_t size = n - base < 64 ? n - base : 64;
        Marks found;
        for (run = marked = 0, j = 0; j + 16 <= size; j += 16) {
            found = words_of_sixteen(text + base + j, lower, out + base + j);
            run |= found.word << j, marked |= found.symbol << j;
        }
        for (; j < size; j += 8) {
            int left = size - j < 8 ? (int)(size - j) : 8;
            found = words_of_eight(text + base + j, left, lower, out + base + j);
            run |= found.word << j, marked |= found.symbol << j;
        }
        if (!symbols) marked = 0;
        for (turns = (run & ~(run << 1 | before)) | marked; turns; turns &= turns - 1)
            spans[n_starts++].start = base + trailing_zeros(turns);
        for (turns = (~run & (run << 1 | before)) | (marked << 1 | before_symbols); turns; turns &= turns - 1)
            spans[n_ends++].end = base + trailing_zeros(turns);
        before = run >> 63, before_symbols = marked >> 63;
    }
    if (symbols) return n_ends;
    for (k = 0; k < n_ends; k++) {
        spans[n_words] = spans[k];
        n_words += spans[k].end - spans[k].start >= 2;
    }
    return n_words;
}

/* Copy words to `out` with one blank behind each, so that those of an n-gram are one slice. */
static inline void words_join(const char *text, Span *spans, ptrdiff_t n, char *out) {
    ptrdiff_t used = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        ptrdiff_t size = spans[k].end - spans[k].start;
        memcpy(out + used, text + spans[k].start, (size_t)size);
        spans[k].start = used;
        spans[k].end = used + size;
        out[used + size] = ' ';
        used += size + 1;
    }
}

#endif
