/* atan, rounded correctly. Rare: NaNs, and results near the middle between two doubles. */
#include "atan_sum.h"
#include "rounding.h"

double c2cu_atan(double x) {
    double high, low;
    c2cu_atan_sum(x, &high, &low);
    double result = high + low;
    if (!c2cu_is_sure(high, low, high * 0x1p-66)) result = atan(x);
    return result;
}
