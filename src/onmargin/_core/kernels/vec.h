/* The few vector primitives under every round, in C so that they can be vectorized by hand.

   Weights have one of two layouts. For sparse rows they are feature-major (gap 1): a feature's weights of all columns
   are contiguous, padded to whole vectors, so that each non-zero costs one memory access however many columns there
   are.
   Other numbers of the feature may follow (stride).
   For dense rows they are column-major (stride 1): a column is one contiguous vector, and an update touches its columns
   only. Both layouts take both kinds of rows; a single column is the same in both.

   vec_body.h holds each primitive once; vec.c compiles it for float and for double, with 16-byte vectors and, on
   x86-64, again with 32-byte vectors for CPUs that have AVX2 and FMA. `vec_for` picks the table of functions once, when
   a geometry is made. Other compilers get the same code with "vectors" of one lane, which is plain C. */
#ifndef ONMARGIN_VEC_H
#define ONMARGIN_VEC_H

#include <math.h>
#include <string.h>

#include "row.h"

/* How many non-zeros ahead the weights are fetched: sparse rounds wait for memory, not for arithmetic. */
#define VEC_AHEAD 24
/* The same for a few columns: their weights take more memory than one column, and less time than many. */
#define VEC_FURTHER 48
/* The largest number of vector registers for the columns of one pass over the row. */
#define VEC_REGISTERS 8
/* Chains of additions in one pass over a dense row, besides those of its norm. */
#define VEC_CHAINS 10

#if defined(__GNUC__)
#define VEC_INLINE static inline __attribute__((always_inline))
#define VEC_APART static __attribute__((noinline)) /* out of line: its registers are not saved by callers */
#define VEC_PREFETCH(address) __builtin_prefetch(address)
#define VEC_NARROW 16
#ifdef __clang__
#define VEC_UNROLL _Pragma("unroll")
#define VEC_ROLLED _Pragma("nounroll")
#else
#define VEC_UNROLL _Pragma("GCC unroll 16")
#define VEC_ROLLED _Pragma("GCC unroll 1")
#endif
#else
#define VEC_INLINE static inline
#define VEC_APART static
#define VEC_PREFETCH(address) ((void)(address))
#define VEC_UNROLL
#define VEC_ROLLED
#define VEC_NARROW 0
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define VEC_HAS_WIDE 1
#endif

/* Return the padded columns of a feature-major layout: whole 32-byte vectors, but not a multiple of 256 bytes, because
   those crowd a few cache sets. */
static inline ptrdiff_t vec_padded(ptrdiff_t columns, ptrdiff_t itemsize)
{
    ptrdiff_t lanes = 32 / itemsize, padded = (columns + lanes - 1) / lanes * lanes;
    return padded * itemsize % 256 == 0 ? padded + lanes : padded;
}

#define VEC_PASTE_(a, b, c) a##_##b##_##c
#define VEC_PASTE(a, b, c) VEC_PASTE_(a, b, c)

/* Return the primitives for weights of `itemsize` bytes (4: float, 8: double) on this CPU. */
const Vec *vec_for(ptrdiff_t itemsize);

#endif
