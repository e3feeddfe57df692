/* lgamma: fdlibm's, and glibc's, which has no FMA variant but of log. Below 2 log(gamma(x)) by one of three
   approximations, beside the minimum at 1.46, beside 2, and rational beside 1, of gamma(1 + x) less log(x) below 0.9;
   from 2 to 8 rational from 2 to 3, and the logarithm of the product of what is between; from 8 Stirling's series.
   Rare: what is negative, zero, subnormal or not finite. */
#include "lgamma_core.h"

double c2cu_lgamma(double x) {
    double result = c2cu_lgamma_core(x);
    if (!(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023)) result = lgamma(x);
    return result;
}
