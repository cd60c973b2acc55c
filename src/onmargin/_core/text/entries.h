/* The features of one example, and how they are sorted. */
#ifndef ONMARGIN_ENTRIES_H
#define ONMARGIN_ENTRIES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int32_t index; /* at least 0 */
    double value;
} Entry;

enum {
    ENTRIES_FEW = 32,  /* are sorted by insertion */
    ENTRIES_DIGIT = 9, /* bits of an index that many are sorted by at a time, from the lowest */
    ENTRIES_BUCKETS = 1 << ENTRIES_DIGIT
};

static inline int32_t entry_digit(const Entry *entry, int shift)
{
    return entry->index >> shift & (ENTRIES_BUCKETS - 1);
}

/* Sort by index; equal ones keep their order. `spare` has room for as many. */
static inline void entries_sort(Entry *entries, Entry *spare, ptrdiff_t n)
{
    if (n <= ENTRIES_FEW) {
        for (ptrdiff_t k = 1; k < n; k++) {
            Entry entry = entries[k];
            ptrdiff_t place = k;
            for (; place > 0 && entries[place - 1].index > entry.index; place--)
                entries[place] = entries[place - 1];
            entries[place] = entry;
        }
        return;
    }
    int32_t bits = 0;
    for (ptrdiff_t k = 0; k < n; k++)
        bits |= entries[k].index;
    for (int shift = 0; shift < 32 && bits >> shift; shift += ENTRIES_DIGIT) {
        ptrdiff_t starts[ENTRIES_BUCKETS + 1] = {0};
        for (ptrdiff_t k = 0; k < n; k++)
            starts[entry_digit(&entries[k], shift) + 1]++;
        for (ptrdiff_t b = 0; b < ENTRIES_BUCKETS; b++)
            starts[b + 1] += starts[b];
        for (ptrdiff_t k = 0; k < n; k++)
            spare[starts[entry_digit(&entries[k], shift)]++] = entries[k];
        memcpy(entries, spare, n * sizeof(Entry));
    }
}

static inline int entries_compare(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* Sort indices with a value of 1 each, and count equal ones; return the number of different ones.
 *
 * By digits of six bits, from the lowest: a text has about as many words as such a digit has values. Long texts
 * are rare, and short counters are faster. */
static inline ptrdiff_t entries_count(int32_t *indices, int32_t *spare, ptrdiff_t n, Entry *entries)
{
    enum { BITS = 6, VALUES = 1 << BITS };
    int32_t bits = 0;
    ptrdiff_t k, kept = 0;
    for (k = 0; k < n; k++)
        bits |= indices[k];
    if (n > UINT16_MAX) {
        qsort(indices, (size_t)n, sizeof(int32_t), entries_compare);
        bits = 0;
    }
    for (int shift = 0; shift < 32 && bits >> shift; shift += BITS) {
        uint16_t places[VALUES] = {0}, place = 0;
        int32_t *sorted = spare;
        for (k = 0; k < n; k++)
            places[indices[k] >> shift & (VALUES - 1)]++;
        for (k = 0; k < VALUES; k++) {
            uint16_t many = places[k];
            places[k] = place;
            place += many;
        }
        for (k = 0; k < n; k++)
            sorted[places[indices[k] >> shift & (VALUES - 1)]++] = indices[k];
        spare = indices;
        indices = sorted;
    }
    /* Without branches: which words repeat cannot be predicted. `spare` has the end of each run of equal ones. */
    for (k = 0; k < n; k++) {
        entries[kept].index = indices[k];
        spare[kept] = (int32_t)k + 1;
        kept += k + 1 == n || indices[k + 1] != indices[k];
    }
    for (k = 0; k < kept; k++)
        entries[k].value = spare[k] - (k > 0 ? spare[k - 1] : 0);
    return kept;
}

#endif
