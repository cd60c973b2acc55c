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
static inline uint64_t hash_folded(uint64_t low, uint64_t high, const uint64_t *k)
{
    low = multiply_wide(low + k[BLOCK_WORDS + 2], high + k[BLOCK_WORDS + 3], &high);
    return low ^ high;
}

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
    return hash_folded(low, high, k);
}

enum { SHORT_NAME = 16, LONG_NAME = 0xFF };

/* A place of a table. The bytes of a short name are in it, so that the string need not be looked at. */
typedef struct {
    PyObject *name;      /* NULL: free */
    uint64_t head, tail; /* of a short name the first eight bytes and the next; zeros behind its end */
    uint32_t mark;       /* 24 bits of its hash, and the length of a short name or LONG_NAME */
    int32_t place;
} Slot;

/* Threads look names up while one thread adds some: the pointer to the name is written last and read first. */
#if defined(_MSC_VER) && !defined(__clang__)
static inline PyObject *slot_name(const Slot *slot)
{
    PyObject *name = *(PyObject *const volatile *)&slot->name;
#if defined(_M_ARM64)
    __dmb(_ARM64_BARRIER_ISH);
#endif
    return name;
}

static inline void slot_fill(Slot *slot, PyObject *name)
{
    _InterlockedExchangePointer((void *volatile *)&slot->name, name);
}
#else
static inline PyObject *slot_name(const Slot *slot)
{
    return __atomic_load_n(&slot->name, __ATOMIC_ACQUIRE);
}

static inline void slot_fill(Slot *slot, PyObject *name)
{
    __atomic_store_n(&slot->name, name, __ATOMIC_RELEASE);
}
#endif

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

/* The same, and the hash, of one to SHORT_NAME bytes behind which SHORT_NAME - 1 may be read, without branches. */
static inline Slot short_slot(const char *name, Py_ssize_t n, const uint64_t *k, uint64_t *hashed)
{
    uint64_t head = load_eight(name), tail = load_eight(name + 8), high, low, all = ~(uint64_t)0;
    head &= n < 8 ? all >> (64 - 8 * n) : all;
    tail &= n > 8 ? all >> (128 - 8 * n) : 0;
    low = multiply_wide(head + k[0], tail + k[1], &high);
    low += (uint64_t)n;
    *hashed = hash_folded(low, high + (low < (uint64_t)n), k);
    Slot slot = {NULL, head, tail, ((uint32_t)(*hashed >> 32) | LONG_NAME) - (uint32_t)(LONG_NAME - n), 0};
    return slot;
}

static inline int slot_is_ascii(const Slot *slot)
{
    return !((slot->head | slot->tail) & 0x8080808080808080);
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

enum { MOST_RESPELLED = 64, RESPELLED_ROOM = 4 * MOST_RESPELLED + 8 };

/* Return a word of at most MOST_RESPELLED bytes of valid UTF-8 as Python spells it: all characters with one, two or
 * four bytes. `room` has RESPELLED_ROOM bytes; seven behind the word may be read. */
static inline Spelling respelled(const char *text, Py_ssize_t n, char *room)
{
    uint32_t characters[MOST_RESPELLED], all = 0;
    Py_ssize_t k = 0, size = 0;
    while (k < n) {
        uint32_t c = (unsigned char)text[k++];
        int more = c < 0x80 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
        if (more)
            c &= 0x3F >> more;
        for (; more > 0; more--)
            c = c << 6 | ((unsigned char)text[k++] & 0x3F);
        characters[size++] = c;
        all |= c;
    }
    Spelling s = {room, size, all < 0x100 ? 1 : all < 0x10000 ? 2 : 4};
    for (k = 0; k < size; k++) {
        uint8_t one = (uint8_t)characters[k];
        uint16_t two = (uint16_t)characters[k];
        const void *c = s.kind == 1 ? (void *)&one : s.kind == 2 ? (void *)&two : (void *)&characters[k];
        memcpy(room + k * s.kind, c, (size_t)s.kind);
    }
    s.n *= s.kind;
    memset(room + s.n, 0, 8);
    return s;
}

/* Return the spelling of a word in UTF-8, of which that in ASCII is a slice of the text; of kind 0 if it is too long. */
static inline Spelling word_spelling(const char *text, Py_ssize_t n, char *room)
{
    Spelling s = {text, n, 1};
    if (is_ascii(text, n))
        return s;
    if (n <= MOST_RESPELLED)
        return respelled(text, n, room);
    s.kind = 0;
    return s;
}

#endif
