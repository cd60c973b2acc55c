/* The functions of votes.h, compiled once for the whole library. */
#include "votes.h"

#define BODY "votes_body.h"
#include "each_width.h"

const Votes *votes_for(void)
{
#ifdef VEC_HAS_WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &votes_double_wide;
#endif
    return &votes_double_narrow;
}
