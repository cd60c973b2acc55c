/* The few vector primitives under every round, in C so that they can be vectorised by hand.

   Weights are feature-major: feature j owns the `stride` numbers from W + j * stride, one a column, padded so that a
   row of weights is a whole number of vectors. Binary problems have one column and stride 1.

   vec_body.h holds each primitive once; it is compiled here for float and for double, with 16-byte vectors and, on
   x86-64, again with 32-byte vectors for CPUs that have AVX2 and FMA. `vec_for` picks the table of functions once, when a
   geometry is made. Other compilers get the same code with "vectors" of one lane, which is plain C. */
#ifndef ONMARGIN_VEC_H
#define ONMARGIN_VEC_H

#include <string.h>

#include "row.h"

/* How many non-zeros ahead the weights are fetched: sparse rounds wait for memory, not for arithmetic. */
#define VEC_AHEAD 24
/* Columns of one pass over the row are kept in this many vector registers at most. */
#define VEC_REGISTERS 8

#if defined(__GNUC__)
#define VEC_INLINE static inline __attribute__((always_inline))
#define VEC_PREFETCH(address) __builtin_prefetch(address)
#define VEC_NARROW 16
#ifdef __clang__
#define VEC_UNROLL _Pragma("unroll")
#else
#define VEC_UNROLL _Pragma("GCC unroll 8")
#endif
#else
#define VEC_INLINE static inline
#define VEC_PREFETCH(address) ((void)(address))
#define VEC_UNROLL
#define VEC_NARROW 0
#endif

#if defined(__GNUC__) && defined(__x86_64__)
#define VEC_HAS_WIDE 1
#endif

#define VEC_PASTE_(a, b, c) a##_##b##_##c
#define VEC_PASTE(a, b, c) VEC_PASTE_(a, b, c)

#define TARGET
#define WIDTH narrow
#define BYTES VEC_NARROW
#define REAL float
#include "vec_body.h"
#undef REAL
#define REAL double
#include "vec_body.h"
#undef REAL
#undef BYTES
#undef WIDTH
#undef TARGET

#ifdef VEC_HAS_WIDE
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH wide
#define BYTES 32
#define REAL float
#include "vec_body.h"
#undef REAL
#define REAL double
#include "vec_body.h"
#undef REAL
#undef BYTES
#undef WIDTH
#undef TARGET
#endif

/* The primitives for weights of `itemsize` bytes (4: float, 8: double) on this CPU. */
static inline const Vec *vec_for(ptrdiff_t itemsize)
{
#ifdef VEC_HAS_WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return itemsize == sizeof(float) ? &table_float_wide : &table_double_wide;
#endif
    return itemsize == sizeof(float) ? &table_float_narrow : &table_double_narrow;
}

/* Numbers of `itemsize` bytes from one feature's weights to the next's, for `columns` columns: one column needs no
   padding, several fill whole 32-byte vectors, and multiples of 256 bytes are avoided because they crowd a few cache
   sets. */
static inline ptrdiff_t vec_stride(ptrdiff_t columns, ptrdiff_t itemsize)
{
    ptrdiff_t lanes = 32 / itemsize, stride = (columns + lanes - 1) / lanes * lanes;
    if (columns == 1)
        return 1;
    return stride * itemsize % 256 == 0 ? stride + lanes : stride;
}

#endif
