/* log, rounded correctly. Rare: what is zero, negative, subnormal or not finite, and results near the middle between
   two doubles. */
#include "log_sum.h"
#include "rounding.h"

double c2cu_log(double x) {
    double high, low;
    c2cu_log_sum(x, &high, &low);
    double result = high + low;
    double error = high * 0x1p-66;
    if (!(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023 && c2cu_is_sure(high, low, error))) result = log(x);
    return result;
}
