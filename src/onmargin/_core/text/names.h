/* Names of features, which are Python strings, and their hashes. */
#ifndef ONMARGIN_NAMES_H
#define ONMARGIN_NAMES_H

#include <Python.h>
#include <stdint.h>

#include "bits.h"

/* Whether n bytes are the same. Most names are short: eight bytes at a time, the last eight possibly twice. */
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

/* A name as it lies in memory: so many bytes, of characters that take one, two or four each. */
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

/* A hash: eight bytes at a time are mixed in by a multiplication, whose high bits know of all the bits below. With
 * `padded` up to seven bytes behind the name may be read, which spares branches. */
static inline uint64_t name_hash(const char *name, Py_ssize_t n, uint64_t seed, int padded)
{
    uint64_t hashed = (uint64_t)n ^ seed, word;
    for (; n > 0; n -= 8, name += 8) {
        if (n >= 8)
            word = load_eight(name);
        else
            word = padded ? load_eight(name) & (((uint64_t)1 << 8 * n) - 1) : load_some(name, (int)n);
        hashed = (hashed ^ word) * 0x9E3779B97F4A7C15;
        hashed ^= hashed >> 32;
    }
    return hashed * 0xD6E8FEB86659FD93;
}

/* Whether all characters of a slice are ASCII; up to seven bytes behind it are read. */
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
