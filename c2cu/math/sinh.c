/* sinh: fdlibm's, and glibc's, which has no FMA variant but of expm1: t = expm1(|x|); (t + t / (t + 1)) / 2, below 1
   (2t - t^2 / (t + 1)) / 2: within two units in the last place. Rare: from 22, and what is no number. */
#include "expm1_core.h"

double c2cu_sinh(double x) {
    double size = fabs(x);
    double t = c2cu_expm1_core(size);
    double quotient = (size < 1.0 ? t * t : t) / (t + 1.0);
    double result = 0.5 * (size < 1.0 ? 2.0 * t - quotient : t + quotient);
    result = size < 0x1p-28 ? size : result;
    result = c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    if (!(size < 22.0)) result = sinh(x);
    return result;
}
