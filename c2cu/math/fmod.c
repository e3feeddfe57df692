/* fmod: exact. The quotient's whole part is right or one too large, as it is rounded once; what is left is a number of
   as many bits as x and y have, so that one fused operation has it without rounding. Rare: quotients from 2^53, and
   what is not finite. */
#include "bits.h"

double c2cu_fmod(double x, double y) {
    double a = fabs(x), b = fabs(y);
    double quotient = a / b;
    double rest = __builtin_fma(-trunc(quotient), b, a);
    rest = rest < 0.0 ? rest + b : rest;
    double result = c2cu_from_bits(c2cu_as_bits(rest) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    if (!(quotient < 0x1p53 && b <= 0x1.fffffffffffffp1023)) result = fmod(x, y);
    return result;
}
