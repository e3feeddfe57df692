/* erfc: see erf_core.h; within four units in the last place. Rare: from 22.5, and what is no number. */
#include "erf_core.h"

double c2cu_erfc(double x) {
    double size = fabs(x);
    double ratio = c2cu_erf_ratio(size, 0x1.6db6dp1);
    double tail = c2cu_erf_tail(size, ratio);
    double result = x < 0.0 ? 2.0 - tail : tail;
    double middle = x < 0.0 ? 1.0 + (0x1.b0ac16p-1 + ratio) : (1.0 - 0x1.b0ac16p-1) - ratio;
    result = size < 1.25 ? middle : result;
    double product = x * ratio;
    double near = x < 0.25 ? 1.0 - (x + product) : 0.5 - (product + (x - 0.5));
    result = size < 0.84375 ? near : result;
    result = x <= -6.0 ? 2.0 : result;
    if (!(x < 22.5)) result = erfc(x);
    return result;
}
