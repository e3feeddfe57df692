/* The parts of pow: see pow.c. */
#ifndef C2CU_POW_CORE_H
#define C2CU_POW_CORE_H
#include "exp_core.h"
#include "pow_log.h"

/* exp(high + low) / 2^k - 1, and the bits of 2^k. */
static double c2cu_pow_exp(double high, double low, unsigned long *scale) {
    unsigned long k;
    double r = c2cu_exp_reduced(high, &k) + low;
    return c2cu_exp_rest(r, k, scale);
}

/* The logarithm of |x|, and its rest. */
static double c2cu_pow_log_of(double x, double *log_low) { return c2cu_pow_log(fabs(x), 0x1.00000000004p52, log_low); }

/* x to the power of y, with the logarithm of |x|. */
static double c2cu_pow_of_logs(double x, double y, double log_high, double log_low) {
    double size = fabs(x), y_size = fabs(y);
    double y_shifted = y_size + 0x1p52;
    _Bool integral = y_size < 0x1p51 && y_shifted - 0x1p52 == y_size;
    unsigned long sign = c2cu_as_bits(x) & c2cu_as_bits(y_shifted) << 63;

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
#endif
