/* The primitives of expansion.h, compiled once for the whole library. */
#include "expansion.h"

#define BODY "expansion_body.h"
#include "each_type.h"

const Expansions *expansions_for(ptrdiff_t itemsize)
{
#ifdef VEC_HAS_WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return itemsize == sizeof(float) ? &expansions_float_wide : &expansions_double_wide;
#endif
    return itemsize == sizeof(float) ? &expansions_float_narrow : &expansions_double_narrow;
}
