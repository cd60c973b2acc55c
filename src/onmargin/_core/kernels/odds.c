/* The primitives of odds.h, compiled once for the whole library. */
#include "odds.h"

#define BODY "odds_body.h"
#include "each_width.h"

const Odds *odds_for(void)
{
#ifdef VEC_HAS_WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &odds_double_wide;
#endif
    return &odds_double_narrow;
}
