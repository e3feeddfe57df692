/* log2: x = 2^k z; r = z/c - 1 with a c near z from a table; log2(x) = k + log2(c) + log2(1 + r), the last by a
   polynomial of degree 7. Beside 1, where that would cancel, log2(1 + r) with r = x - 1 by one of degree 11, where a
   lane is there. The algorithm of Arm's optimized routines, and of glibc since 2.28, with the fused
   operations of its FMA variant: within 0.55 units in the last place. Rare: what is not positive, finite and normal. */
#include "log2_core.h"

double c2cu_log2(double x) {
    double result = c2cu_log2_scaled(x, 0x1.00000000004p52);
    if (!(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023)) result = log2(x);
    return result;
}
