/* tgamma: glibc's, which has no FMA variant but of the functions that it calls: within 5 units in the last place. From
   6.5 Stirling's formula, in parts as sums of two doubles; below exp(lgamma) between 0.5 and 1.5, times what is
   between. Rare: what is negative, zero, subnormal or not finite, and from 171.5. */
#include "tgamma_core.h"

double c2cu_tgamma(double x) {
    double power;
    double result = c2cu_tgamma_core(x, &power);
    result = c2cu_from_bits(c2cu_as_bits(result) + (c2cu_as_bits(power + 0x1.8p52) << 52));
    if (!(x >= 0x1p-1022 && x < 171.5)) result = tgamma(x);
    return result;
}
