/* log: x = 2^k z; r = z/c - 1 with a c near z from a table; log(x) = k ln2 + log(c) + log(1 + r), the last by a
   polynomial of degree 6. Beside 1, where that would cancel, log(1 + r) with r = x - 1 by one of degree 12, where a
   lane is there. The algorithm of Arm's optimized routines, and of glibc since 2.28, with the fused
   operations of its FMA variant: within 0.52 units in the last place. Rare: what is not positive, finite and normal. */
#include "log_core.h"

double c2cu_log(double x) {
    double result = c2cu_log_core(x);
    if (!(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023)) result = log(x);
    return result;
}
