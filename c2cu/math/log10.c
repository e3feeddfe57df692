/* log10: fdlibm's, and glibc's, which has no FMA variant but of log: the exponent times log10(2) in two parts, and log
   of the rest over log(10): within two units in the last place. Rare: what is not positive, finite and normal. */
#include "log_core.h"

double c2cu_log10(double x) {
    unsigned long bits = c2cu_as_bits(x);
    unsigned long below = x < 1.0 ? 1 : 0;
    double k = c2cu_from_bits(((bits >> 52) + below) | 0x4330000000000000UL) - 0x1.00000000003ffp52;
    double rest = c2cu_from_bits((bits & 0xfffffffffffffUL) | (0x3ffUL - below) << 52);
    double result = k * 0x1.9fef311f12b36p-42 + 0x1.bcb7b1526e50ep-2 * c2cu_log_core(rest);
    result = result + k * 0x1.34413509f6p-2;
    if (!(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023)) result = log10(x);
    return result;
}
