/* pow, rounded correctly: exp of y times log|x|, both as sums of two doubles. Negative x with an integral y takes the
   common path. Rare: x that is zero, subnormal or not finite, negative x with another y or one from 2^51, results that
   overflow, are below e^-640, or near the middle between two doubles. */
#include "../pow_log.h"
#include "exp_sum.h"
#include "rounding.h"

double c2cu_pow(double x, double y) {
    double size = __builtin_fabs(x), y_size = __builtin_fabs(y);
    double y_shifted = y_size + 0x1p52;
    _Bool integral = y_size < 0x1p51 && y_shifted - 0x1p52 == y_size;
    unsigned long sign = c2cu_as_bits(x) & c2cu_as_bits(y_shifted) << 63;
    double log_low, high, low;
    double log_high = c2cu_pow_log(size, 0x1.00000000004p52, &log_low);
    double product = y * log_high;
    double product_rest = __builtin_fma(y, log_low, __builtin_fma(y, log_high, -product));
    c2cu_exp_sum(product, product_rest, &high, &low);
    double error = high * __builtin_fma(__builtin_fabs(product), 0x1p-66, 0x1p-66);
    double result = c2cu_from_bits(c2cu_as_bits(high + low) ^ sign);
    _Bool usual = size >= 0x1p-1022 && size <= 0x1.fffffffffffffp1023 && product > -640.0 && product < 709.0;
    if (!(usual && c2cu_is_sure(high, low, error)) || (x < 0.0 && !integral)) result = pow(x, y);
    return result;
}
