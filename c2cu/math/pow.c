/* pow: log|x| = k ln2 + log(c) + log(1 + r) as a sum of two doubles, with r = z/c - 1 exact; times y, and exp of
   that as in exp.c. The algorithm of Arm's optimized routines, and of glibc since 2.28, with the fused operations of
   its FMA variant: within 0.54 units in the last place. Negative x with an integral y takes the common path. Rare: x
   that is zero, subnormal or not finite, negative x with another y or one from 2^51, results that overflow or are
   below e^-512. */
#include "pow_core.h"

double c2cu_pow(double x, double y) {
    double size = fabs(x), y_size = fabs(y);
    double y_shifted = y_size + 0x1p52;
    _Bool integral = y_size < 0x1p51 && y_shifted - 0x1p52 == y_size;
    unsigned long sign = c2cu_as_bits(x) & c2cu_as_bits(y_shifted) << 63;

    double log_low;
    double log_high = c2cu_pow_log(size, 0x1.00000000004p52, &log_low);
    double high = y * log_high;
    double low = __builtin_fma(y, log_low, __builtin_fma(y, log_high, -high));
    unsigned long bits;
    double rest = c2cu_pow_exp(high, low, &bits);
    double scale = c2cu_from_bits(bits | sign);
    double result = __builtin_fma(rest, scale, scale);
    _Bool rare = !(size >= 0x1p-1022 && size <= 0x1.fffffffffffffp1023 && high > -512.0 && high < 709.0);
    if (rare || (x < 0.0 && !integral)) result = pow(x, y);
    return result;
}
