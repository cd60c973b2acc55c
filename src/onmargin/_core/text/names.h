/* Names of features, which are Python strings, and their hashes. */
#ifndef ONMARGIN_NAMES_H
#define ONMARGIN_NAMES_H

#include <Python.h>
#include <stdint.h>

#include "bits.h"

/* Return whether n bytes are equal. Most names are short: eight bytes at a time, the last eight possibly twice. */
static inline int bytes_equal(const char *s, const char *t, Py_ssize_t n)
{
    if (n < 8)
        return load_some(s, (int)n) == load_some(t, (int)n);
    for (Py_ssize_t k = 0; k < n; k += 8) {
        Py_ssize_t from = k + 8 <= n ? k : n - 8;
        if (load_eight(s + from) != load_eight(t + from))
            return 0;
    }
    return 1;
}

/* A name in memory: its bytes, with one, two or four bytes per character. */
typedef struct {
    const char *bytes;
    Py_ssize_t n;
    int kind;
} Spelling;

static inline Spelling name_spelling(PyObject *name)
{
    Spelling s = {(const char *)PyUnicode_DATA(name), PyUnicode_GET_LENGTH(name), PyUnicode_KIND(name)};
    s.n *= s.kind;
    return s;
}

static inline int spelling_equal(Spelling a, Spelling b)
{
    return a.n == b.n && a.kind == b.kind && (a.bytes == b.bytes || bytes_equal(a.bytes, b.bytes, a.n));
}

/* Return up to eight bytes of a name that has n more. With `padded`, up to seven bytes behind the name may be read,
 * which avoids branches. */
static inline uint64_t name_word(const char *name, Py_ssize_t n, int padded)
{
    if (n >= 8)
        return load_eight(name);
    return padded ? load_eight(name) & (((uint64_t)1 << 8 * n) - 1) : load_some(name, (int)n);
}

/* The hash that gives a name its place in models of hashed features. It must never change: weights in model files are
 * stored in these places. It does not resist attackers: they can make names share a weight, but cannot slow a lookup.
 * */
static inline uint64_t place_hash(const char *name, Py_ssize_t n, int padded)
{
    uint64_t hashed = (uint64_t)n;
    for (; n > 0; n -= 8, name += 8) {
        hashed = (hashed ^ name_word(name, n, padded)) * 0x9E3779B97F4A7C15;
        hashed ^= hashed >> 32;
    }
    return hashed * 0xD6E8FEB86659FD93;
}

enum {
    BLOCK_WORDS = 32,             /* words of a name that have a secret each */
    SECRETS = BLOCK_WORDS + 4
};

/* The hash of tables in memory, with random secrets k of this process. It is NH of UMAC (Black, Halevi, Krawczyk,
 * Krovetz and Rogaway, 1999) with words of 64 bits,
 *
 *     n + sum_i (w_2i + k_2i mod 2^64) (w_2i+1 + k_2i+1 mod 2^64)   mod 2^128:
 *
 * any two names of up to 256 bytes are equal there with a probability of at most 2^-64 over the secrets, whatever the
 * names are. In longer names the sum is multiplied before the next block is added to it. A last multiplication by
 * secrets folds the sum to 64 bits. */
static inline uint64_t table_hash(const char *name, Py_ssize_t n, const uint64_t *k, int padded)
{
    uint64_t low = (uint64_t)n, high = 0, product, carried;
    for (int i = 0; n > 0; i += 2, n -= 16, name += 16) {
        if (i == BLOCK_WORDS) {
            low = multiply_wide(low + k[BLOCK_WORDS], high + k[BLOCK_WORDS + 1], &high);
            i = 0;
        }
        product = multiply_wide(name_word(name, n, padded) + k[i],
                                (n > 8 ? name_word(name + 8, n - 8, padded) : 0) + k[i + 1], &carried);
        low += product;
        high += carried + (low < product);
    }
    low = multiply_wide(low + k[BLOCK_WORDS + 2], high + k[BLOCK_WORDS + 3], &high);
    return low ^ high;
}

enum { SHORT_NAME = 16, LONG_NAME = 0xFF };

/* A place of a table. The bytes of a short name are in it, so that the string need not be looked at. */
typedef struct {
    PyObject *name;      /* NULL: free */
    uint64_t head, tail; /* of a short name the first eight bytes and the next; zeros behind its end */
    uint32_t mark;       /* 24 bits of its hash, and the length of a short name or LONG_NAME */
    int32_t place;
} Slot;

/* The slot that a name would have. */
static inline Slot name_slot(Spelling s, uint64_t hashed, int padded)
{
    Slot slot = {NULL, 0, 0, (uint32_t)(hashed >> 32) | LONG_NAME, 0};
    if (s.kind == 1 && s.n <= SHORT_NAME) {
        slot.mark -= (uint32_t)(LONG_NAME - s.n);
        slot.head = name_word(s.bytes, s.n, padded);
        slot.tail = s.n > 8 ? name_word(s.bytes + 8, s.n - 8, padded) : 0;
    }
    return slot;
}

/* Whether a slot is that of a name. */
static inline int slot_has(const Slot *slot, const Slot *wanted, Spelling name)
{
    return slot->mark == wanted->mark && slot->head == wanted->head && slot->tail == wanted->tail &&
           ((slot->mark & LONG_NAME) != LONG_NAME || spelling_equal(name_spelling(slot->name), name));
}

/* Return whether all characters of a slice are ASCII; up to seven bytes behind it are read. */
static inline int is_ascii(const char *text, Py_ssize_t n)
{
    uint64_t high = 0;
    for (; n >= 8; n -= 8, text += 8)
        high |= load_eight(text);
    if (n > 0)
        high |= load_eight(text) & (((uint64_t)1 << 8 * n) - 1);
    return !(high & 0x8080808080808080);
}

#endif
