/* The primitives of odds.h, compiled once for the whole library. */
#include "odds.h"

#define REAL double

#define TARGET
#define WIDTH narrow
#define BYTES VEC_NARROW
#include "odds_body.h"
#undef BYTES
#undef WIDTH
#undef TARGET

#ifdef VEC_HAS_WIDE
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH wide
#define BYTES 32
#include "odds_body.h"
#undef BYTES
#undef WIDTH
#undef TARGET
#endif

const Odds *odds_for(void)
{
#ifdef VEC_HAS_WIDE
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &odds_double_wide;
#endif
    return &odds_double_narrow;
}
