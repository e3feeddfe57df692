/* What is left of a after the nearest multiple of b, the even one of two; both positive, a / b below 2^52. What is left
   after the one towards zero comes first, as in fmod.c. */
#ifndef C2CU_REMAINDER_CORE_H
#define C2CU_REMAINDER_CORE_H
#include "bits.h"

static double c2cu_remainder_core(double a, double b) {
    double n = trunc(a / b);
    double rest = __builtin_fma(-n, b, a);
    n = rest < 0.0 ? n - 1.0 : n;
    rest = rest < 0.0 ? rest + b : rest;
    double other = b - rest;
    unsigned long odd = c2cu_as_bits(n + 0x1p52) & 1;
    return rest > other || (rest == other && odd != 0) ? rest - b : rest;
}
#endif
