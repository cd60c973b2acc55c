/* Compiles the header BODY for numbers in double and each kind of CPU: with vectors of VEC_NARROW bytes for all, and on
   x86-64 again with 32-byte vectors for CPUs that have AVX2 and FMA. */
#define REAL double

#define TARGET
#define WIDTH narrow
#define BYTES VEC_NARROW
#include BODY
#undef BYTES
#undef WIDTH
#undef TARGET

#ifdef VEC_HAS_WIDE
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH wide
#define BYTES 32
#include BODY
#undef BYTES
#undef WIDTH
#undef TARGET
#endif
