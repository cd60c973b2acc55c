/* The features of one example, and how they are sorted. */
#ifndef ONMARGIN_ENTRIES_H
#define ONMARGIN_ENTRIES_H

#include <stddef.h>
#include <stdint.h>
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

#endif
