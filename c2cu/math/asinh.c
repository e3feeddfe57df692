/* asinh: fdlibm's, and glibc's, which has no FMA variant but of log and log1p: to 2 log1p(|x| + x^2 / (1 + sqrt(1 +
   x^2))), beyond log(2|x| + 1 / (|x| + sqrt(x^2 + 1))): within two units in the last place. Rare: from 2^28, and what
   is no number. */
#include "log1p_core.h"
#include "log_core.h"

double c2cu_asinh(double x) {
    double size = fabs(x);
    double square = size * size;
    double root = sqrt(1.0 + square);
    _Bool large = size >= 0x1.00001p1;
    double quotient = (large ? 1.0 : square) / (large ? root + size : 1.0 + root);
    double result = c2cu_log1p_core(size + quotient);
    result = large ? c2cu_log_core(2.0 * size + quotient) : result;
    result = size < 0x1p-28 ? size : result;
    result = c2cu_from_bits(c2cu_as_bits(result) | (c2cu_as_bits(x) & 0x8000000000000000UL));
    if (!(size < 0x1p28)) result = asinh(x);
    return result;
}
