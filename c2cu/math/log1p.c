/* log1p: fdlibm's algorithm, with the order of operations and the fused ones of glibc's FMA variant: 1 + x = 2^k (1 +
   f) and the rounding error of the sum; a polynomial of f / (2 + f); f near 0 a shorter one: within one unit in the
   last place. Rare: up to -1, from 2^53, and what is no number. */
#include "log1p_core.h"

double c2cu_log1p(double x) {
    double result = c2cu_log1p_core(x);
    if (!(x > -1.0 && x < 0x1p53)) result = log1p(x);
    return result;
}
