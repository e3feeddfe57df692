/* atanh: fdlibm's, and glibc's, which has no FMA variant but of log1p: log1p(2|x| / (1 - |x|)) / 2, below 0.5 as
   log1p(2|x| + 2x^2 / (1 - |x|)) / 2: within two units in the last place. Rare: what is not within -1 and 1. */
#include "log1p_core.h"

double c2cu_atanh(double x) {
    double size = fabs(x);
    double twice = size + size;
    double quotient = (size < 0.5 ? twice * size : twice) / (1.0 - size);
    double result = 0.5 * c2cu_log1p_core(size < 0.5 ? twice + quotient : quotient);
    result = size < 0x1p-28 ? size : result;
    result = c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    if (!(size < 1.0)) result = atanh(x);
    return result;
}
