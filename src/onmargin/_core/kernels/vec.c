/* The primitives of vec.h, compiled once for the whole library. */
#include "vec.h"

#define BODY "vec_body.h"
#include "each_type.h"

const Vec *vec_for(ptrdiff_t itemsize)
{
#ifdef VEC_HAS_WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return itemsize == sizeof(float) ? &table_float_wide : &table_double_wide;
#endif
    return itemsize == sizeof(float) ? &table_float_narrow : &table_double_narrow;
}
