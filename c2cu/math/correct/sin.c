/* sin, rounded correctly. Rare: from 1e8, what is not finite, and results near the middle between two doubles. */
#include "rounding.h"
#include "sin_sum.h"

double c2cu_sin(double x) {
    double shifted = c2cu_sin_shifted(x);
    unsigned long n = c2cu_as_bits(shifted);
    double turns = shifted - 0x1.8p52;
    double high, low;
    c2cu_sin_sum(c2cu_sin_reduced(x, turns), c2cu_sin_rest(x, turns), n & 1, &high, &low);
    double error = __builtin_fma(high, 0x1p-66, turns == 0.0 ? 0.0 : 0x1p-107);
    unsigned long sign = (n & 2) << 62;
    double result = c2cu_from_bits(c2cu_as_bits(high + low) ^ sign);
    result = x == 0.0 ? x : result; /* -0.0 stays */
    if (!(__builtin_fabs(x) < 1e8 && c2cu_is_sure(high, low, error))) result = sin(x);
    return result;
}
