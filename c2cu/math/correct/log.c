/* log, rounded correctly. Rare: what is zero, negative, subnormal or not finite, and results near the middle between
   two doubles. */
#include "../pow_log.h"
#include "rounding.h"

double c2cu_log(double x) {
    double low;
    double high = c2cu_pow_log(x, 0x1.00000000004p52, &low);
    double result = high + low;
    double error = high * 0x1p-66;
    if (!(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023 && c2cu_is_sure(high, low, error))) result = log(x);
    return result;
}
