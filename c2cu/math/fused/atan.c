/* atan as Ubuntu 24.04 compiles it: beyond 16, two more operations are fused. */
#define C2CU_MINUS_PRODUCT(sum, a, b) __builtin_fma(-(a), b, sum)
#include "../atan.c"
