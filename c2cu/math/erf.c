/* erf: see erf_core.h; within one unit in the last place. Rare: what is not zero and below 2^-1015, and no number. */
#include "erf_core.h"

double c2cu_erf(double x) {
    double size = fabs(x);
    double ratio = c2cu_erf_ratio(size, 0x1.6db6ep1);
    double result = 1.0 - c2cu_erf_tail(size, ratio);
    result = size < 1.25 ? 0x1.b0ac16p-1 + ratio : result;
    result = size < 0.84375 ? size + size * ratio : result;
    result = size < 0x1p-28 ? size + 0x1.06eba8214db69p-3 * size : result;
    result = size >= 6.0 ? 1.0 : result;
    result = c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    if (!(size >= 0x1p-1015 || size == 0.0)) result = erf(x);
    return result;
}
