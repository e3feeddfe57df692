/* tanh: fdlibm's, and glibc's, which has no FMA variant but of expm1: 1 - 2 / (expm1(2|x|) + 2), below 1 by
   expm1(-2|x|): within two units in the last place. Rare: what is no number. */
#include "expm1_core.h"

double c2cu_tanh(double x) {
    double size = fabs(x);
    double t = c2cu_expm1_core(size >= 1.0 ? 2.0 * size : -2.0 * size);
    double quotient = (size >= 1.0 ? 2.0 : -t) / (t + 2.0);
    double result = size >= 1.0 ? 1.0 - quotient : quotient;
    result = size >= 22.0 ? 1.0 : result;
    result = c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    if (!(size >= 0.0)) result = tanh(x);
    return result;
}
