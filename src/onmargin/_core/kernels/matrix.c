/* The primitives of matrix.h, compiled once for the whole library. */
#include "matrix.h"

#define BODY "matrix_body.h"
#include "each_type.h"

const Matrix *matrix_for(ptrdiff_t itemsize)
{
#ifdef VEC_HAS_WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return itemsize == sizeof(float) ? &matrices_float_wide : &matrices_double_wide;
#endif
    return itemsize == sizeof(float) ? &matrices_float_narrow : &matrices_double_narrow;
}
