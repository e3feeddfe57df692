/* remainder: exact. What is left of x after the nearest multiple of y, the even one of two: by fmod.c's way first what
   is left after the one towards zero. Rare: quotients from 2^52, and what is not finite. */
#include "bits.h"

double c2cu_remainder(double x, double y) {
    double a = fabs(x), b = fabs(y);
    double quotient = a / b;
    double n = trunc(quotient);
    double rest = __builtin_fma(-n, b, a);
    n = rest < 0.0 ? n - 1.0 : n;
    rest = rest < 0.0 ? rest + b : rest;
    double other = b - rest;
    unsigned long odd = c2cu_as_bits(n + 0x1p52) & 1;
    double size = rest > other || (rest == other && odd != 0) ? rest - b : rest;
    double result = c2cu_from_bits(c2cu_as_bits(size) ^ (c2cu_as_bits(x) & 0x8000000000000000UL));
    if (!(quotient < 0x1p52 && b <= 0x1p1022)) result = remainder(x, y);
    return result;
}
