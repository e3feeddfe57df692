/* remainder: exact, see remainder_core.h. Rare: quotients from 2^52, and what is not finite. */
#include "remainder_core.h"

double c2cu_remainder(double x, double y) {
    double a = fabs(x), b = fabs(y);
    double size = c2cu_remainder_core(a, b);
    double result = c2cu_from_bits(c2cu_as_bits(size) ^ (c2cu_as_bits(x) & 0x8000000000000000UL));
    if (!(a / b < 0x1p52 && b <= 0x1p1022)) result = remainder(x, y);
    return result;
}
