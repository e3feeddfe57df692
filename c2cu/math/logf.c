/* logf: in double: x = 2^k z; r = z/c - 1 with a c near z from a table; log(x) = k ln2 + log(c) + log(1 + r), the last
   by a polynomial of degree 4. The algorithm of Arm's optimized routines, and of glibc since 2.27, with the fused
   operations of its FMA variant: within 0.82 units in the last place. Rare: what is not positive, finite and normal. */
#include "logf_core.h"

float c2cu_logf(float x) {
    float result = c2cu_logf_core(x);
    if (!(x >= 0x1p-126f && x <= 0x1.fffffep127f)) result = logf(x);
    return result;
}
