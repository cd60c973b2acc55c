/* The primitives of metric.h, compiled once for the whole library. */
#include <float.h>

#include "metric.h"

#define BODY "metric_body.h"
#include "each_type.h"

const Metric *metric_for(ptrdiff_t itemsize)
{
#ifdef VEC_HAS_WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return itemsize == sizeof(float) ? &metrics_float_wide : &metrics_double_wide;
#endif
    return itemsize == sizeof(float) ? &metrics_float_narrow : &metrics_double_narrow;
}
