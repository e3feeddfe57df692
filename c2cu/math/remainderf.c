/* remainderf: exact, in double; see remainder.c. Rare: quotients from 2^52, and what is not finite. */
#include "bits.h"

float c2cu_remainderf(float x, float y) {
    double a = fabs((double) x), b = fabs((double) y);
    double quotient = a / b;
    double n = trunc(quotient);
    double rest = __builtin_fma(-n, b, a);
    n = rest < 0.0 ? n - 1.0 : n;
    rest = rest < 0.0 ? rest + b : rest;
    double other = b - rest;
    unsigned long odd = c2cu_as_bits(n + 0x1p52) & 1;
    double size = rest > other || (rest == other && odd != 0) ? rest - b : rest;
    float result = c2cu_from_bits_f(c2cu_as_bits_f((float) size) ^ (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(quotient < 0x1p52 && b <= 0x1.fffffep127)) result = remainderf(x, y);
    return result;
}
