/* remainderf: exact, in double, see remainder_core.h. Rare: quotients from 2^52, and what is not finite. */
#include "remainder_core.h"

float c2cu_remainderf(float x, float y) {
    double a = fabs((double) x), b = fabs((double) y);
    double size = c2cu_remainder_core(a, b);
    float result = c2cu_from_bits_f(c2cu_as_bits_f((float) size) ^ (c2cu_as_bits_f(x) & 0x80000000U));
    if (!(a / b < 0x1p52 && b <= 0x1.fffffep127)) result = remainderf(x, y);
    return result;
}
