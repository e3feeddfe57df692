/* log2f: in double: x = 2^k z; r = z/c - 1 with a c near z from a table; log2(x) = k + log2(c) + log2(1 + r), the last
   by a polynomial of degree 4. The algorithm of Arm's optimized routines, and of glibc since 2.27, with the fused
   operations of its FMA variant: within 0.76 units in the last place. Rare: what is not positive, finite and normal. */
#include "log2f_core.h"

float c2cu_log2f(float x) {
    float result = c2cu_log2f_scaled(x, 0);
    if (!(x >= 0x1p-126f && x <= 0x1.fffffep127f)) result = log2f(x);
    return result;
}
