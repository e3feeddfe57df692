/* fmodf: exact, in double; see fmod.c. Rare: quotients from 2^53, and what is not finite. */
#include "bits.h"

float c2cu_fmodf(float x, float y) {
    double a = fabs((double) x), b = fabs((double) y);
    double quotient = a / b;
    double rest = __builtin_fma(-trunc(quotient), b, a);
    rest = rest < 0.0 ? rest + b : rest;
    float result = c2cu_from_bits_f(c2cu_as_bits_f((float) rest) | (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(quotient < 0x1p53 && b <= 0x1.fffffep127)) result = fmodf(x, y);
    return result;
}
